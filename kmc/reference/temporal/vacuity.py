"""Properties that hold because their premise never does, and specifications that no behaviour satisfies.

Invariant: this is said of a property only where it is so in everything that the search went through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, of_role
from kmc.invariants.properties import InvariantPremise
from kmc.invariants.tautologies import tautology
from kmc.liveness.lasso_queries import LassoQuery, Phase
from kmc.liveness.problem import Premise, TemporalProblem
from kmc.reference.temporal.lasso_finder import LassoFinder, LassosUnfinished, is_answered
from kmc.result import PropertyVerdict, Vacuity, Violation


class Dropping(Enum):
    """The steps of the spec that a behaviour graph lacks."""

    NOTHING = "none"
    BY_CONSTRAINT = "those that a constraint drops"
    BY_BOUND = "those beyond a bound, which are not known"

    @classmethod
    def of(cls, *, stopped: bool, cut: bool) -> Dropping:
        """The steps that a search lacks if a bound `stopped` it, or if constraints `cut` steps."""
        return cls.BY_BOUND if stopped else cls.BY_CONSTRAINT if cut else cls.NOTHING


def vacuous_in(
    model: Model, violation: Violation | None, temporal: tuple[Vacuity, ...], untrue: tuple[InvariantPremise, ...]
) -> tuple[Vacuity, ...]:
    """The vacuous properties of a result: those that no state can make false, those with an `untrue` premise, which no
    state satisfied, and the `temporal` ones.

    Empty if there is a `violation`.
    """
    if violation is not None:
        return ()
    types = model.spec.state_class.fields
    checked = ((prop, kind.states) for kind in of_role(Role.CHECKED) for prop in model.of(kind))
    reasons = ((prop.name, tautology(prop, types, states)) for prop, states in checked)
    always = {name: Vacuity(name, f"{name} checks nothing: {why}") for name, why in reasons if why is not None}
    return (*always.values(), *_without_premise([each for each in untrue if each.invariant not in always]), *temporal)


def _without_premise(untrue: Sequence[InvariantPremise]) -> Iterator[Vacuity]:
    """The outermost of the premises that no state satisfied, since those inside them were not evaluated."""
    names = {premise.name for premise in untrue}
    for premise in untrue:
        if names.isdisjoint(premise.within):
            why = f"an implication asks for nothing, since its premise is never true: {premise.doc} ({premise.place})"
            yield Vacuity(premise.invariant, f"In {premise.invariant}, {why}", is_of_part=True)


def vacuous_properties(
    problem: TemporalProblem, finder: LassoFinder, verdicts: Sequence[PropertyVerdict], dropping: Dropping
) -> tuple[Vacuity, ...]:
    """The temporal properties that no behaviour can violate; empty where time ends before that is known.

    `verdicts` are those on the temporal properties; where one is violated, there is a fair behaviour, and nothing is
    said. `dropping` says which steps are not in the graph: where a search was cut short, a fair behaviour may lie
    beyond.
    """
    if any(prop.verdict == "violated" for prop in verdicts):
        return ()
    try:
        if _is_empty(problem, finder, dropping):
            within = " among the steps that the constraints leave" if dropping is Dropping.BY_CONSTRAINT else ""
            why = f"No behavior satisfies the specification{within}: its fairness cannot be met"
            return (Vacuity(problem.specification, why, is_of_all=True),)
        held = {prop.name for prop in verdicts if prop.verdict == "holds"}
        within = " in the states explored" if dropping is Dropping.BY_BOUND else ""
        return tuple(_vacuous(problem, finder, held, within))
    except LassosUnfinished:
        return ()


def _is_empty(problem: TemporalProblem, finder: LassoFinder, dropping: Dropping) -> bool:
    """Whether no behaviour satisfies the specification: fairness of steps that a constraint drops, or beside Next."""
    may_be = dropping is Dropping.BY_CONSTRAINT or (dropping is Dropping.NOTHING and not problem.is_realizable)
    return may_be and not finder.has_lasso(LassoQuery((Phase(),)))


def _vacuous(problem: TemporalProblem, finder: LassoFinder, held: set[str], within: str) -> Iterator[Vacuity]:
    for premise in problem.premises:
        if premise.name in held and not any(is_answered(query, finder) for query in premise.queries):
            yield Vacuity(premise.name, f"{premise.name} asks for nothing{within}: {_never(premise)}")


def _never(premise: Premise) -> str:
    if premise.instances == 1:
        return f"its left side is never true: {premise.text}"
    return f"its left side is never true of any of its {premise.instances} instances, such as {premise.text}"
