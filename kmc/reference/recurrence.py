"""Whether a run of states shows a failure that a trace recorded, by the spec as it is now.

Unlike `kmc.reference.states.replay`, which validates a search's new counterexample, nothing here is a mistake of kmc: a
spec that has changed may well no longer fail. The answer is by definition, from the states of the run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kmc.actions.relation import NextStateRelation
from kmc.errors import TraceError, did_you_mean
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.invariants.kinds import Role, of_role
from kmc.invariants.properties import Predicate, Refinement, begins_as_refined, holds
from kmc.lang.records import State
from kmc.liveness.formulas import TemporalProperty
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.reference.states.replay import errors_at
from kmc.reference.temporal.lasso_replay import generated_steps, is_bad_prefix
from kmc.result import Verdict

_CHECKED = tuple(kind.declared for kind in of_role(Role.CHECKED))


@dataclass(frozen=True, slots=True)
class RecordedFailure:
    """The failure that a saved trace shows: the verdict of its check, and the property, if one failed."""

    verdict: Verdict
    name: str | None

    @property
    def sentence(self) -> str:
        """The failure as text for people: `NoTwoLeaders fails`, `the last state is a deadlock`."""
        if self.name is not None:
            return f"{self.name} fails"
        return "the last state is a deadlock" if self.verdict is Verdict.DEADLOCK else "an error occurs"

    @property
    def absence(self) -> str:
        """The text for people when the failure is no longer there."""
        if self.name is not None:
            return f"{self.name} holds"
        return "the last state has a successor" if self.verdict is Verdict.DEADLOCK else "no error occurs"


def recurs(model: Model, failure: RecordedFailure, states: Sequence[State], loop: int | None) -> bool:
    """Whether a run of `model` shows `failure` at its end; a lasso goes on with the state at the index `loop`.

    Raises TraceError KMC428 for a property that the spec does not have, and the errors of its evaluation.
    """
    if failure.name is not None:
        return fails_at_end(model, failure.name, states, loop)
    if failure.verdict is Verdict.DEADLOCK:
        return not any(True for _ in _relation(model).steps(states[-1]))
    return any(True for _ in errors_at(model, states[-1]))


def fails_at_end(model: Model, name: str, states: Sequence[State], loop: int | None) -> bool:
    """Whether the property `name` fails at the end of a run, or of the behaviour that goes on at index `loop`."""
    prop = property_called(model, name)
    if isinstance(prop, TemporalProperty):
        return _is_refuted(model, prop, states, loop)
    if isinstance(prop, Refinement) and len(states) == 1:
        return not begins_as_refined(prop, model.spec.files, states[0])
    (kind,) = (kind for kind in of_role(Role.CHECKED) if isinstance(prop, kind.declared))
    return len(states) >= kind.states and not holds(prop, model.spec.files, *states[-kind.states :])


def property_called(model: Model, name: str) -> Predicate | TemporalProperty:
    """The property that a check can find violated; TraceError KMC428 if the spec has none of this name."""
    declared = model.spec.properties
    known = {name: each for name, each in declared.items() if isinstance(each, (*_CHECKED, TemporalProperty))}
    prop = known.get(name)
    if not isinstance(prop, Predicate | TemporalProperty):
        raise TraceError("KMC428", f"the spec has no property '{name}'", help=did_you_mean(name, known))
    return prop


def _is_refuted(model: Model, prop: TemporalProperty, states: Sequence[State], loop: int | None) -> bool:
    """Whether a fair behaviour, or with no `loop` any that begins with these states, refutes a temporal property."""
    problem = problem_of(replace(model, temporal=(prop,)))
    behaviour = EndlessBehaviour(states, len(states) - 1 if loop is None else loop, generated_steps(model))
    if loop is not None and not all(map(behaviour.satisfies, problem.assumed)):
        return False
    # States without a cycle refute no promise that a later state may keep.
    is_final = loop is not None or is_bad_prefix(model, problem, list(states))
    return is_final and not all(map(behaviour.satisfies, problem.formulas))


def _relation(model: Model) -> NextStateRelation:
    return NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
