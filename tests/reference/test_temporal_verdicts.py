"""Verdicts on temporal properties by the interpreter: the lasso, why it is fair, and that a wrong one is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.errors import EvaluationError, ExitStatus, InternalError, ModelError, TautologyError
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.liveness.lasso_queries import (
    AndSteps,
    AtomHolds,
    Changing,
    FairnessCondition,
    Labelled,
    LassoQuery,
    NotStates,
    Phase,
    TemporalCheck,
)
from kmc.liveness.problem import TemporalProblem
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.reference.temporal.behaviours import behaviours_of
from kmc.reference.temporal.lasso_replay import check_refutation
from kmc.reference.temporal.verdicts import interpreted
from kmc.result import Bound, HowMet, Result, Verdict, Violation

RING = """
class State(Record):
    n: Int(0, 3)


@spec.init
def init():
    yield State(n=0)


@spec.action
def turn(st):
    if st.n < 3:
        yield st.set(n=(st.n + 1) % 3)


@spec.action
def leave(st):
    if st.n == 2:
        yield st.set(n=3)


@spec.invariant
def Small(st):
    return st.n < 2


@spec.constraint
def NotThree(st):
    return st.n != 3
"""
"""0, 1 and 2 in a ring, which 2 may leave for 3."""

TURN, LEAVE = (AndSteps((Changing(), Labelled(frozenset([label])))) for label in (0, 1))


def fairness(*, turn: str = "", leave: str = "") -> tuple[FairnessCondition, ...]:
    """WF or SF of each action, as given."""
    given = (("Turn", turn, TURN), ("Leave", leave, LEAVE))
    return tuple(
        FairnessCondition(f"{kind}_vars({name})", name, kind == "SF", steps) for name, kind, steps in given if kind
    )


def eventually_three(*fair: FairnessCondition) -> TemporalProblem:
    """<>(n = 3)."""
    query = LassoQuery((Phase(states=NotStates(AtomHolds(0))),))
    return TemporalProblem((lambda st: st.n == 3,), (), fair, (TemporalCheck("Leaves", "", (query,)),))


def always_below_two(*fair: FairnessCondition) -> TemporalProblem:
    """[](n < 2), which a finite prefix refutes."""
    query = LassoQuery((Phase(), Phase(enters_at=AtomHolds(0))))
    return TemporalProblem((lambda st: st.n >= 2,), (), fair, (TemporalCheck("Low", "", (query,)),))


@pytest.fixture
def ring(tmp_path: Path) -> Model:
    """The ring without properties."""
    return model_of(tmp_path, RING, "CHECK_DEADLOCK FALSE")


def checked(model: Model, problem: TemporalProblem) -> Result:
    """The result of a search for this problem."""
    return Search(model, problem=problem).run()


def refuted(model: Model, problem: TemporalProblem) -> Violation:
    """The violation that a search finds."""
    violation = checked(model, problem).violation
    assert violation is not None
    return violation


def shape(violation: Violation) -> tuple[list[int], int | None, str | None]:
    """The values of n, the number of the state that the last one leads back to, and by which step."""
    assert violation.refutation is not None
    cycle = violation.refutation.cycle
    closing = cycle.closing.label if cycle is not None and cycle.closing is not None else None
    return [step.state.n for step in violation.trace.steps], None if cycle is None else cycle.back_to, closing


def test_without_fairness_nothing_need_happen(ring: Model) -> None:
    violation = refuted(ring, eventually_three())
    assert shape(violation) == ([0], 1, None)
    assert (violation.verdict, violation.exit_status) == (Verdict.LIVENESS, ExitStatus.LIVENESS)


def test_a_fair_action_is_shown_where_it_is_taken(ring: Model) -> None:
    violation = refuted(ring, eventually_three(*fairness(turn="WF", leave="WF")))
    assert shape(violation) == ([0, 1, 2], 1, "Turn")
    assert violation.refutation is not None
    assert violation.refutation.cycle is not None
    turn, leave = violation.refutation.cycle.fairness
    assert (turn.how, turn.state, leave.how, leave.state) == (HowMet.TAKEN, 2, HowMet.DISABLED, 1)


def test_a_cycle_may_hold_the_state_that_begins_the_wait(ring: Model) -> None:
    # n = 2 ~> n = 3: the wait begins in state 3, which is in the cycle.
    query = LassoQuery((Phase(), Phase(enters_at=AtomHolds(1), states=NotStates(AtomHolds(0)))))
    atoms = (lambda st: st.n == 3, lambda st: st.n == 2)
    fair = fairness(turn="WF", leave="WF")
    problem = TemporalProblem(atoms, (), fair, (TemporalCheck("Leaves", "", (query,)),))
    assert shape(refuted(ring, problem)) == ([0, 1, 2], 1, "Turn")


def test_strong_fairness_makes_it_leave(ring: Model) -> None:
    result = checked(ring, eventually_three(*fairness(turn="WF", leave="SF")))
    assert (result.verdict, result.violation) == (Verdict.OK, None)
    assert [(prop.name, prop.verdict) for prop in result.properties] == [("Leaves", "holds")]
    assert [(fair.name, fair.strong) for fair in result.fairness] == [
        ("WF_vars(Turn)", False),
        ("SF_vars(Leave)", True),
    ]


def test_a_finite_prefix_refutes_a_safety_property(ring: Model) -> None:
    violation = refuted(ring, always_below_two(*fairness(turn="SF")))
    assert shape(violation) == ([0, 1, 2], None, None)
    assert (violation.verdict, violation.exit_status) == (Verdict.VIOLATION, ExitStatus.SAFETY)


def test_what_is_violated_does_not_depend_on_the_order_of_the_properties(ring: Model) -> None:
    atoms = (lambda st: st.n == 3, lambda st: st.n >= 2, lambda st: st.n > 3, lambda st: st.n != 0)
    phases = {
        "Leaves": (Phase(states=NotStates(AtomHolds(0))),),
        "Low": (Phase(), Phase(enters_at=AtomHolds(1))),
        "Small": (Phase(), Phase(enters_at=AtomHolds(2))),
        "Zero": (Phase(), Phase(enters_at=AtomHolds(3))),
        "Ends": (Phase(), Phase(states=AtomHolds(2))),
        "Turns": (Phase(), Phase(states=AtomHolds(0))),
    }
    by_prefix, by_lasso = {"Low", "Zero"}, {"Leaves", "Turns"}
    for number in range(6):
        names = [*phases, *phases][number : number + 6]
        checks = tuple(TemporalCheck(name, "", (LassoQuery(phases[name]),)) for name in names)
        result = Search(ring, problem=TemporalProblem(atoms, (), (), checks), keep_going=True).run()
        assert [prop.name for prop in result.properties] == names
        assert {prop.name for prop in result.properties if prop.verdict == "violated"} == by_prefix | by_lasso
        assert result.violation is not None
        assert result.violation.name == min(by_prefix, key=names.index), "what a finite prefix refutes comes first"
        checks = tuple(check for check in checks if check.name not in by_prefix)
        result = Search(ring, problem=TemporalProblem(atoms, (), (), checks), keep_going=True).run()
        assert result.violation is not None
        assert result.violation.name == min(by_lasso, key=names.index)


def test_an_invariant_is_reported_first(tmp_path: Path) -> None:
    model = model_of(tmp_path, RING, "INVARIANT Small CHECK_DEADLOCK FALSE")
    violation = refuted(model, eventually_three(*fairness(turn="WF", leave="WF")))
    assert (violation.name, violation.refutation) == ("Small", None)


def test_a_lasso_that_stutters_in_an_earlier_level_comes_before_an_invariant(tmp_path: Path) -> None:
    model = model_of(tmp_path, RING, "INVARIANT Small CHECK_DEADLOCK FALSE")
    result = checked(model, eventually_three())
    assert (result.violation and result.violation.name, result.counters.distinct) == ("Leaves", 2)


def test_a_constraint_that_cuts_a_fair_step_lets_no_property_pass(tmp_path: Path) -> None:
    model = model_of(tmp_path, RING, "CONSTRAINT NotThree CHECK_DEADLOCK FALSE")
    problem = eventually_three(*fairness(turn="WF", leave="SF"))
    outcome = interpreted(model, problem, behaviours_of(model, problem, _states(model), 3), 1)
    assert outcome.violation is None
    assert [(cut.name, cut.state) for cut in outcome.cut] == [("SF_vars(Leave)", "n = 2")]


def test_a_lasso_among_the_states_of_a_constraint_is_real(tmp_path: Path) -> None:
    model = model_of(tmp_path, RING, "CONSTRAINT NotThree CHECK_DEADLOCK FALSE")
    assert shape(refuted(model, eventually_three(*fairness(turn="WF", leave="WF")))) == ([0, 1, 2], 1, "Turn")


def test_within_a_bound_only_expanded_states_take_part(ring: Model) -> None:
    problem = eventually_three(*fairness(turn="WF", leave="WF"))
    result = Search(replace(ring, max_depth=2), problem=problem).run()
    assert (result.violation, result.bound) == (None, Bound.DEPTH)
    assert [prop.verdict for prop in result.properties] == ["not refuted"]
    assert result.exit_status() is ExitStatus.BOUND_REACHED


def test_a_lasso_within_a_bound_does_not_make_the_search_whole(ring: Model) -> None:
    within = Search(replace(ring, max_depth=2), problem=eventually_three(), keep_going=True).run()
    assert (within.verdict, within.bound, within.is_whole) == (Verdict.LIVENESS, Bound.DEPTH, False)
    whole = Search(ring, problem=eventually_three(), keep_going=True).run()
    assert (whole.verdict, whole.bound, whole.is_whole) == (Verdict.LIVENESS, None, True)


def test_a_search_ends_in_the_level_of_a_state_that_refutes(ring: Model) -> None:
    early = checked(ring, eventually_three())
    assert (early.verdict, early.bound, early.is_whole) == (Verdict.LIVENESS, None, False)
    assert (early.counters.distinct, early.counters.left) == (2, 1)


def test_a_predicate_without_a_truth_is_an_error(ring: Model) -> None:
    problem = replace(eventually_three(), atoms=(lambda st: st.n,))
    with pytest.raises(EvaluationError, match="KMC268"):
        checked(ring, problem)


def _states(model: Model) -> list[State]:
    search = Search(model)
    search.run()
    return search.graph.states


def test_a_lasso_that_is_not_fair_is_refused(ring: Model) -> None:
    violation = refuted(ring, eventually_three(*fairness(turn="WF", leave="WF")))
    with pytest.raises(InternalError, match="KMC909"):
        check_refutation(ring, eventually_three(*fairness(turn="WF", leave="SF")), violation)


def test_a_lasso_that_satisfies_the_property_is_refused(ring: Model) -> None:
    violation = refuted(ring, eventually_three(*fairness(turn="WF", leave="WF")))
    problem = replace(eventually_three(*fairness(turn="WF", leave="WF")), atoms=(lambda st: st.n == 1,))
    with pytest.raises(InternalError, match="KMC909"):
        check_refutation(ring, problem, violation)


def test_a_cycle_that_does_not_close_is_refused(ring: Model) -> None:
    problem = eventually_three(*fairness(turn="WF", leave="WF"))
    violation = refuted(ring, problem)
    refutation = violation.refutation
    assert refutation is not None
    assert refutation.cycle is not None
    wrong = replace(refutation, cycle=replace(refutation.cycle, back_to=2))
    with pytest.raises(InternalError, match="KMC909"):
        check_refutation(ring, problem, replace(violation, refutation=wrong))


def test_a_stem_that_takes_no_step_of_the_spec_is_refused(ring: Model) -> None:
    problem = eventually_three(*fairness(turn="WF", leave="WF"))
    violation = refuted(ring, problem)
    first, second, third = violation.trace.steps
    with pytest.raises(InternalError, match="KMC902"):
        check_refutation(
            ring, problem, replace(violation, trace=replace(violation.trace, steps=(second, first, third)))
        )


REDUCED = """
from kmc.spec import always_eventually, eventually, for_all

Seat = constant("Seat", IdentSet(symmetric=True), "Who sits there")


class State(Record):
    n: Int(0, 3)
    seen: Set[Seat]


@spec.init
def init():
    yield State(n=0, seen=Set())


@spec.action
def turn(st, seat: Seat):
    yield st.set(n=(st.n + 1) % 3, seen=st.seen.add(seat))


@spec.liveness
def Turns():
    return always_eventually(lambda st: st.n == 1)


@spec.liveness
def EmptySet():
    return for_all(range(1, 1), lambda n: eventually(lambda st: st.n == n))


spec.symmetry("seats", Seat)
spec.view("position", drop=["seen"])
"""


@pytest.mark.parametrize("reduction", ["SYMMETRY seats", "VIEW position"])
def test_a_reduction_is_refused_with_the_reason(reduction: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, REDUCED, f"CONSTANT Seat = {{a, b}} PROPERTY Turns {reduction}")
    with pytest.raises(ModelError, match="KMC352") as raised:
        accepted_problem(model)
    assert raised.value.exit_status is ExitStatus.MODEL_FILE
    assert raised.value.message.endswith(f"with {reduction.split()[1]}: Turns")
    assert "merges" in raised.value.notes[0]


def test_a_property_that_nothing_can_refute_is_refused(tmp_path: Path) -> None:
    model = model_of(tmp_path, REDUCED, "CONSTANT Seat = {a, b} PROPERTY Turns EmptySet")
    with pytest.raises(TautologyError, match="KMC353") as raised:
        accepted_problem(model)
    assert raised.value.exit_status is ExitStatus.LIVENESS_TAUTOLOGY
    assert raised.value.message.startswith("EmptySet is true of every behavior")


def test_a_model_without_temporal_properties_has_no_problem(ring: Model) -> None:
    assert accepted_problem(ring) is None
