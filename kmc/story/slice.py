"""The steps of a trace that matter: those without which the rest does not lead to the violation.

Found by trial: steps are omitted, alone and in groups, and the others are repeated from the same initial state: the
same actions, with the same arguments and messages. Steps that are no longer enabled are omitted too. A smaller trace
counts only if the replay accepts it as a run of the model, and it ends in the same failure. The result is minimal: no
single step of it can be left out. The work is bounded by the number of steps computed, so it does not depend on the
machine.

For a lasso, only the stem is sliced: it must lead to the same cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from kmc.actions.action import Action
from kmc.actions.relation import ActionInstance, NextStateRelation
from kmc.errors import InternalError, KmcError
from kmc.frontend.model import Model
from kmc.invariants.properties import holds
from kmc.lang.maps import MapValue
from kmc.lang.order import sort_key
from kmc.lang.records import Record, State
from kmc.reference.recurrence import RecordedFailure, recurs
from kmc.reference.states.replay import errors_at, replay
from kmc.reference.states.traces import trace_step
from kmc.result import Trace, TraceStep, Violation
from kmc.story.parts.story import Story
from kmc.trace.received import received_message

STEPS_MAX = 10_000
"""The number of steps computed to find out which matter. A trace of 60 states, all needed, uses some 2,000."""

_NOTE = "The violation happens without this step."


@dataclass(frozen=True, slots=True)
class Slice:
    """The numbers of the states whose steps matter, the first state's too; whether it is known to be minimal."""

    numbers: tuple[int, ...]
    is_minimal: bool


def sliced(story: Story, model: Model, violation: Violation) -> Story:
    """The story with the steps marked that do not matter, and with a note about the result."""
    kept_steps = slice_of(model, violation)
    if kept_steps is None:
        return story
    kept = set(kept_steps.numbers)
    steps = tuple(s if s.number in kept else replace(s, matters=False, note=_NOTE) for s in story.steps)
    return replace(story, steps=steps, notes=(*story.notes, *_notes(kept_steps, violation)))


def _notes(kept_steps: Slice, violation: Violation) -> Iterable[str]:
    length = len(violation.trace)
    dropped = length - len(kept_steps.numbers)
    has_cycle = violation.refutation is not None and violation.refutation.cycle is not None
    if dropped:
        do, them = ("does", "it") if dropped == 1 else ("do", "them")
        yield f"{dropped} of the {length - 1} steps {do} not matter: the violation happens without {them}."
    if not kept_steps.is_minimal:
        yield "Perhaps not all of the other steps matter: the search for a smaller trace was cut short."
    elif not dropped and length > 1 and not has_cycle:
        yield "Every step is needed for the violation."


def slice_of(model: Model, violation: Violation, steps_max: int = STEPS_MAX) -> Slice | None:
    """The steps of a trace that matter for its violation; None if they cannot be determined."""
    steps = violation.trace.steps
    refutation = violation.refutation
    if any(step.action is None for step in steps[1:]) or (refutation is not None and refutation.cycle is None):
        return None
    try:
        search = _Search(model, violation, steps_max)
        kept = search.minimal()
        if len(kept.numbers) < search.stem and not replays(model, violation, kept.steps):
            return None
    except (KmcError, RecursionError):
        return None
    cycle = range(search.stem + 1, len(steps) + 1)
    return Slice((*kept.numbers, *cycle), search.left > 0)


def replays(model: Model, violation: Violation, steps: Sequence[TraceStep]) -> bool:
    """Whether these steps, with the cycle of the violation, are a run of the model that fails in the same way."""
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    rest = violation.trace.steps[cycle.back_to - 1 :] if cycle is not None else ()
    whole = (*steps, *rest[1:])
    try:
        replay(model, Trace(whole), violation.trace.steps[0].state)
    except InternalError:
        return False
    loop = len(steps) - 1 if cycle is not None else None
    return fails_alike(model, violation, [step.state for step in whole], loop)


def fails_alike(model: Model, violation: Violation, states: Sequence[State], loop: int | None) -> bool:
    """Whether these states end in the failure of the violation."""
    error = violation.error
    if error is not None:
        return (error.code, error.span) in [(other.code, other.span) for other in errors_at(model, states[-1])]
    return recurs(model, RecordedFailure(violation.verdict, violation.name), states, loop)


@dataclass(frozen=True, slots=True)
class _Kept:
    """Steps that lead to the failure: the numbers of the states in the whole trace, and the steps as repeated."""

    numbers: tuple[int, ...]
    steps: tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A step to repeat: the instance, and its effect in the trace."""

    instance: ActionInstance
    before: Any
    after: Any


class _Search:
    """The search for a smaller trace; `left` is the number of steps that it may still compute."""

    def __init__(self, model: Model, violation: Violation, steps_max: int) -> None:
        spec = model.spec
        self.left = steps_max
        self._model = model
        self._violation = violation
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._actions = {action.title: action for action in spec.actions}
        self._taken: dict[tuple[Any, int], Any] = {}
        cycle = violation.refutation.cycle if violation.refutation is not None else None
        steps = violation.trace.steps
        self._cycle = [step.state for step in steps[cycle.back_to - 1 :]] if cycle is not None else []
        self.stem = cycle.back_to if cycle is not None else len(steps)
        self._steps = steps[: self.stem]
        self._wanted: dict[int, _Wanted] = {}
        for number, (before, step) in enumerate(zip(self._steps, self._steps[1:], strict=False), start=2):
            self._wanted[number] = _wanted(self._actions[step.action or ""], before.state, step)

    def minimal(self) -> _Kept:
        """The steps that remain when none can be left out any more, or when the budget of steps is used up."""
        kept = _Kept(tuple(range(1, self.stem + 1)), self._steps)
        size = max(1, (self.stem - 1) // 2)
        while self.left > 0:
            smaller = self._smaller(kept, size)
            if smaller is not None:
                kept = smaller
            elif size == 1:
                break
            else:
                size //= 2
        return kept

    def _smaller(self, kept: _Kept, size: int) -> _Kept | None:
        """The steps without some `size` of them, the first that still lead to the failure."""
        for begin in range(len(kept.numbers) - size, 0, -size if size > 1 else -1):
            smaller = self._without(kept, begin, begin + size)
            if smaller is not None:
                return smaller
            if self.left <= 0:
                return None
        return None

    def _without(self, kept: _Kept, begin: int, end: int) -> _Kept | None:
        """The steps that remain without those at these positions, and without those that depend on them."""
        kept_numbers, steps = list(kept.numbers[:begin]), list(kept.steps[:begin])
        for number in kept.numbers[end:]:
            step = self._take(steps[-1].state, number)
            if self.left <= 0:
                return None
            if step is not None:
                kept_numbers.append(number)
                steps.append(step)
        return _Kept(tuple(kept_numbers), tuple(steps)) if self._fails(steps) else None

    def _take(self, state: State, number: int) -> TraceStep | None:
        """The step to a state of the trace, from another state; None if it is not enabled."""
        wanted = self._wanted[number]
        key = (state, number)
        if key not in self._taken:
            self.left -= 1
            self._taken[key] = self._successor(wanted, state)
        after = self._taken[key]
        return None if after is None else trace_step((wanted.instance.action, wanted.instance.arguments, after))

    def _successor(self, wanted: _Wanted, state: State) -> State | None:
        instance, action = wanted.instance, wanted.instance.action
        if action.message is not None:
            there = getattr(state, action.network or "").deliverable(action.message)
            if instance.message not in there:
                return None
        try:
            successors = self._relation.successors(instance, state)
        except KmcError:
            return None
        if len(successors) < 2:
            return successors[0] if successors else None
        return max(successors, key=lambda other: (_alike(other, wanted.after), sort_key(other)))

    def _fails(self, steps: Sequence[TraceStep]) -> bool:
        states = [step.state for step in steps]
        if self._cycle:
            if states[-1] != self._cycle[0]:
                return False
            loop: int | None = len(states) - 1
            states += self._cycle[1:]
        else:
            loop = None
        if self._violation.is_step and (len(states) < 2 or steps[-1].action != self._steps[-1].action):
            return False
        return self._is_in_model(states) and fails_alike(self._model, self._violation, states, loop)

    def _is_in_model(self, states: Sequence[State]) -> bool:
        """Whether a search would come to the last state: all states before it are within the constraints."""
        files = self._model.spec.files
        return all(holds(c, files, state) for c in self._model.constraints for state in states[:-1]) and all(
            holds(c, files, *pair) for c in self._model.action_constraints for pair in pairwise(states[:-1])
        )


def _wanted(action: Action, before: Any, step: TraceStep) -> _Wanted:
    arguments = tuple(value for _, value in step.arguments)
    message = received_message(action, before, arguments, step.state)
    return _Wanted(ActionInstance(action, arguments, message), before, step.state)


def _alike(value: Any, wanted: Any) -> int:
    """The number of places in which two states agree: fields, and values of maps."""
    if isinstance(value, Record) and type(value) is type(wanted):
        return sum(_alike(field_value, getattr(wanted, name)) for name, field_value in value.items())
    if isinstance(value, MapValue) and isinstance(wanted, MapValue):
        return sum(_alike(value[key], wanted[key]) for key in value if key in wanted)
    return int(value == wanted)
