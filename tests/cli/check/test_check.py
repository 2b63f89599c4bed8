"""`kmc check`: exit statuses, JSON, JUnit, saved runs, and what may never be printed."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import itf_py
import pytest
from support.commands.cli_runner import COUNTER, DATA, check_json, kmc

import kmc.checking.counterexample as counterexample_module
import kmc.cli.commands.check as check_module
from kmc.errors import InternalError

# How each model of the counter ends: exit status and `result`.
ENDINGS = {
    "smoke": (0, "ok"),
    "constrained": (0, "ok"),
    "wrong": (10, "ok"),
    "bounded_wrong": (10, "bound reached"),
    "deadlock": (11, "deadlock"),
    "initial": (12, "violation"),
    "two": (12, "violation"),
    "step": (13, "violation"),
    "assertion": (14, "assertion"),
    "bounded": (20, "bound reached"),
    "temporal": (13, "liveness"),
    "overflow": (75, "error"),
}

FACTS_KEYS = frozenset(
    {
        *("result", "generated", "distinct", "depth", "initial", "left", "generated_by_action", "levels", "invariant"),
        *("trace_length", "trace_file", "bound", "properties", "unreached_goals", "collision_bound", "seconds"),
        *("cpu_seconds", "compile_seconds", "peak_memory_bytes", "engine", "spec", "model", "digest", "kmc_version"),
    }
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("model", ENDINGS)
def test_the_exit_status_tells_how_a_check_ended(model: str) -> None:
    assert kmc("check", COUNTER, model, "--no-run-dir").exit_code == ENDINGS[model][0]


@pytest.mark.parametrize("model", ENDINGS)
def test_json_gives_the_same_exit_status(model: str) -> None:
    ran = kmc("check", COUNTER, model, "--no-run-dir", "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["exit_status"]) == (ENDINGS[model][0],) * 2


@pytest.mark.parametrize("model", ENDINGS)
def test_json_names_the_result(model: str) -> None:
    assert check_json(COUNTER, model)["result"] == ENDINGS[model][1]


@pytest.mark.parametrize("model", ["smoke", "two", "overflow"])
def test_json_has_every_promised_key(model: str) -> None:
    assert check_json(COUNTER, model).keys() >= FACTS_KEYS


def test_json_has_every_promised_key_when_there_is_no_result() -> None:
    assert check_json(COUNTER, "smok").keys() >= FACTS_KEYS


def test_json_says_why_there_is_no_result() -> None:
    found = check_json(COUNTER, "smok")
    assert (found["result"], found["error"]["code"], found["exit_status"]) == ("error", "KMC349", 151)


def test_json_counts_as_the_text_does() -> None:
    found = check_json("two_phase_commit")
    assert (found["generated"], found["distinct"], found["depth"], found["left"]) == (1146, 288, 11, 0)


def test_json_tells_the_violated_property_and_its_trace() -> None:
    found = check_json(COUNTER, "two")
    assert (found["invariant"], found["trace_length"]) == ("BelowTwo", 3)


def test_json_lists_every_property_with_its_verdict() -> None:
    verdicts = {prop["name"]: prop["verdict"] for prop in check_json(COUNTER, "two")["properties"]}
    assert verdicts == {"InRange": "holds", "BelowTwo": "violated"}


def test_json_tells_how_a_behavior_refutes_a_temporal_property() -> None:
    found = check_json(COUNTER, "temporal")
    verdicts = {prop["name"]: prop["verdict"] for prop in found["properties"]}
    assert verdicts == {"InRange": "holds", "TopAgainAndAgain": "violated"}
    told = found["counterexample"]
    assert (found["invariant"], found["trace_length"]) == ("TopAgainAndAgain", 1)
    assert (told["instance"], told["back_to"], told["stutters"], told["closed_by"]) == (None, 1, True, None)


@pytest.mark.parametrize(("words", "distinct"), [([], 2), (["--continue"], 4)])
def test_a_search_in_shards_refutes_temporal_properties_as_one_in_memory(words: list[str], distinct: int) -> None:
    ran = kmc("check", COUNTER, "temporal", "--shards", "2", "--json", *words)
    found, wanted = json.loads(ran.stdout), check_json(COUNTER, "temporal", *words)
    assert (ran.exit_code, found["exit_status"], found["distinct"]) == (13, 13, distinct)
    for name in ("properties", "counterexample", "fairness", "trace_length", "generated", "levels", "bound"):
        assert found[name] == wanted[name], name


def test_levels_add_up_to_the_distinct_states() -> None:
    found = check_json("die_hard")
    assert (sum(found["levels"]), len(found["levels"])) == (found["distinct"], found["depth"])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["bounded", "--bounded-ok"], 0),
        (["temporal", "--bounded-ok"], 13),
        (["temporal", "--engine", "python"], 13),
        (["smoke", "--max-depth", "2"], 20),
        (["smoke", "--max-depth", "2", "--bounded-ok"], 0),
        (["smoke", "--max-depth", "9"], 0),
        (["smoke", "--max-states", "2"], 20),
        (["smoke", "--memory", "1K"], 2),
        (["smoke", "--timeout", "0.000001"], 20),
        (["smoke", "--deadlock"], 11),
        (["deadlock", "--no-deadlock"], 0),
        (["smoke", "--strict"], 10),
        (["bounded", "--strict", "--bounded-ok"], 10),
        (["two", "--strict"], 12),
        (["two", "--bounded-ok"], 12),
        (["two", "--max-depth", "2"], 12),
        (["two", "--max-depth", "1"], 20),
        (["two", "--continue"], 12),
        (["smoke", "--set", "Overflow=TRUE"], 75),
        (["wrong", "--set", "Top=2"], 0),
    ],
)
def test_an_option_changes_the_exit_status(words: list[str], status: int) -> None:
    assert kmc("check", COUNTER, *words, "--no-run-dir").exit_code == status


def test_strict_is_content_when_every_action_fires_and_every_reachable_property_is_reached() -> None:
    assert kmc("check", "die_hard", "--strict", "--no-run-dir").exit_code == 0


@pytest.mark.parametrize(
    ("words", "bound"),
    [
        (["bounded"], "depth"),
        (["smoke", "--max-states", "2"], "states"),
        (["smoke", "--timeout", "0.000001"], "time"),
        (["smoke"], None),
    ],
)
def test_json_names_the_bound(words: list[str], bound: str | None) -> None:
    assert check_json(COUNTER, *words)["bound"] == bound


def test_a_spec_without_a_manifest_is_checked_with_all_its_properties() -> None:
    Path("alone.py").write_text((Path(COUNTER) / "spec.py").read_text(encoding="utf-8"), encoding="utf-8")
    names = [prop["name"] for prop in check_json("alone.py", "--set", "Top=1", "--no-deadlock")["properties"]]
    assert names == ["InRange", "BelowTwo", "NotZero", "NeverToTwo", "TopAgainAndAgain"]


def test_a_model_file_is_given_by_path() -> None:
    Path("mine.cfg").write_text("CONSTANT Top = 2\nINVARIANT InRange\nCHECK_DEADLOCK FALSE\n", encoding="utf-8")
    found = check_json(COUNTER, "mine.cfg")
    assert (found["model"], found["distinct"]) == ("mine", 3)


@pytest.mark.slow
@pytest.mark.parametrize("model", ENDINGS)
@pytest.mark.parametrize("strict", [False, True])
def test_a_junit_report_fails_exactly_when_the_check_does(model: str, strict: bool) -> None:
    words = ["--strict"] if strict else []
    status = kmc("check", COUNTER, model, "--no-run-dir", "--junit", "report.xml", *words).exit_code
    suite = ElementTree.parse("report.xml").getroot()
    failed = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
    assert (status != 0) == (failed > 0)


def junit_elements(*words: str) -> dict[str, ElementTree.Element]:
    """The test cases of a check's report by name."""
    kmc("check", COUNTER, *words, "--no-run-dir", "--junit", "report.xml")
    return {case.get("name", ""): case for case in ElementTree.parse("report.xml").iter("testcase")}


def junit_cases(*words: str) -> dict[str, list[str]]:
    """The test cases of a check's report: what stands under each, its output apart."""
    cases = junit_elements(*words).items()
    return {name: [found.tag for found in case if found.tag != "system-out"] for name, case in cases}


def junit_output(name: str, *words: str) -> str:
    """What a test case that passed has to say."""
    case = junit_elements(*words)[name]
    assert [found.tag for found in case] == ["system-out"]
    return case.findtext("system-out", "")


def test_a_junit_report_has_a_case_for_each_property() -> None:
    cases = junit_cases("two")
    assert (cases["InRange as far as the search went"], cases["BelowTwo"]) == ([], ["failure"])


@pytest.mark.parametrize(
    ("words", "name", "scope"),
    [
        (["smoke"], "InRange", "in all 4 states reachable"),
        (["bounded", "--bounded-ok"], "InRange in levels 1 to 2", "in the 2 states of levels 1 to 2"),
        (["smoke", "--max-states", "2"], "InRange as far as the search went", "in the 1 state explored"),
        (["two"], "InRange as far as the search went", "in the 2 states explored"),
        (["constrained"], "InRange within UpToOne", "in all 2 states reachable without breaking UpToOne"),
    ],
)
def test_a_junit_case_that_passed_says_how_far_it_was_checked(words: list[str], name: str, scope: str) -> None:
    assert junit_output(name, *words).startswith(f"holds {scope}; odds of a missed state at most ")


def test_a_junit_report_says_what_a_constraint_cut() -> None:
    cut = "1 generated state was outside of UpToOne: checked, but not expanded."
    assert junit_output("InRange within UpToOne", "constrained").endswith(f"; {cut}")
    explored = "every state reachable without breaking UpToOne is explored"
    assert junit_output(explored, "constrained").endswith(f"\n{cut}")
    assert "every reachable state is explored" not in junit_elements("constrained")


@pytest.mark.parametrize("engine", ["native", "python"])
def test_the_json_object_names_the_constraints_and_counts_what_they_cut(engine: str) -> None:
    found = check_json(COUNTER, "constrained", "--engine", engine)
    whole = check_json(COUNTER, "smoke", "--engine", engine)
    assert [(one["constraints"], one["cut"]) for one in (found, whole)] == [(["UpToOne"], 1), ([], 0)]


def test_a_junit_report_fails_for_a_temporal_property() -> None:
    assert junit_cases("temporal")["TopAgainAndAgain"] == ["failure"]


def test_a_strict_junit_report_has_a_case_for_each_action_and_reachable_property() -> None:
    cases = junit_cases("smoke", "--strict")
    found = [cases[name] for name in ("action Climb fires", "action Fall fires", "reachable at_the_top is reached")]
    assert found == [[], ["failure"], []]


def test_a_junit_report_that_cannot_be_written_is_refused_before_the_check(tmp_path: Path) -> None:
    done = kmc("check", COUNTER, "two", "--junit", str(tmp_path / "nowhere" / "report.xml"))
    assert (done.exit_code, done.stdout, list(Path(".kmc").glob("runs/*"))) == (153, "", [])


def test_a_junit_report_is_written_when_there_is_no_result() -> None:
    assert junit_cases("smok") == {"every reachable state is explored": ["error"]}


def test_a_junit_report_that_cannot_be_written_is_one_error() -> None:
    ran = kmc("check", COUNTER, "--no-run-dir", "--junit", "missing/report.xml")
    assert (ran.exit_code, ran.stderr.count("error[KMC503]")) == (153, 1)


@pytest.fixture
def disk_that_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that seemed writable when the check began, and is not at its end."""
    monkeypatch.setattr("kmc.cli.commands.check.refuse_unwritable", lambda path: None)


@pytest.mark.usefixtures("disk_that_fills")
def test_a_result_is_shown_though_it_cannot_be_written() -> None:
    assert "BelowTwo is violated" in kmc("check", COUNTER, "two", "--no-run-dir", "--junit", "missing/r.xml").stdout


@pytest.mark.usefixtures("disk_that_fills")
def test_an_error_is_shown_though_its_report_cannot_be_written() -> None:
    ran = kmc("check", COUNTER, "smok", "--no-run-dir", "--junit", "missing/report.xml")
    assert (ran.exit_code, "KMC349" in ran.stderr, "KMC503" in ran.stderr) == (151, True, True)


def saved(*words: str) -> Path:
    """The folder that a check saves."""
    kmc("check", COUNTER, *words)
    (folder,) = Path(".kmc/runs").iterdir()
    return folder


def test_a_run_without_a_trace_saves_result_and_model() -> None:
    assert sorted(path.name for path in saved("smoke").iterdir()) == ["model.cfg", "result.json"]


def test_a_violation_saves_its_trace_in_two_formats_and_a_page() -> None:
    names = sorted(path.name for path in saved("two").iterdir())
    assert names == ["model.cfg", "result.json", "trace.html", "trace.itf.json", "trace.tlc.json"]


def test_the_saved_result_is_the_object_of_json() -> None:
    found: dict[str, Any] = json.loads((saved("two") / "result.json").read_text())
    varying = ("seconds", "cpu_seconds", "compile_seconds", "peak_memory_bytes", "trace_file")
    wanted = check_json(COUNTER, "two")
    assert {k: v for k, v in found.items() if k not in varying} == {k: v for k, v in wanted.items() if k not in varying}


def test_the_saved_trace_is_the_file_that_the_result_names() -> None:
    folder = saved("two")
    assert json.loads((folder / "result.json").read_text())["trace_file"] == str(folder / "trace.itf.json")


def test_the_saved_itf_trace_is_read_by_itf_py() -> None:
    kmc("check", "die_hard", "solution")
    (path,) = Path(".kmc/runs").glob("*/trace.itf.json")
    trace = itf_py.trace_from_json(json.loads(path.read_text()))
    assert [state.values["big"] for state in trace.states] == [0, 5, 2, 2, 0, 5, 4]


def test_the_saved_model_file_gives_the_same_check() -> None:
    folder = saved("two", "--set", "Top=4")
    again, first = check_json(COUNTER, str(folder / "model.cfg")), json.loads((folder / "result.json").read_text())
    assert again["digest"] == first["digest"]


def test_two_runs_in_one_second_have_two_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "datetime", SimpleNamespace(now=lambda: datetime(2026, 11, 21)))
    kmc("check", COUNTER)
    kmc("check", COUNTER)
    names = sorted(path.name for path in Path(".kmc/runs").iterdir())
    assert names == ["counter-smoke-20261121-000000", "counter-smoke-20261121-000000-2"]


def test_no_run_dir_writes_nothing() -> None:
    kmc("check", COUNTER, "two", "--no-run-dir")
    assert not Path(".kmc").exists()


def test_a_run_folder_that_cannot_be_made_is_one_error_before_the_search() -> None:
    Path("taken").write_text("")
    ran = kmc("check", COUNTER, "--run-dir", "taken/runs")
    assert (ran.exit_code, ran.stdout, ran.stderr.count("error[KMC502]")) == (153, "", 1)


def test_nothing_but_the_object_is_on_stdout_with_json() -> None:
    ran = kmc("check", COUNTER, "two", "--json", "--no-run-dir", "--strict")
    assert json.dumps(json.loads(ran.stdout), indent=2) + "\n" == ran.stdout


def test_a_counterexample_that_does_not_replay_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise InternalError("KMC905", "state 2 of the trace: Climb(1) does not lead to it")

    monkeypatch.setattr(counterexample_module, "check_violation", refuse)
    ran = kmc("check", COUNTER, "two", "--no-run-dir")
    assert (ran.exit_code, ran.stdout) == (255, "")


def test_a_mistake_of_kmc_is_reported_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.checking.check.judge", None)
    ran = kmc("check", COUNTER, "--no-run-dir")
    assert (ran.exit_code, "internal error: TypeError" in ran.stderr, "Traceback" in ran.output) == (255, True, False)


def test_json_tells_a_mistake_of_kmc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.checking.check.judge", None)
    ran = kmc("check", COUNTER, "--no-run-dir", "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["error"]["code"]) == (255, "KMC900")


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.checking.check.judge", None)
    assert "Traceback (most recent call last)" in kmc("check", COUNTER, "--no-run-dir", "--debug").stderr


def test_running_out_of_memory_is_a_fault_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhaust(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("kmc.checking.check.judge", exhaust)
    ran = kmc("check", COUNTER, "--no-run-dir")
    assert (ran.exit_code, "error[KMC501]: out of memory" in ran.stderr) == (153, True)


def test_a_spec_may_be_one_file() -> None:
    assert check_json(str(DATA / "grid.py"), "--max-depth", "3")["distinct"] == 6


def test_a_start_state_of_another_model_is_warned_about() -> None:
    trace = saved("two") / "trace.itf.json"
    assert (
        f"Warning: {trace} is a trace of another model: counter two."
        in kmc("check", COUNTER, "--from", str(trace)).stdout
    )


def test_a_start_state_of_the_same_model_with_other_properties_is_warned_about() -> None:
    trace = saved("two") / "trace.itf.json"
    shown = kmc("check", COUNTER, "two", "--deadlock", "--from", f"{trace}#1").stdout
    assert f"{trace}#1 is a trace of counter two with other constants or properties, or of another version" in shown


def test_a_start_state_of_the_same_model_is_not_warned_about() -> None:
    trace = saved("two") / "trace.itf.json"
    assert "is a trace of" not in kmc("check", COUNTER, "two", "--from", f"{trace}#1").stdout


UNUSED_SYMMETRY = """
from kmc.lang import IdentSet, Int, Record, constant
from kmc.spec import spec

Server = constant("Server", IdentSet(symmetric=True), "s")


class State(Record):
    n: Int(0, 1)


@spec.init
def init():
    yield State(n=0)


@spec.action
def act(st):
    yield st
"""


@pytest.mark.parametrize(
    ("more", "cfg", "row"),
    [
        ("", "", "none, though Server is declared symmetric (spec.symmetry)"),
        ('spec.symmetry("Perms", Server)\n', "", "none, though the spec declares Perms"),
        ('spec.symmetry("Perms", Server)\n', "SYMMETRY Perms", "Perms\n"),
    ],
)
def test_a_symmetry_that_a_model_could_have_is_said(tmp_path: Path, more: str, cfg: str, row: str) -> None:
    (tmp_path / "spec.py").write_text(UNUSED_SYMMETRY + more, encoding="utf-8")
    (tmp_path / "m.cfg").write_text(f"CONSTANT Server = {{a, b}} {cfg}\n", encoding="utf-8")
    done = kmc("check", str(tmp_path / "spec.py"), str(tmp_path / "m.cfg"), "--no-run-dir", "--engine", "python")
    told = " ".join(done.stdout.split())
    assert f"symmetry {row}".replace("\n", "") in told
    assert ("though" in told) == ("though" in row)


def test_a_bare_spec_names_the_constraints_it_leaves_out() -> None:
    """A search without the constraint that its author declared may never end, and nothing else would say why."""
    Path("alone.py").write_text(BOUNDED, encoding="utf-8")
    shown = kmc("check", "alone.py", "--no-deadlock").stdout
    assert "constraints  none, though the spec declares Small: a model of models.toml names them" in shown
    Path("small.cfg").write_text("CHECK_DEADLOCK FALSE\n", encoding="utf-8")
    assert "Small" not in kmc("check", "alone.py", "small.cfg").stdout


BOUNDED = """from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    n: Int(0, 7)


@spec.init
def init():
    yield State(n=0)


@spec.action
def turn(st):
    yield st.set(n=(st.n + 1) % 7)


@spec.constraint
def Small(st):
    return st.n < 3
"""
