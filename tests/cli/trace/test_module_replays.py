"""`kmc replay` of traces of TLA+ modules: as the module is now, and after each kind of change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc

LEASE = Path(__file__).parents[3] / "docs" / "tla" / "Lease.tla"
UNCHECKED = LEASE.with_name("LeaseUnchecked.cfg")
CYCLE = r"""---- MODULE Cycle ----
EXTENDS Naturals, Sequences
CONSTANT Name
VARIABLES at, log
vars == <<at, log>>
Init == at = 0 /\ log = << >>
Go(to, pair) == at < 3 /\ at' = to /\ log' = Append(log, pair)
Back == at = 3 /\ at' = 1 /\ log' = << <<"a", Name>> >>
Next == Back \/ \E pair \in {<<"a", Name>>} : Go(at + 1, pair)
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
\* The journey ends.
Ends == <>[](at = 2)
Short == Len(log) < 3
Never == [][at' # 2]_at
Stops == at < 3 /\ Len(log) < 9
====
"""


@pytest.fixture(autouse=True)
def _beside_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def change(old: str, new: str, module: str = "Cycle.tla") -> None:
    """Replace a text of a module, which must have it."""
    text = Path(module).read_text()
    assert old in text
    Path(module).write_text(text.replace(old, new))


def checked(*configuration: str, status: int, text: str = CYCLE) -> None:
    """Check a module, which leaves a trace."""
    Path("Cycle.tla").write_text(text)
    Path("Cycle.cfg").write_text("\n".join(("CONSTANT Name = n", *configuration)))
    assert kmc("check", "Cycle.tla", "--quiet").exit_code == status


def replayed(*words: str) -> dict[str, Any]:
    """Return what the replay of the newest trace finds; the exit status says the same."""
    found = kmc("replay", "last", *words, "--json")
    assert not found.stderr
    result: dict[str, Any] = json.loads(found.stdout)
    assert found.exit_code == (0 if result["result"] == "replayed" and result["failure_shown"] is not False else 10)
    return result


def test_a_step_property_still_fails_and_its_conjunct_is_shown() -> None:
    assert kmc("check", str(LEASE), str(UNCHECKED), "--quiet").exit_code == 13
    lines = kmc("replay", "last").stdout.splitlines()
    assert lines[0].endswith("trace.itf.json: 5 states, spec Lease, model LeaseUnchecked.")
    assert lines[2:] == [
        "All 5 states are reached as recorded.",
        "WritesInOrder still fails in state 5.",
        "  No write is older than the one before it.",
        "  [last' >= last]_vars is FALSE (Lease.tla:50).",
    ]


def test_another_model_forbids_the_step_at_its_conjunct() -> None:
    assert kmc("check", str(LEASE), str(UNCHECKED), "--quiet").exit_code == 13
    found = kmc("replay", "last", "--model", str(LEASE.with_name("Lease.cfg")))
    assert found.exit_code == 10
    assert found.stdout.splitlines()[3:] == [
        "Step 5: Write(w1) is not enabled in state 4 any more.",
        "  Why: held[w] >= last: held[w] is 1; last is 2 (Lease.tla:36).",
    ]


def test_invariants_deadlocks_and_lassos_are_found_again() -> None:
    checked("SPECIFICATION Spec", "INVARIANT Short", status=12)
    assert replayed() | {"trace_file": None} == {
        "trace_file": None,
        "spec": "Cycle",
        "model": "Cycle",
        "trace_length": 4,
        "states_replayed": 4,
        "result": "replayed",
        "stopped_at": None,
        "reason": None,
        "why": [],
        "property": "Short",
        "failure_shown": True,
        "notes": [],
    }
    change("Len(log) < 3", "Len(log) < 4")
    assert replayed()["failure_shown"] is False

    checked("SPECIFICATION Spec", "PROPERTY Ends", status=13)
    assert replayed()["failure_shown"] is True
    change("<>[](at = 2)", "[]<>(at = 2)")
    assert replayed()["failure_shown"] is False

    checked("SPECIFICATION Spec", "PROPERTY Never", status=13)
    assert replayed()["failure_shown"] is True

    checked("INIT Init", "NEXT Next", status=11, text=CYCLE.replace("Back ==", "Back == FALSE /\\"))
    assert (replayed()["property"], replayed()["failure_shown"]) == (None, True)
    change("FALSE /\\", "TRUE /\\")
    assert replayed()["failure_shown"] is False


def test_a_lasso_that_fairness_forbids_now_shows_nothing() -> None:
    fair = " /\\ WF_vars(Next)"
    checked("SPECIFICATION Spec", "PROPERTY Ends", status=13, text=CYCLE.replace(fair, ""))
    assert replayed()["failure_shown"] is True
    change("[][Next]_vars\n", f"[][Next]_vars{fair}\n")
    assert replayed()["failure_shown"] is False


def test_an_error_of_evaluation_is_found_again() -> None:
    text = CYCLE.replace("Short ==", "Short == at = 2 => Head(Tail(Tail(log))) = 0\nLong ==")
    checked("INIT Init", "NEXT Next", "INVARIANT Short", status=76, text=text)
    assert replayed()["failure_shown"] is True
    change("Head(Tail(Tail(log))) = 0", "TRUE")
    assert replayed()["failure_shown"] is False


def test_a_behaviour_is_its_states_whatever_its_actions_are_called() -> None:
    checked("SPECIFICATION Spec", "INVARIANT Short", status=12)
    change("Go(", "Move(")
    found = replayed()
    assert (found["result"], found["failure_shown"]) == ("replayed", True)
    assert found["notes"] == [f"Step {number} is taken by Move now, not by Go." for number in (2, 3, 4)]


@pytest.mark.parametrize(
    ("old", "new", "number", "reason", "sentence"),
    [
        ("at = 0 /\\ log", "at = 1 /\\ log", 1, "not an initial state", "not an initial state any more"),
        ("at' = to", "at' = to + 1", 2, "leads elsewhere", "leads to another state now"),
        ("at < 3 /\\ at'", "at < 2 /\\ at'", 4, "not enabled", "is not enabled in state 3 any more"),
        ("Go(to, pair) == at < 3", "Walk(to, pair) == at < 2", 4, "no such action", "no action Go"),
    ],
)
def test_the_first_step_that_no_longer_holds_is_named(
    old: str, new: str, number: int, reason: str, sentence: str
) -> None:
    checked("SPECIFICATION Spec", "INVARIANT Short", status=12)
    change(old, new)
    if "Walk" in new:
        change(": Go(", ": Walk(")
    found = replayed()
    assert (found["stopped_at"], found["states_replayed"], found["reason"]) == (number, number - 1, reason)
    assert sentence in found["why"][0]


def test_variables_that_only_one_side_has_are_not_compared() -> None:
    checked("SPECIFICATION Spec", "INVARIANT Short", status=12)
    change("VARIABLES at, log", "VARIABLES at, log, extra")
    change("Init == ", "Init == extra \\in {1, 2} /\\ ")
    change("Next == Back", "Next == (Back /\\ UNCHANGED extra)")
    change(": Go(at + 1, pair)", ": Go(at + 1, pair) /\\ extra' \\in {extra, 5}")
    change("Short == Len(log) < 3", "Short == Len(log) < 3 \\/ extra # 5")
    found = replayed()
    assert found["notes"][0] == "Not compared, since the trace does not have them: extra."
    assert (found["result"], found["failure_shown"]) == ("replayed", True)
    change("Short == Len(log) < 3 \\/ extra # 5", "Short == extra < 9")
    assert replayed()["failure_shown"] is False


def test_what_cannot_be_replayed_is_said() -> None:
    checked("SPECIFICATION Spec", "INVARIANT Short", status=12)
    assert "error[KMC428]" in kmc("replay", "last", "--property", "Shrot").stderr
    assert kmc("replay", "last", "--pytest", "test_it.py").exit_code == 2
    assert kmc("replay", "last#2").exit_code == 2
    Path("Other.tla").write_text("---- MODULE Other ----\nVARIABLE x\nInit == x = 1\nNext == x' = x\n====\n")
    Path("Other.cfg").write_text("INIT Init\nNEXT Next\n")
    assert "error[KMC429]" in kmc("replay", "last", "--spec", "Other.tla", "--model", "Other.cfg").stderr
    checked(
        "SPECIFICATION Spec",
        "INVARIANT Short",
        "ALIAS Shown",
        status=12,
        text=CYCLE.replace("Stops ==", "Shown == [here |-> at]\nStops =="),
    )
    assert "error[KMC441]" in kmc("replay", "last").stderr
