"""The queries of a search for a counterexample: sets of states and steps, conditions of fairness, and phases of a
lasso.

A temporal property is negated, and its negation becomes a few queries. A lasso that answers one of them, and is fair,
is a counterexample. Queries know no engine: states and steps are described by the bits that a `BehaviourGraph` holds.

Terms: a lasso is a stem and a cycle. A step is a pair of states that differ. A behaviour may also stutter in a state
for ever; that is a cycle without steps. A label is the number of an action instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

# Sets of states


@dataclass(frozen=True, slots=True)
class AtomHolds:
    """The states in which state predicate `number` of the problem is true."""

    number: int


@dataclass(frozen=True, slots=True)
class HasStep:
    """The states with a generated step in `steps`, whether or not a constraint drops it: ENABLED <<A>>_v."""

    steps: StepSet


@dataclass(frozen=True, slots=True)
class AllStates:
    """TRUE."""


@dataclass(frozen=True, slots=True)
class NotStates:
    """The states outside of a set."""

    states: StateSet


@dataclass(frozen=True, slots=True)
class AndStates:
    """The states in all of the sets."""

    parts: tuple[StateSet, ...]


@dataclass(frozen=True, slots=True)
class OrStates:
    """The states in any of the sets."""

    parts: tuple[StateSet, ...]


StateSet: TypeAlias = AtomHolds | HasStep | AllStates | NotStates | AndStates | OrStates

# Sets of steps


@dataclass(frozen=True, slots=True)
class Labelled:
    """The pairs of states that some generated step with one of these labels joins.

    A pair belongs to every action instance that allows it: where two instances generate the same pair, it has both
    labels.
    """

    labels: frozenset[int]


@dataclass(frozen=True, slots=True)
class StepAtomHolds:
    """The pairs of states for which step predicate `number` of the problem is true."""

    number: int


@dataclass(frozen=True, slots=True)
class Changing:
    """The pairs of different states: those that change `vars`. Another subscript is a step predicate."""


@dataclass(frozen=True, slots=True)
class From:
    """The steps from a state of a set."""

    states: StateSet


@dataclass(frozen=True, slots=True)
class Into:
    """The steps into a state of a set."""

    states: StateSet


@dataclass(frozen=True, slots=True)
class AllSteps:
    """TRUE."""


@dataclass(frozen=True, slots=True)
class NotSteps:
    """The pairs outside of a set."""

    steps: StepSet


@dataclass(frozen=True, slots=True)
class AndSteps:
    """The pairs in all of the sets."""

    parts: tuple[StepSet, ...]


@dataclass(frozen=True, slots=True)
class OrSteps:
    """The pairs in any of the sets."""

    parts: tuple[StepSet, ...]


StepSet: TypeAlias = Labelled | StepAtomHolds | Changing | From | Into | AllSteps | NotSteps | AndSteps | OrSteps

NO_STATES = NotStates(AllStates())
NO_STEPS = NotSteps(AllSteps())


# Conditions on a cycle


@dataclass(frozen=True, slots=True)
class Recurrence:
    """[]<>: the cycle has a state of `states`, or a step of `steps`."""

    states: StateSet = NO_STATES
    steps: StepSet = NO_STEPS


@dataclass(frozen=True, slots=True)
class Response:
    """If the cycle has a state of `trigger`, it satisfies `answer`: a Streett pair."""

    trigger: StateSet
    answer: Recurrence


@dataclass(frozen=True, slots=True)
class FairnessCondition:
    """WF or SF of a set of steps, all of which change the subscript: `steps` is <<A>>_v.

    Weak: the cycle has a state without such a step, or takes one. Strong: no state of the cycle has one, or it takes
    one. `name` is for people, `WF_vars(BecomeLeader(n1))`; `group` names those that are shown together. `enabled` are
    the states with such a step where the steps of the graph are not all that count.
    """

    name: str
    group: str
    strong: bool
    steps: StepSet
    enabled: StateSet | None = None

    @property
    def enabling(self) -> StateSet:
        """The states in which a step of `steps` is possible."""
        return HasStep(self.steps) if self.enabled is None else self.enabled

    @property
    def condition(self) -> Recurrence | Response:
        """The condition that fairness puts on a cycle."""
        if self.strong:
            return Response(self.enabling, Recurrence(steps=self.steps))
        return Recurrence(NotStates(self.enabling), self.steps)


# Lassos


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a behaviour, of at least one state.

    Its first state is in `enters_at`; all its states are in `states`, and its steps, between two states of this phase,
    in `steps`. Stuttering is allowed in every phase. `entered_by` holds for the step from the phase before, whose
    first state is the last state of that phase; the first phase begins with the behaviour. `entered_by` is never met by
    stuttering: two phases meet in two different states.
    """

    enters_at: StateSet = field(default_factory=AllStates)
    states: StateSet = field(default_factory=AllStates)
    steps: StepSet = field(default_factory=AllSteps)
    entered_by: StepSet = field(default_factory=AllSteps)


@dataclass(frozen=True, slots=True)
class LassoQuery:
    """Is there a behaviour that goes through `phases` in this order and stays in the last, whose cycle meets all
    conditions, and which is fair?
    """

    phases: tuple[Phase, ...]
    recurrences: tuple[Recurrence, ...] = ()
    responses: tuple[Response, ...] = ()

    @property
    def is_of_prefixes(self) -> bool:
        """Whether every continuation of a behaviour that enters the last phase answers it: a safety property."""
        last = self.phases[-1]
        unbound = isinstance(last.states, AllStates) and isinstance(last.steps, AllSteps)
        return unbound and not self.recurrences and not self.responses


@dataclass(frozen=True, slots=True)
class TemporalCheck:
    """One property, or one instance of it: `queries` together are its negation. `instance` is `v = v1`, or empty."""

    name: str
    instance: str
    queries: tuple[LassoQuery, ...]
