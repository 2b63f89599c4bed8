"""`kmc explore` of TLA+ modules: the module and the state at which it opens, and the traces that it refuses."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.views.exploring import do, session_on

from kmc.cli.commands.explore import ExploreOptions, _begun
from kmc.explorer.ground import Ground
from kmc.explorer.saving import SavingPlace, commands_from, save_walk
from kmc.explorer.shown import view_of

LEASE = Path(__file__).parents[3] / "docs" / "tla" / "Lease.tla"
UNCHECKED = LEASE.with_name("LeaseUnchecked.cfg")
LIFT = """---- MODULE Lift ----
EXTENDS Naturals
VARIABLES floor, door
vars == <<floor, door>>
Init == floor = 1 /\\ door = "shut"
Up == door = "shut" /\\ floor < 3 /\\ floor' = floor + 1 /\\ UNCHANGED door
Down == door = "shut" /\\ floor > 1 /\\ floor' = floor - 1 /\\ UNCHANGED door
Next == Up \\/ Down
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)
Arrives == <>(floor = 3)
Where == [at |-> floor]
====
"""


@pytest.fixture(autouse=True)
def _beside_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _of_lease() -> None:
    found = kmc("check", str(LEASE), str(UNCHECKED), "--set", "MaxTerm=4")
    assert found.exit_code == 13
    (hint,) = (line for line in found.stdout.splitlines() if line.startswith("Walk on from it: "))
    assert f"kmc explore {LEASE} --from .kmc/runs/" in hint


def begun(
    spec: Path | str | None = None, model: Path | None = None, trace: str | None = None, sets: tuple[str, ...] = ()
) -> tuple[Ground, SavingPlace]:
    """What `kmc explore` begins with."""
    named = None if model is None else str(model)
    return _begun(
        ExploreOptions(None if spec is None else str(spec), named, sets, trace, 0, False, "saved", ".kmc/runs")
    )


def refusal(*words: str) -> str:
    """The error of a command line that opens no page."""
    found = kmc("explore", "--no-browser", *words)
    assert found.exit_code in (2, 75, 150, 151)
    assert "Traceback" not in found.output
    return found.stderr


def test_a_module_is_explored_with_its_model_or_another_one() -> None:
    ground, place = begun(LEASE)
    assert (ground.model.name, place.chosen, place.replays) == ("Lease", (str(LEASE),), False)
    ground, place = begun(LEASE, UNCHECKED, sets=("MaxTerm=5",))
    assert (ground.model.name, place.chosen) == ("LeaseUnchecked", (str(LEASE), str(UNCHECKED), "--set", "MaxTerm=5"))
    assert place.of_trace == ("--spec", str(LEASE), "--model", str(UNCHECKED))


@pytest.mark.usefixtures("_of_lease")
def test_a_trace_opens_at_its_counterexample_or_at_the_state_that_is_named() -> None:
    ground, place = begun(trace="last")
    assert ground.opening.at == 4
    shown = view_of(session_on(ground))
    assert shown["fails"] == ["WritesInOrder"]
    assert [step["label"] for step in shown["story"]["steps"]][1:] == [
        "Grant(w1)",
        "Grant(w2)",
        "Write(w2)",
        "Write(w1)",
    ]
    assert place.chosen[0] == str(LEASE)
    assert place.chosen[2:] == ("--set", "MaxTerm=4")
    assert begun(trace="last#3")[0].opening.at == 2
    assert begun(LEASE, trace="last")[0].notes == ()


@pytest.mark.usefixtures("_of_lease")
def test_a_trace_is_shown_as_far_as_another_model_allows_it() -> None:
    ground, _ = begun(LEASE, LEASE.with_name("Lease.cfg"), "last")
    assert len(ground.opening.visited) == 4
    assert ground.notes == ("The trace is shown up to state 4: no step of the module leads to the next one.",)


@pytest.mark.usefixtures("_of_lease")
def test_a_trace_of_another_module_or_model_is_refused() -> None:
    Path("Lift.tla").write_text(LIFT)
    Path("Lift.cfg").write_text("SPECIFICATION Spec\n")
    assert "error[KMC444]" in refusal("Lift.tla", "--from", "last")
    assert "is a trace of the module Lease, and not of Lift" in refusal("Lift.tla", "--from", "last")
    other = UNCHECKED.read_text().replace("w1, w2", "w1, w2, w3")
    Path("three.cfg").write_text(other)
    told = refusal(str(LEASE), "three.cfg", "--from", "last")
    assert "error[KMC444]" in told
    assert "does not begin in an initial state of Lease" in told


def test_a_lasso_opens_with_its_cycle() -> None:
    Path("Lift.tla").write_text(LIFT)
    Path("Lift.cfg").write_text("SPECIFICATION Spec\nPROPERTY Arrives\nALIAS Where\n")
    assert kmc("check", "Lift.tla").exit_code == 13
    assert "has the fields of ALIAS Where" in refusal("--from", "last")
    Path("Lift.cfg").write_text("SPECIFICATION Spec\nPROPERTY Arrives\n")
    assert kmc("check", "Lift.tla").exit_code == 13
    ground, _ = begun(trace="last")
    loop = view_of(session_on(ground))["story"]["loop"]
    assert (loop["backTo"], loop["closing"]["label"]) == (1, "Down")
    assert ground.notes == ("The trace is a lasso: after state 2 comes state 1 again.",)
    Path("Lift.tla").write_text(LIFT.replace("floor' = floor - 1", "floor' = floor"))
    ground, _ = begun(trace="last")
    assert ground.notes == ("No step of the module leads from state 2 back to state 1 any more.",)


def test_a_saved_walk_opens_again_and_other_commands_read_it() -> None:
    ground, place = begun(LEASE, UNCHECKED)
    session = session_on(ground)
    do(session, "until", what="property", name="WritesInOrder")
    path = save_walk(session, place, datetime(2026, 11, 30, 12))
    commands = commands_from(path, len(session.tree.trace()), place, ("term - last",))
    assert [command[1] for command in commands] == ["trace", "explore", "check", "simulate"]
    shown = kmc(*commands[0][1:])
    assert (shown.exit_code, "term - last" in shown.stdout) == (0, True)
    _, module, model, _, trace, _, _ = commands[1][1:]
    assert begun(module, Path(model), trace)[0].opening.at == 4
    assert kmc(*commands[2][1:], "--quiet", "--no-run-dir").exit_code == 13
    assert kmc(*commands[3][1:], "--quiet", "--no-run-dir", "--number", "1").exit_code in (0, 13)
    assert "error[KMC699]" in refusal("--from", trace)
    assert "give the path of the module: Lease.tla" in refusal("--from", trace)


def test_a_walk_from_a_given_state_is_saved_as_one() -> None:
    assert kmc("check", str(LEASE), str(UNCHECKED)).exit_code == 13
    assert kmc("check", str(LEASE), str(UNCHECKED), "--from", "last#3").exit_code == 13
    ground, place = begun(LEASE, UNCHECKED, "last")
    session = session_on(ground)
    path = save_walk(session, place, datetime(2026, 11, 30, 12))
    again = begun(LEASE, UNCHECKED, str(path))[0]
    assert len(again.opening.visited) == len(ground.opening.visited) == 3
    assert view_of(session_on(again))["story"]["steps"][0]["label"] == "Given state"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("No.tla",), "KMC"),
        ((str(LEASE), "no.cfg"), "KMC696"),
        ((str(LEASE), "--show", "term +"), "KMC001"),
        ((str(LEASE), "--show", "termm"), "KMC008"),
        ((str(LEASE), "--show", "term'"), "KMC649"),
        ((str(LEASE), "--set", "MaxTerm"), "KMC610"),
        (("Still.tla",), "KMC357"),
        (("Assumes.tla",), "KMC351"),
    ],
)
def test_what_cannot_be_explored_is_one_error(words: tuple[str, ...], code: str) -> None:
    Path("Still.tla").write_text("---- MODULE Still ----\nVARIABLE x\nInit == x = 1\n====")
    Path("Still.cfg").write_text("")
    Path("Assumes.tla").write_text(
        "---- MODULE Assumes ----\nVARIABLE x\nASSUME FALSE\nInit == x = 1\nNext == x' = x\n===="
    )
    Path("Assumes.cfg").write_text("INIT Init\nNEXT Next\n")
    found = kmc("explore", "--no-browser", *words)
    assert found.stdout == ""
    assert f"error[{code}" in found.stderr
    assert "Traceback" not in found.stderr
