"""`kmc replay`: what it prints of a trace that still holds, and of one that does not; exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import COUNTER, IMPORTS

CFG = "CONSTANT Limit = 3\nINVARIANT BelowTwo\n"


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The trace of a check of the folder `counter`, which violates BelowTwo in three states; the path from there."""
    monkeypatch.chdir(tmp_path)
    Path("counter").mkdir()
    write(COUNTER)
    Path("counter/below.cfg").write_text(CFG, encoding="utf-8")
    assert kmc("check", "counter", "below", "--engine", "python", "--run-dir", "runs").exit_code == 12
    return next(str(path) for path in Path("runs").glob("*/trace.itf.json"))


def write(source: str) -> None:
    """Give the spec this source."""
    Path("counter/spec.py").write_text(IMPORTS + source, encoding="utf-8")


def test_a_trace_that_holds_exits_with_0(trace: str) -> None:
    found = kmc("replay", trace, "--spec", "counter")
    assert found.exit_code == 0
    assert found.stdout.startswith(
        f"Replay of {trace}: 3 states, spec counter, model below.\n\n"
        "All 3 states are reached as recorded.\nBelowTwo still fails in state 3.\n  BelowTwo fails"
    )


def test_a_step_that_no_longer_holds_exits_with_10(trace: str) -> None:
    write(COUNTER.replace("st.set(n=st.n + 1)", "st.set(n=st.n + 2 if st.n == 1 else 1)"))
    found = kmc("replay", trace, "--spec", "counter")
    assert found.exit_code == 10
    assert found.stdout.splitlines()[2:] == [
        "States 1 to 2: as recorded.",
        "Step 3: Increase leads to another state now.",
        "  n: 2 in the trace, 3 now",
    ]


def test_a_property_that_holds_now_exits_with_10(trace: str) -> None:
    write(COUNTER.replace("st.n < 2", "st.n < 3"))
    found = kmc("replay", trace, "--spec", "counter")
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (10, "BelowTwo holds in state 3 now.")


def test_another_model_gives_other_constants(trace: str) -> None:
    Path("counter/short.cfg").write_text(CFG.replace("3", "1"), encoding="utf-8")
    found = json.loads(kmc("replay", trace, "--spec", "counter", "--model", "short", "--json").stdout)
    assert (found["result"], found["stopped_at"], found["reason"]) == ("stopped", 3, "not enabled")
    assert found["why"][0] == "Step 3: Increase is not enabled in state 2 any more."
    assert found["why"][1].startswith("Why: n and Limit are both 1")
    assert (found["states_replayed"], found["property"], found["failure_shown"]) == (2, "BelowTwo", None)


def test_the_folder_of_a_spec_that_is_not_shipped_must_be_given(trace: str) -> None:
    assert kmc("replay", trace).exit_code == 0
    Path("elsewhere").mkdir()
    Path("counter").rename("elsewhere/counter")
    found = kmc("replay", trace)
    assert found.exit_code == 2
    assert f"error[KMC661]: '{trace}' is a trace of 'counter', which is not a shipped spec" in found.stderr


def test_a_trace_that_names_no_spec_needs_one(tmp_path: Path) -> None:
    path = tmp_path / "trace.itf.json"
    path.write_text('{"vars": ["big", "small"], "states": [{"big": 0, "small": 0}, {"big": 5, "small": 0}]}')
    assert "error[KMC660]" in kmc("replay", str(path)).stderr
    found = kmc("replay", str(path), "--spec", "die_hard")
    assert (found.exit_code, found.stdout.splitlines()[2:]) == (
        0,
        ["All 2 states are reached as recorded.", "The trace does not say that anything fails."],
    )


def test_a_trace_from_a_given_state_is_replayed_from_there(trace: str) -> None:
    words = ["check", "counter", "below", "--from", f"{trace}#2", "--engine", "python", "--run-dir", "later"]
    assert kmc(*words).exit_code == 12
    (later,) = Path("later").iterdir()
    found = kmc("replay", str(later))
    assert (found.exit_code, found.stdout.splitlines()[2]) == (0, "All 2 states are reached as recorded.")
    assert "error[KMC659]" in kmc("replay", str(later), "--pytest", "test_later.py").stderr


def test_a_part_of_a_trace_is_not_replayed(trace: str) -> None:
    found = kmc("replay", f"{trace}#2", "--spec", "counter")
    assert found.exit_code == 2
    assert "a trace is replayed whole: leave out #2" in found.stderr
