"""A counterexample is never lost to its explanation, whichever function of `kmc.story` or `kmc.views` fails.

A mistake is planted in each function in turn. Exit status, counts, verdict, saved trace and report are the same then.
"""

from __future__ import annotations

import errno
import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.faults.planted import failing, failing_halfway, forget_what_is_cached, functions_of, watched
from support.specs.small import IMPORTS

import kmc as api
from kmc.checking import check as checking
from kmc.checking.model_choice import choose_model
from kmc.checking.request import CheckRequest
from kmc.cli.saved.saved_runs import PAGE_NAME, RunFolder, cannot_write
from kmc.story import counterexample as story_of_module
from kmc.unexplained import ERRORS_VARIABLE, Unexplained, try_explaining
from kmc.views.formats import FORMATS

PACKAGES = ("kmc.story", "kmc.views")
PLAIN = re.compile(r"The trace is shown plain: its explanation failed with PlantedMistake: planted \(a mistake in kmc")
TIMES = ("seconds", "cpu_seconds", "compile_seconds", "peak_memory_bytes")
EXPLAINING = ("why", "trace", "notes")

VOTES = """
from kmc.spec import NEXT, eventually, weak_fairness

Flips = constant("Flips", Bool, "Whether something may go on for ever", False)
Server = constant("Server", IdentSet(), "Who votes")


class Role(Enum):
    FOLLOWER, LEADER = range(2)


class Vote(Message):
    epoch: Int(0, 3)
    source: Server
    dest: Server


class Entry(Record):
    epoch: Int(0, 3)
    by: Opt[Server]


class Node(Record):
    role: Role
    votes: Set[Server]
    log: Seq[Entry, 3]


class State(Record):
    nodes: Map[Server, Node]
    epoch: Int(0, 3)
    up: Bool
    messages: MessageSet[Vote]


@spec.init
def init():
    node = Node(role=Role.FOLLOWER, votes=set(), log=[])
    yield State(nodes={s: node for s in Server}, epoch=0, up=True, messages=set())



@spec.majority
def enough(votes, members):
    return votes <= members and len(votes) * 2 > len(members)


@spec.action
def ask(st, s: Server, t: Server):
    \"\"\"s asks t.\"\"\"
    require(s != t and st.epoch < 2)
    yield st.set(epoch=st.epoch + 1, messages=st.messages.send(Vote(epoch=st.epoch, source=s, dest=t)))


@spec.receive(Vote, s="dest")
def hear(st, m, s):
    me = st.nodes[s]
    log = me.log.append(Entry(epoch=m.epoch, by=m.source)) if len(me.log) < 3 else me.log
    nodes = st.nodes.set(s, me.set(votes=me.votes | {m.source, s}, log=log))
    yield st.set(nodes=nodes, messages=st.messages.discard(m))


@spec.action
def flip(st):
    require(Flips)
    yield st.set(up=not st.up)


@spec.action
def lead(st, s: Server):
    if not enough(st.nodes[s].votes, {t for t in Server}):
        return
    assert st.epoch < 2 or not Strict
    yield st.set(nodes=st.nodes.set(s, st.nodes[s].set(role=Role.LEADER)))


Strict = constant("Strict", Bool, "Whether leading is asserted early", False)


@spec.invariant
def NoLeader(st):
    \"\"\"No server leads.\"\"\"
    return not any(st.nodes[s].role == Role.LEADER and len(st.nodes[s].log) > 0 for s in Server)


@spec.invariant
def Known(st):
    return all(st.nodes[s].log.at(1).epoch >= 0 for s in Server)


@spec.action_property
def EpochStays(st, nxt):
    return nxt.epoch <= st.epoch or nxt.epoch == 1


@spec.liveness
def Leads():
    return eventually(lambda st: any(st.nodes[s].role == Role.LEADER for s in Server))


@spec.specification
def Fair():
    return weak_fairness(NEXT)
"""

_CONSTANTS = "CONSTANTS Server = {s1, s2, s3}\n"
MODELS = {
    "invariant": (12, _CONSTANTS + "INVARIANT NoLeader\nCHECK_DEADLOCK FALSE\n"),
    "step": (13, _CONSTANTS + "PROPERTY EpochStays\nCHECK_DEADLOCK FALSE\n"),
    "lasso": (13, _CONSTANTS + "CONSTANT Flips = TRUE\nSPECIFICATION Fair\nPROPERTY Leads\nCHECK_DEADLOCK FALSE\n"),
    "deadlock": (11, "CONSTANTS Server = {s1}\n"),
    "assertion": (14, _CONSTANTS + "CONSTANT Strict = TRUE\nCHECK_DEADLOCK FALSE\n"),
    "error": (76, _CONSTANTS + "INVARIANT Known\nCHECK_DEADLOCK FALSE\n"),
}
VIEWS = ("steps", "changes", "states", "table", "chart")


@dataclass(frozen=True)
class Scenario:
    """A check that ends with a violation, shown in a view."""

    model: str
    view: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command line."""
        return ("check", "spec.py", f"{self.model}.cfg", "--engine", "python", "--trace", self.view, "--junit", "r.xml")


SCENARIOS = (*(Scenario(model, "steps") for model in MODELS), *(Scenario("invariant", view) for view in VIEWS[1:]))


@dataclass(frozen=True)
class Known:
    """What a check must say and save, whatever becomes of its explanation."""

    status: int
    result: dict[str, Any]
    files: dict[str, str]
    cases: list[tuple[str | None, str | None]]
    verdict: str


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.py").write_text(IMPORTS + VOTES)
    for name, (_, text) in MODELS.items():
        (tmp_path / f"{name}.cfg").write_text(text)


@pytest.fixture
def mistakes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An explanation that fails costs nothing else, as for a user; elsewhere in these tests it fails the test."""
    monkeypatch.delenv(ERRORS_VARIABLE)


@pytest.fixture
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each model is loaded and searched once; what comes after the search is done anew."""
    monkeypatch.setattr("kmc.cli.commands.check.choose_model", cache(choose_model))
    results: dict[str, Any] = {}
    search = checking._searched

    def searched(request: CheckRequest, *given: Any) -> Any:
        name = request.model.name
        return results.get(name) or results.setdefault(name, search(request, *given))

    monkeypatch.setattr(checking, "_searched", searched)


def checked(scenario: Scenario) -> tuple[Known, str, dict[str, Any]]:
    """What a check says and saves: what is known, its whole output, and the saved result."""
    ran = kmc(*scenario.words)
    (folder,) = Path(".kmc/runs").iterdir()
    found = json.loads((folder / "result.json").read_text())
    files = {name: (folder / name).read_text() for name in ("trace.itf.json", "trace.tlc.json", "model.cfg")}
    suite = ElementTree.parse("r.xml").getroot()
    cases = [(case.get("name"), next((part.tag for part in case), None)) for case in suite.iter("testcase")]
    known = {key: value for key, value in found.items() if key not in (*TIMES, *EXPLAINING, "warnings", "trace_file")}
    explained_files = {path.name for path in folder.iterdir()} - {*files, "result.json"}
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    output = ran.output + "".join(suite.itertext())
    verdict = ran.stdout.rstrip().rpartition("\n")[2]
    return Known(ran.exit_code, known, files, cases, verdict), output, {**found, "files": explained_files}


def is_plain(output: str, found: dict[str, Any]) -> bool:
    """Whether the terminal and the report say once each that the trace is plain, and show it in TLC's style."""
    said = [line for line in output.splitlines() if PLAIN.search(line)]
    warned = [text for text in found["warnings"] if PLAIN.search(text)]
    is_shown = len(re.findall(r"^State 1: <Initial predicate>$", output, re.MULTILINE)) == 2
    nothing = [found[key] for key in EXPLAINING] == [None] * len(EXPLAINING)
    return len(said) == 2 and len(warned) == 1 and is_shown and nothing and found["files"] == {"explanation_error.txt"}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: f"{scenario.model} {scenario.view}")
def test_without_a_mistake_each_of_these_is_explained(scenario: Scenario) -> None:
    known, output, found = checked(scenario)
    assert known.status == MODELS[scenario.model][0]
    assert (found["why"] is not None, found["warnings"], found["files"]) == (True, [], {"trace.html"})
    assert "shown plain" not in output


@cache
def all_functions() -> dict[str, FunctionType]:
    """The functions of what explains."""
    return {name: function for package in PACKAGES for name, function in functions_of(package).items()}


def reached_by(scenario: Scenario) -> set[str]:
    """The functions of what explains that a check calls."""
    for package in PACKAGES:
        forget_what_is_cached(package)
    with watched(all_functions()) as reached:
        checked(scenario)
    return reached


def failing_ways(name: str) -> Iterator[list[str]]:
    """Plant a mistake in a function, once for each way in which it can fail, with nothing in caches."""
    function = all_functions()[name]
    is_generator = bool(function.__code__.co_flags & inspect.CO_GENERATOR)
    for planted in (failing(function), *([failing_halfway(function)] if is_generator else [])):
        for package in PACKAGES:
            forget_what_is_cached(package)
        with planted as calls:
            yield calls
        assert calls, f"{name} was called without a mistake"


@contextmanager
def everything_fails() -> Iterator[None]:
    """Meanwhile each function that explains fails, so nothing can depend on one; a table of formats explains none."""
    with ExitStack() as stack:
        for name, function in all_functions().items():
            if not name.startswith("kmc.views.formats:"):
                stack.enter_context(failing(function))
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("mistakes_are_told", "searched_once")
def test_a_mistake_in_any_function_that_explains_costs_the_explanation_only() -> None:
    expected = {scenario: checked(scenario)[0] for scenario in SCENARIOS}
    reaching: dict[str, Scenario] = {}
    for scenario in SCENARIOS:
        for name in reached_by(scenario):
            reaching.setdefault(name, scenario)
    for name, scenario in sorted(reaching.items()):
        for _ in failing_ways(name):
            known, output, found = checked(scenario)
            assert known == expected[scenario], name
            assert is_plain(output, found), name
    by_module = Counter(name.partition(":")[0] for name in reaching)
    assert len(reaching) >= 250
    assert by_module.keys() >= {f"kmc.story.{name}" for name in ("tell", "slice", "parts.network", "explain.facts")}
    assert by_module.keys() >= {f"kmc.views.{name}" for name in ("page.page", "page.data", "text_table", "text_chart")}


def api_result(found: api.CheckResult) -> tuple[Any, ...]:
    """What is known of a result of the API."""
    assert found.trace is not None
    values = {key: value for key, value in found.to_dict().items() if key not in (*TIMES, *EXPLAINING, "warnings")}
    return found.ok, found.verdict, found.exit_status, found.violated, found.distinct, found.trace.labels, values


@pytest.mark.slow
@pytest.mark.usefixtures("mistakes_are_told")
def test_a_mistake_in_any_function_that_explains_costs_a_result_of_the_api_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = api.load("spec.py", "invariant.cfg")
    result = api.check(spec, engine="python").details
    monkeypatch.setattr(checking, "_searched", lambda *given: result)

    def check() -> tuple[tuple[Any, ...], api.CheckResult]:
        found = api.check(spec, engine="python")
        return api_result(found), found

    with watched(all_functions()) as reached:
        expected, whole = check()
        assert whole._repr_html_().startswith("<iframe")
    for name in sorted(reached):
        for _ in failing_ways(name):
            known, found = check()
            assert known == expected, name
            assert (found.story, len(PLAIN.findall(str(found)))) == (None, 1), name
            assert [bool(PLAIN.search(text)) for text in found.warnings] == [True], name
            assert "State 1: &lt;Initial predicate&gt;" in found._repr_html_(), name
            with pytest.raises(AssertionError, match="The trace is shown plain"):
                found.assert_ok()
    assert len(reached) >= 150


@pytest.mark.usefixtures("mistakes_are_told")
@pytest.mark.parametrize("how", [("--engine", "python"), ("--threads", "2"), ("--shards", "2")], ids=lambda how: how[0])
def test_on_every_engine_a_violation_stands_when_nothing_can_be_explained(how: tuple[str, ...]) -> None:
    words = ("check", COUNTER, "two", *how, "--json")
    expected = json.loads(kmc(*words).stdout)
    with everything_fails():
        ran = kmc(*words)
    found = json.loads(ran.stdout)
    assert (ran.exit_code, found["exit_status"]) == (12, 12)
    varying = (*TIMES, *EXPLAINING, "warnings", "trace_file", "shards")
    assert {k: v for k, v in found.items() if k not in varying} == {
        k: v for k, v in expected.items() if k not in varying
    }
    assert [bool(PLAIN.search(text)) for text in found["warnings"]] == [True]
    assert Path(found["trace_file"]).exists()


@pytest.mark.usefixtures("mistakes_are_told")
def test_a_simulation_has_its_violation_when_nothing_can_be_explained() -> None:
    words = ("simulate", "spec.py", "invariant.cfg", "--seed", "3", "--number", "1000")
    expected = json.loads(kmc(*words, "--json").stdout)
    with everything_fails():
        found, shown = json.loads(kmc(*words, "--json").stdout), kmc(*words)
    varying = ("seconds", "trace_file", "warnings", *EXPLAINING)
    assert {k: v for k, v in found.items() if k not in varying} == {
        k: v for k, v in expected.items() if k not in varying
    }
    assert (shown.exit_code, len(PLAIN.findall(shown.stdout)), len(found["warnings"])) == (12, 1, 1)
    assert "State 1: <Initial predicate>" in shown.stdout
    assert "Open in a browser" not in shown.stdout


def test_a_simulation_shows_its_violation_when_its_page_cannot_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    write = RunFolder.write

    def full(folder: RunFolder, name: str, text: str) -> Path:
        if name == PAGE_NAME:
            raise cannot_write(folder.path / name, OSError(errno.ENOSPC, "no space left on device"))
        return write(folder, name, text)

    monkeypatch.setattr(RunFolder, "write", full)
    words = ("simulate", "spec.py", "invariant.cfg", "--seed", "3", "--number", "1000")
    shown, found = kmc(*words), kmc(*words, "--json")
    assert "State" in shown.stdout
    assert "error[KMC502]" in shown.stderr
    assert json.loads(found.stdout)["result"] == "violation"
    assert shown.exit_code == found.exit_code == 153


@pytest.mark.usefixtures("mistakes_are_told")
def test_the_result_and_the_trace_are_saved_before_anything_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def look(*given: Any) -> Any:
        (folder,) = Path(".kmc/runs").iterdir()
        seen.update({path.name: path.read_text() for path in folder.iterdir() if path.is_file()})
        raise KeyboardInterrupt

    monkeypatch.setattr(story_of_module, "story_of", look)
    ran = kmc(*SCENARIOS[0].words)
    assert {"model.cfg", "trace.itf.json", "trace.tlc.json", "result.json"} <= seen.keys()
    assert (json.loads(seen["result.json"])["result"], json.loads(seen["result.json"])["exit_status"]) == (
        "violation",
        12,
    )
    assert ran.exit_code == 130, "Ctrl-C is not a mistake of an explanation"


@pytest.mark.usefixtures("mistakes_are_told")
@pytest.mark.parametrize("kind", [RecursionError, MemoryError, AssertionError, KeyError, StopIteration])
def test_whatever_error_it_is_the_violation_stands(kind: type[Exception]) -> None:
    with failing(all_functions()["kmc.story.tell:tell"], kind):
        ran = kmc(*SCENARIOS[0].words)
    assert (ran.exit_code, f"explanation failed with {kind.__name__}" in ran.stdout) == (12, True)
    assert ran.stdout.rstrip().rpartition("\n")[2].startswith("VIOLATION")
    assert "Traceback" not in ran.output


@pytest.mark.usefixtures("mistakes_are_told")
def test_the_file_that_the_line_names_has_the_traceback_and_debug_shows_it() -> None:
    with failing(all_functions()["kmc.story.tell:tell"]):
        ran = kmc(*SCENARIOS[0].words, "--debug")
    named = re.search(r"Please report it with (\S+)", ran.stdout)
    assert named is not None
    text = Path(named[1]).read_text()
    assert "Traceback (most recent call last)" in text
    assert text.strip() in ran.stderr
    with failing(all_functions()["kmc.story.tell:tell"]):
        unsaved = kmc(*SCENARIOS[0].words, "--no-run-dir")
    assert "Please report it with what this shows: kmc check spec.py invariant.cfg --engine python" in unsaved.stdout


@pytest.mark.usefixtures("mistakes_are_told")
@pytest.mark.parametrize("command", ["check", "simulate"])
def test_the_command_of_a_report_names_debug_once(command: str) -> None:
    with failing(all_functions()["kmc.story.tell:tell"]):
        ran = kmc(command, "spec.py", "invariant.cfg", "--no-run-dir", "--debug")
    (line,) = [line for line in ran.stdout.splitlines() if "what this shows" in line]
    assert line.count("--debug") == 1


def test_in_tests_of_kmc_an_explanation_that_fails_is_a_failure() -> None:
    with failing(all_functions()["kmc.story.tell:tell"]):
        ran = kmc(*SCENARIOS[0].words)
    assert (ran.exit_code, "internal error: PlantedMistake: planted" in ran.stderr) == (255, True)


@pytest.mark.usefixtures("mistakes_are_told")
def test_an_iterator_does_not_leave_the_boundary() -> None:
    assert isinstance(try_explaining(lambda: iter(())), Unexplained)
    assert try_explaining(lambda: ()) == ()


DRAWN = [name for name, row in FORMATS.items() if not row.of_file]
ASKED = (*(("--format", name) for name in DRAWN), *(("--trace", view) for view in VIEWS), ("--step", "2"))


@pytest.mark.slow
@pytest.mark.usefixtures("mistakes_are_told")
@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked[1])
def test_a_view_that_cannot_be_drawn_is_one_clear_error(asked: tuple[str, str]) -> None:
    (folder,) = (kmc(*SCENARIOS[0].words), *Path(".kmc/runs").iterdir())[1:]
    words = ("trace", str(folder), *asked)
    with watched(all_functions()) as reached:
        assert kmc(*words).exit_code == 0
    own = sorted(name for name in reached if name.startswith("kmc.views"))
    assert len(own) >= 2
    for name in (*own, "kmc.story.tell:tell", "kmc.story.counterexample:story_of"):
        for _ in failing_ways(name):
            ran = kmc(*words)
            assert (ran.exit_code, ran.stdout) == (255, ""), name
            assert ran.stderr.startswith("error[KMC936]: "), name
            assert "cannot be made of this trace: PlantedMistake: planted" in ran.stderr
            assert "help: --trace tlc shows it plain, and --format itf writes it" in ran.stderr
            assert f"kmc {' '.join(words)} --debug" in ran.stderr
    with everything_fails():
        advised = [kmc("trace", str(folder), *option).exit_code for option in (("--trace", "tlc"), ("--format", "itf"))]
    assert advised == [0, 0]


@pytest.mark.usefixtures("mistakes_are_told")
def test_a_trace_is_shown_plain_where_no_view_was_asked_for() -> None:
    (folder,) = (kmc(*SCENARIOS[0].words), *Path(".kmc/runs").iterdir())[1:]
    with failing(all_functions()["kmc.story.tell:tell"]):
        ran = kmc("trace", str(folder))
    assert (ran.exit_code, len(PLAIN.findall(ran.stdout))) == (0, 1)
    assert "State 1: <Initial predicate>" in ran.stdout
    assert f"Please report it with what this shows: kmc trace {folder} --debug" in ran.stdout


@pytest.mark.usefixtures("mistakes_are_told")
def test_a_replay_gives_its_verdict_when_it_cannot_say_why() -> None:
    (folder,) = (kmc(*SCENARIOS[0].words), *Path(".kmc/runs").iterdir())[1:]
    with failing(all_functions()["kmc.story.explain.why:why"]), failing(all_functions()["kmc.story.tell:tell"]):
        ran = kmc("replay", str(folder), "--pytest", "test_it.py")
    assert (ran.exit_code, "NoLeader still fails in state" in ran.stdout) == (0, True)
    assert "kmc cannot say why it fails: the explanation failed with PlantedMistake: planted" in ran.stdout
    assert "hear" in Path("test_it.py").read_text().lower()
