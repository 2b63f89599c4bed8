"""The fairness of a refined spec holds in exactly the fair behaviours of the spec, on both engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest, Engine
from kmc.errors import KmcError
from kmc.frontend.binding import bind_all
from kmc.frontend.model import Model
from kmc.invariants.properties import Refinement
from kmc.liveness.formulas import TemporalProperty
from kmc.result import Violation
from kmc.story.counterexample import story_of

HOURS = """
from kmc.lang import Int, Record
from kmc.spec import NEXT, and_, not_, spec, strong_fairness, weak_fairness

class State(Record):
    hour: Int(0, 3)

@spec.init
def init():
    yield State(hour=0)

@spec.action
def tick(st, step: Int(1, 2)):
    yield st.set(hour=(st.hour + step) % 4)

@spec.specification
def Fair():
    return and_(weak_fairness(NEXT), strong_fairness(tick, 2))
"""

CLOCK = """
from kmc.lang import Int, Record
from kmc.spec import and_, spec, strong_fairness, weak_fairness
from ..hours import State as Hours

class State(Record):
    hour: Int(0, 3)
    half: Int(0, 1)

@spec.init
def init():
    yield State(hour=0, half=0)

@spec.action
def wait(st):
    if st.half == 0:
        yield st.set(half=1)

@spec.action
def go(st, n: Int(1, 2)):
    if st.half == 1:
        yield st.set(half=0, hour=(st.hour + n) % 4)

@spec.specification
def Nothing():
    return True

@spec.specification
def Some():
    return and_(weak_fairness(wait), weak_fairness(go))

@spec.specification
def Enough():
    return and_(weak_fairness(wait), strong_fairness(go), strong_fairness(go, 2))

@spec.refines("hours")
def HoursSpec(st):
    return Hours(hour=st.hour)
"""


def model_of(folder: Path, specification: str = "Nothing", hours: str = HOURS, clock: str = CLOCK) -> Model:
    """The clock with one of its specifications, and the refinement with its fairness as properties."""
    (folder / "clock").mkdir(exist_ok=True)
    (folder / "hours.py").write_text(hours, encoding="utf-8")
    (folder / "clock" / "spec.py").write_text(clock, encoding="utf-8")
    model = bind_all(folder / "clock", [])
    return replace(model, specification=specification)


def violation_of(model: Model, engine: Engine = Engine.PYTHON) -> Violation | None:
    """The violation that a check finds."""
    return check(CheckRequest(ChosenModel(model, None), engine=engine, threads=1)).result.violation


def test_a_model_that_names_a_refinement_has_its_fairness_as_a_temporal_property(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    assert [prop.name for prop in model.temporal] == ["HoursSpecFairness"]
    assert isinstance(model.spec.properties["HoursSpec"], Refinement)
    assert isinstance(model.spec.properties["HoursSpecFairness"], TemporalProperty)


@pytest.mark.parametrize("engine", Engine)
def test_too_little_fairness_is_refuted_by_a_cycle_without_the_abstract_step(engine: Engine, tmp_path: Path) -> None:
    violation = violation_of(model_of(tmp_path, "Some"), engine)
    assert violation is not None
    assert violation.refutation is not None
    assert "SF_hours(Tick(2))" in violation.refutation.why
    assert {step.label for step in violation.trace.steps} == {"Initial predicate", "Wait", "Go(1)"}


def test_no_fairness_is_refuted_by_a_behaviour_that_stops(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    violation = violation_of(model)
    assert violation is not None
    assert len(violation.trace) == 1
    assert [step.abstract for step in story_of(model, violation).steps] == ["hours: Init"]


@pytest.mark.parametrize("engine", Engine)
def test_enough_fairness_refines(engine: Engine, tmp_path: Path) -> None:
    assert violation_of(model_of(tmp_path, "Enough"), engine) is None


def test_the_fairness_of_actions_counts_where_no_specification_is_declared(tmp_path: Path) -> None:
    hours = HOURS.partition("@spec.specification")[0].replace("@spec.action", "@spec.action(fair=WEAK)")
    hours = hours.replace("import NEXT", "import NEXT, WEAK")
    violation = violation_of(model_of(tmp_path, "Enough", hours))
    assert violation is not None
    assert violation.refutation is not None
    assert "WF_hours(Tick(1))" in violation.refutation.why


@pytest.mark.parametrize(
    ("code", "hours", "clock"),
    [
        ("KMC723", HOURS.replace("weak_fairness(NEXT)", "not_(weak_fairness(NEXT))"), CLOCK),
        ("KMC723", HOURS.replace("weak_fairness(NEXT)", "weak_fairness(and_(NEXT, tick))"), CLOCK),
        ("KMC724", HOURS, CLOCK + "\n@spec.liveness\ndef HoursSpecFairness():\n    return True\n"),
    ],
)
def test_a_fairness_without_a_meaning_is_refused(code: str, hours: str, clock: str, tmp_path: Path) -> None:
    with pytest.raises(KmcError) as caught:
        violation_of(model_of(tmp_path, "Some", hours, clock))
    assert caught.value.code == code
    assert caught.value.span is not None
