"""`kmc trace` shows one view of a trace, of the servers and variables asked for, by the spec of its run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.story import counterexample
from kmc.unexplained import ERRORS_VARIABLE

COMMITTED = str(Path(__file__).parents[2] / "data" / "views" / "broken.itf.json")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of the spec `counter`, which is not shipped, in the working directory."""
    shutil.copytree(COUNTER, tmp_path / "counter", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    assert kmc("check", "counter", "two", "--engine", "python").exit_code == 12
    return next(Path(".kmc/runs").iterdir())


def test_a_run_knows_the_spec_that_is_not_shipped(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run)
    shown = kmc("trace", ".").stdout
    assert "BelowTwo fails: count is 2" in shown
    assert "3  Climb(1): count 1 -> 2" in shown


def test_without_its_spec_a_trace_is_told_by_its_file_and_says_so(run: Path) -> None:
    shutil.copy(run / "trace.itf.json", "alone.itf.json")
    shutil.rmtree("counter")
    for where in ("alone.itf.json", str(run)):
        shown = kmc("trace", where)
        assert shown.exit_code == 0
        assert "count 1 -> 2" in shown.stdout
        assert "Note: Told without its spec" in shown.stdout


def test_a_spec_that_has_changed_is_said_to_have(run: Path) -> None:
    spec = next(path for path in Path("counter").rglob("*.py") if "BelowTwo" in path.read_text())
    spec.write_text(spec.read_text().replace("count=st.count + 1", "count=st.count + 2"))
    shown = kmc("trace", str(run))
    assert shown.exit_code == 0
    assert "Note: The spec has changed since: " in shown.stdout
    assert "3  Climb(1): count 1 -> 2" in shown.stdout


def test_a_spec_that_is_broken_is_said_to_be_so_and_where(run: Path) -> None:
    spec = next(path for path in Path("counter").rglob("*.py") if "BelowTwo" in path.read_text())
    spec.write_text(spec.read_text() + "\n\ndef broken(:\n")
    shown = kmc("trace", str(run))
    assert shown.exit_code == 0
    assert "Note: The spec has a mistake now: " in shown.stdout
    assert f"({spec.name}:{len(spec.read_text().splitlines())})" in shown.stdout


def test_a_step_is_shown_by_its_number(run: Path) -> None:
    assert kmc("trace", "last#2").stdout == kmc("trace", str(run), "--step", "2").stdout
    assert "2  Climb(1)\n" in kmc("trace", "last#2").stdout
    missing = kmc("trace", "last", "--step", "4")
    assert (missing.exit_code, "error[KMC425]" in missing.stderr) == (151, True)


@pytest.mark.parametrize(
    "words", [("--changes", "--table"), ("--step", "2", "--full"), ("--trace", "steps", "--chart"), ("--step", "2")]
)
def test_two_views_are_refused(words: tuple[str, ...]) -> None:
    where = f"{COMMITTED}#3" if words == ("--step", "2") else COMMITTED
    shown = kmc("trace", where, *words)
    assert (shown.exit_code, "different views: choose one" in shown.stderr) == (2, True)


def test_the_old_names_of_tlcs_views_still_work() -> None:
    for old, new in (("full", "tlc"), ("changed", "tlc-changes")):
        shown = kmc("trace", COMMITTED, "--trace", old).stdout
        assert shown == kmc("trace", COMMITTED, "--trace", new).stdout
        assert "State 3: <RmChooseToAbort(r3)>" in shown


@pytest.mark.parametrize("view", ["tlc", "tlc-changes"])
def test_a_view_of_tlc_is_the_same_though_the_story_fails(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = ("check", "two_phase_commit", "broken", "--engine", "python", "--no-run-dir", "--trace", view)
    explained = behaviour_in(kmc(*check).stdout)

    def fail(*_: object) -> None:
        raise KeyError("a mistake in kmc.story")

    monkeypatch.delenv(ERRORS_VARIABLE)
    monkeypatch.setattr(counterexample, "story_of", fail)
    shown = kmc(*check).stdout
    assert "explanation failed with KeyError" in shown
    assert behaviour_in(shown) == explained
    assert ("tm = " in explained.rpartition("State ")[2]) is (view == "tlc")


def behaviour_in(text: str) -> str:
    """The states of a behaviour in TLC's style."""
    return re.split(r"\n\n(?!State )", text[text.index("State 1:") :])[0]


def test_only_the_steps_of_a_server_are_shown() -> None:
    shown = kmc("trace", COMMITTED, "--server", "r2", "--changes", "--vars", "rms,msgs").stdout
    assert "RmReceiveCommit Manager -> r2" in shown
    assert "RmChooseToAbort(r3)" not in shown
    assert "Init -> Committed" not in shown
    unknown = kmc("trace", COMMITTED, "--server", "r4")
    assert (unknown.exit_code, "error[KMC667]: the trace has no server 'r4'" in unknown.stderr) == (2, True)


def test_lines_fit_the_width_that_is_asked_for() -> None:
    shown = kmc("trace", COMMITTED, "--width", "60").stdout.splitlines()[2:]
    assert 50 < max(map(len, shown)) <= 60


def test_colours_are_forced_and_forbidden() -> None:
    plain = kmc("trace", COMMITTED).stdout
    assert "\x1b[" not in plain
    for words in (("--color",), ("--color", "always"), ("--color=always",)):
        coloured = kmc("trace", COMMITTED, *words).stdout
        assert "\x1b[31mWorking\x1b[0m -> \x1b[32mAborted\x1b[0m" in coloured
    assert kmc("trace", COMMITTED, "--color=never").stdout == plain


def test_only_what_has_a_colour_has_escapes_and_once() -> None:
    first = kmc("trace", COMMITTED, "--color").stdout.splitlines()[2]
    assert re.fullmatch(r"\x1b\[1;31mConsistent fails: [^\x1b]*\x1b\[0m", first)


def test_a_trace_that_names_no_model_is_told_with_the_one_that_is_given(tmp_path: Path) -> None:
    foreign = tmp_path / "dump.json"
    foreign.write_text(kmc("trace", COMMITTED, "--format", "tlc-json").stdout)
    words = ("trace", str(foreign), "--spec", "two_phase_commit")
    assert "so the constants are those of smoke; --model takes others." in kmc(*words, "--width", "160").stdout
    given = kmc(*words, "--model", "broken").stdout
    assert "--model" not in given
    assert "TmCommit" in given
    unknown = kmc(*words, "--model", "brokn")
    assert (unknown.exit_code, "did you mean 'broken'?" in unknown.stderr) == (151, True)


def test_the_path_of_the_spec_is_in_the_result_of_a_run(run: Path) -> None:
    found = json.loads((run / "result.json").read_text())
    assert found["spec_path"] == str(Path("counter").resolve())


@pytest.mark.parametrize(
    ("words", "unheeded"),
    [
        (("--format", "markdown", "--table"), "leave out the view 'table'"),
        (("--format", "json", "--step", "2"), "leave out a single state"),
        (("--html", "--server", "r2", "--processed"), "leave out --server and --processed"),
        (("--format", "dot", "--vars", "rms"), "leave out --vars and --hide"),
        (("--html", "--format", "dot"), "--html and --format dot are different formats"),
    ],
)
def test_a_format_refuses_what_only_text_heeds(words: tuple[str, ...], unheeded: str) -> None:
    shown = kmc("trace", COMMITTED, *words)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert unheeded in shown.stderr


def test_a_step_whose_changes_are_hidden_is_not_said_to_change_nothing() -> None:
    shown = kmc("trace", COMMITTED, "--vars", "prepared").stdout
    assert "RmChooseToAbort(r3): changes nothing that is shown\n" in shown


def test_a_property_that_a_trace_does_not_name_is_explained(run: Path) -> None:
    shutil.copy(run / "trace.tlc.json", "tlc.json")
    asked = ("trace", "tlc.json", "--spec", "counter", "--model", "two", "--property")
    shown = kmc(*asked, "BelowTwo")
    assert shown.stdout.startswith("Trace, violation of BelowTwo: 3 states.\n\nBelowTwo fails: count is 2.")
    assert "NeverToTwo fails" in kmc(*asked, "NeverToTwo").stdout
    assert "<h1>NeverToTwo does not hold</h1>" in kmc(*asked, "NeverToTwo", "--format", "html").stdout
    told = json.loads(kmc(*asked, "BelowTwo", "--format", "json").stdout)
    assert (told["why"]["property"], told["about"]["property"]) == ("BelowTwo", "BelowTwo")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("InRange", "error[KMC439]: 'tlc.json' does not violate 'InRange', which holds in state 3, its last\n"
                    "  = help: what fails there: BelowTwo, NeverToTwo\n"),
        ("NotZero", "  = note: NotZero fails in state 1, before the end of the trace\n"),
        ("TopAgainAndAgain", "'tlc.json' does not violate 'TopAgainAndAgain', which later states may keep\n"),
        ("BelowTo", "error[KMC428]: the spec has no property 'BelowTo'\n  = help: did you mean 'BelowTwo'?\n"),
    ],
)  # fmt: skip
def test_a_property_that_a_trace_does_not_violate_is_an_error(run: Path, name: str, said: str) -> None:
    shutil.copy(run / "trace.tlc.json", "tlc.json")
    refused = kmc("trace", "tlc.json", "--spec", "counter", "--model", "two", "--property", name)
    assert (refused.exit_code, refused.stdout) == (151, "")
    assert said in refused.stderr


def test_no_property_is_explained_by_a_spec_that_does_not_allow_the_steps(run: Path) -> None:
    spec = next(path for path in Path("counter").rglob("*.py") if "BelowTwo" in path.read_text())
    spec.write_text(spec.read_text().replace("count=st.count + 1", "count=st.count + 2"))
    refused = kmc("trace", str(run), "--property", "BelowTwo")
    assert refused.exit_code == 151
    assert "error[KMC440]: why 'BelowTwo' fails cannot be told of " in refused.stderr


def test_a_view_that_explains_nothing_takes_no_property(run: Path) -> None:
    for words in (("--trace", "tlc"), ("--format", "itf")):
        refused = kmc("trace", str(run), *words, "--property", "BelowTwo")
        assert refused.exit_code == 2
        assert "leave out --property" in refused.stderr


def test_an_expression_is_shown_along_a_trace_and_refused_where_a_format_shows_the_file(tmp_path: Path) -> None:
    trace = str(Path(__file__).parents[2] / "data" / "views" / "big_jug.itf.json")
    found = kmc("trace", trace, "--show", "st.big + st.small", "--width", "100")
    assert found.exit_code == 0, found.output
    assert "st.big + st.small 0 -> 5" in found.stdout
    page = tmp_path / "page.html"
    assert kmc("trace", trace, "--show", "st.big", "--html", str(page)).exit_code == 0
    assert '"watched":["st.big"]' in page.read_text(encoding="utf-8")
    for wrong in (("--format", "itf"), ("--trace", "tlc"), ("--format", "tlc-json")):
        refused = kmc("trace", trace, "--show", "st.big", *wrong)
        assert refused.exit_code == 2
        assert "--show" in refused.output
