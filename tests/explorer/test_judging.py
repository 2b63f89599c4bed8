"""Verdicts on one state and one step, beside the interpreter's."""

from __future__ import annotations

from pathlib import Path

from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of

from kmc.explorer.judging import JudgedOutcome, JudgedProperty, failing, is_outside, judged
from kmc.explorer.python_specs.explored_spec import ExploredSpec
from kmc.explorer.search_terms import SeekLimits, SeekProgress
from kmc.explorer.seeking import Seeker
from kmc.frontend.model import Model
from kmc.invariants.properties import holds
from kmc.reference.states.initial import initial_states

ALL = "INVARIANT BelowTwo NotNegative\nPROPERTY NeverToThree\nCONSTRAINT AtMostTwo"


def outcomes(model: Model, before: int | None, now: int) -> dict[str, JudgedOutcome]:
    first = initial_states(model)[0]
    found = judged(model, None if before is None else first.set(n=before), first.set(n=now))
    return {one.name: one.outcome for one in found}


def test_every_property_of_a_state_and_of_the_step_to_it_is_judged(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, ALL)
    assert outcomes(model, 2, 3) == {
        "BelowTwo": JudgedOutcome.FAILS,
        "NotNegative": JudgedOutcome.HOLDS,
        "AtMostTwo": JudgedOutcome.OUTSIDE,
        "NeverToThree": JudgedOutcome.FAILS,
    }
    assert "NeverToThree" not in outcomes(model, None, 3)
    assert outcomes(model, 3, 3)["NeverToThree"] is JudgedOutcome.NOT_A_STEP


def test_what_fails_and_what_is_outside(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, ALL)
    first = initial_states(model)[0]
    assert failing(judged(model, first, first.set(n=3))) == ("BelowTwo", "NeverToThree")
    assert is_outside(judged(model, first, first.set(n=3)))
    assert not is_outside(judged(model, None, first))


BROKEN = (
    COUNTER
    + """

@spec.invariant
def Broken(st):
    return [st.n].at(st.n + 1) == 1
"""
)


def test_a_property_that_cannot_be_evaluated_shows_its_error_and_the_others_are_judged(tmp_path: Path) -> None:
    model = model_of(tmp_path, BROKEN, "INVARIANT Broken NotNegative")
    first = initial_states(model)[0]
    found: dict[str, JudgedProperty] = {one.name: one for one in judged(model, None, first.set(n=5))}
    assert found["Broken"].outcome is JudgedOutcome.ERROR
    assert found["Broken"].error is not None
    assert found["NotNegative"].outcome is JudgedOutcome.HOLDS
    assert failing(judged(model, None, first.set(n=5))) == ("Broken",)


def test_verdicts_of_random_walks_are_those_of_the_interpreter() -> None:
    model = shipped_model("kip_996", "smoke")
    start = initial_states(model)[0]
    walk = Seeker(ExploredSpec(model)).at_random(start, None, 25, 4, SeekLimits(), SeekProgress())
    true = (JudgedOutcome.HOLDS, JudgedOutcome.REACHED, JudgedOutcome.INSIDE)
    false = (JudgedOutcome.FAILS, JudgedOutcome.NOT_REACHED, JudgedOutcome.OUTSIDE)
    properties = {prop.name: prop for prop in (*model.invariants, *model.reachable, *model.constraints)}
    for step, _ in walk.steps:
        found = {one.name: one.outcome for one in judged(model, None, step.state)}
        assert found.keys() == properties.keys()
        for name, prop in properties.items():
            assert found[name] in (true if holds(prop, model.spec.files, step.state) else false)
