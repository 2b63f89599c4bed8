"""A recorded trace, repeated step by step by a spec as it is now: how far it holds, and why it stops.

Recorded and present states are compared as TLA+ values, in the variables that both have, so a spec whose state has
changed can still be followed as far as its behaviour has not. A spec that has changed is not a mistake: the answer
is data, never an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from kmc.actions.action import Action, Arguments
from kmc.actions.relation import NextStateRelation, Step
from kmc.errors import KmcError, TraceError
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.lang.tla import Tla, encode
from kmc.near_words import nearest
from kmc.reference.recurrence import RecordedFailure, recurs
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import Trace, TraceStep
from kmc.spec.variables import VariableTable, decode_state, encode_state
from kmc.story.explain.obstacles import stopped_by, without_message
from kmc.story.parts.changes import changes_between
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import Processes, table_for_people
from kmc.story.parts.story import Change
from kmc.trace.files import GIVEN, arguments_of, resolved
from kmc.trace.trees import identity
from kmc.trace.untyped_trace import UNNAMED, FileStep, TraceFile

_DIFFERENCES_MAX = 8
_OBSTACLES_MAX = 3


class StopReason(Enum):
    """The reason why a step of a recorded trace no longer holds; the values are those of `kmc replay --json`."""

    NOT_INITIAL = "not an initial state"
    NO_ACTION = "no such action"
    OTHER_PARAMETERS = "other parameters"
    NOT_ENABLED = "not enabled"
    LEADS_ELSEWHERE = "leads elsewhere"


@dataclass(frozen=True, slots=True)
class Stop:
    """The first step that no longer holds: the one to state `number`, counted from 1.

    `details` are further facts, a line each. `before` is the state before the step, `action` and `arguments` the
    instance, as far as the spec has them.
    """

    number: int
    reason: StopReason
    sentence: str
    details: tuple[str, ...] = ()
    before: State | None = None
    action: Action | None = None
    arguments: Arguments = ()


@dataclass(frozen=True, slots=True)
class Retaken:
    """The steps of a recorded trace that hold now, and where it stops, if it does.

    `loop` is the index of the state to which the behaviour returns by `closing`, once all steps hold. `notes` are
    sentences about what was not compared. `shows` is whether the recorded failure is there; None without one.
    """

    steps: tuple[TraceStep, ...]
    stop: Stop | None
    loop: int | None = None
    closing: TraceStep | None = None
    notes: tuple[str, ...] = ()
    shows: bool | None = None

    @property
    def states(self) -> list[State]:
        """The states reached."""
        return [step.state for step in self.steps]

    @property
    def trace(self) -> Trace:
        """The steps as a trace."""
        return Trace(self.steps)


def retake(file: TraceFile, model: Model, failure: RecordedFailure | None = None) -> Retaken:
    """Take the steps of a recorded trace again, as the spec of `model` allows them now.

    If the trace allows several runs, because the spec has new variables, one that shows `failure` is preferred. Raises
    TraceError KMC429 for a trace that shares no variable with the spec, and EvaluationError if an action fails.
    """
    taker = _Taker(resolved(file, model.spec), model)
    runs, stop = taker.runs()
    notes = tuple(taker.notes())
    if stop is not None:
        return Retaken(tuple(runs[0]) if runs else (), stop, notes=notes)
    closed = [_closed(taker, run, file.loop, notes) for run in runs]
    if failure is None:
        return closed[0]
    shown = [replace(run, shows=_shows(model, failure, run)) for run in closed]
    return next((run for run in shown if run.shows), next((run for run in shown if run.stop is None), shown[0]))


def _closed(taker: _Taker, run: list[TraceStep], loop: int | None, notes: tuple[str, ...]) -> Retaken:
    if loop is None or loop == len(run) - 1:
        return Retaken(tuple(run), None, loop, notes=notes)
    taken = taker.closing_step(run[-1].state, run[loop].state)
    if isinstance(taken, Stop):
        return Retaken(tuple(run), taken, notes=notes)
    return Retaken(tuple(run), None, loop, taken, notes)


def _shows(model: Model, failure: RecordedFailure, run: Retaken) -> bool:
    return run.stop is None and recurs(model, failure, run.states, run.loop)


class _Taker:
    """Takes the steps of one recorded trace, in order."""

    def __init__(self, file: TraceFile, model: Model) -> None:
        self._file = file
        self._model = model
        self._spec = model.spec
        self._shown = table_for_people(model.spec)
        names = [variable.name for variable in model.spec.variables.variables]
        self._names = [name for name in names if name in file.variables]
        self._new = [name for name in names if name not in file.variables]
        if not self._names:
            raise TraceError(
                "KMC429",
                f"{file.shown_path} has no variable of the spec '{model.spec.name}'",
                help=f"name the spec that it belongs to; its variables are {', '.join(file.variables)}",
            )

    def notes(self) -> Iterator[str]:
        """The variables that were not compared, in sentences."""
        gone = [name for name in self._file.variables if name not in self._names]
        if gone:
            yield f"Not compared, since the spec does not have them: {', '.join(gone)}."
        if self._new:
            yield f"Not compared, since the trace does not have them: {', '.join(self._new)}."

    def runs(self) -> tuple[list[list[TraceStep]], Stop | None]:
        """The runs that show the recorded states, up to the first step that is enabled in none of them."""
        recorded = [self._recorded(step) for step in self._file.steps]
        beginnings = self._beginnings()
        runs = [[TraceStep(state)] for state in dict.fromkeys(beginnings) if self._matches(state, recorded[0])]
        if not runs:
            details = self._differences(beginnings, recorded[0])
            return [], Stop(
                1, StopReason.NOT_INITIAL, "State 1 of the trace is not an initial state any more.", details
            )
        for number, (step, wanted) in enumerate(zip(self._file.steps[1:], recorded[1:], strict=True), start=2):
            longer: dict[Any, list[TraceStep]] = {}
            stops: list[Stop] = []
            for run in runs:
                taken = self._steps(run[-1].state, step, wanted, number)
                if isinstance(taken, Stop):
                    stops.append(taken)
                else:
                    longer = {trace_step.state: [*run, trace_step] for trace_step in taken} | longer
            if not longer:
                return runs, stops[0]
            runs = list(longer.values())
        return runs, None

    def _beginnings(self) -> list[State]:
        """The states in which a trace may begin: the initial states, or the first state of a trace whose start was
        given.
        """
        if self._file.about.get("start") == GIVEN:
            with suppress(KmcError):
                first = self._file.steps[0].variables
                return [decode_state(first, self._spec.state_class, self._spec.variables)]
        return initial_states(self._model)

    def closing_step(self, last: Any, target: Any) -> TraceStep | Stop:
        """The step that closes the cycle of a lasso, or why there is none."""
        wanted = encode_state(target, self._spec.variables)
        taken = self._steps(last, self._file.closing or FileStep({}), wanted, len(self._file.steps) + 1)
        if isinstance(taken, Stop):
            return taken
        return next((step for step in taken if step.state == target), taken[0])

    def _recorded(self, step: FileStep) -> Mapping[str, Tla]:
        """The variables of a recorded state, as the spec writes them where it can read them."""
        try:
            state = decode_state(step.variables, self._spec.state_class, self._spec.variables)
        except KmcError:
            return step.variables
        return encode_state(state, self._spec.variables)

    def _matches(self, state: State, wanted: Mapping[str, Tla]) -> bool:
        present = encode_state(state, self._spec.variables)
        return all(identity(present[name]) == identity(wanted[name]) for name in self._names)

    def _steps(self, before: Any, step: FileStep, wanted: Mapping[str, Tla], number: int) -> list[TraceStep] | Stop:
        actions = {action.title: action for action in self._spec.actions}
        title = step.action
        if title is None or (title in (UNNAMED, self._spec.next_name) and title not in actions):
            return self._any_step(before, wanted, number)
        action = actions.get(title)
        if action is None:
            sentence = f"Step {number}: the spec has no action {title}."
            details = (known_actions(title, actions), *self._instead(before, wanted))
            return Stop(number, StopReason.NO_ACTION, sentence, details, before)
        try:
            arguments = arguments_of(step, action, self._spec)
        except TraceError as error:
            sentence = f"Step {number}: {error.message}."
            return Stop(number, StopReason.OTHER_PARAMETERS, sentence, self._instead(before, wanted), before, action)
        return self._instance(before, action, arguments, wanted, number)

    def _instance(
        self, before: Any, action: Action, arguments: Arguments, wanted: Mapping[str, Tla], number: int
    ) -> list[TraceStep] | Stop:
        steps = [step for step in steps_of(self._model, before, action) if step[1] == arguments]
        taken = self._fitting(steps, wanted)
        if taken:
            return taken
        label = label_for_people(action, arguments, self._shown)
        if not steps:
            sentence = f"Step {number}: {label} is not enabled in state {number - 1} any more."
            reason = StopReason.NOT_ENABLED
            details = (*obstacles_to(self._model, before, action, arguments), *self._instead(before, wanted))
        else:
            sentence = f"Step {number}: {label} leads to another state now."
            reason, details = StopReason.LEADS_ELSEWHERE, self._differences([step[2] for step in steps], wanted)
        return Stop(number, reason, sentence, details, before, action, arguments)

    def _any_step(self, before: Any, wanted: Mapping[str, Tla], number: int) -> list[TraceStep] | Stop:
        steps = list(steps_of(self._model, before))
        taken = self._fitting(steps, wanted)
        if taken:
            return taken
        sentence = f"Step {number}: no action of the spec leads from state {number - 1} to it."
        details = self._differences([step[2] for step in steps], wanted)
        return Stop(number, StopReason.LEADS_ELSEWHERE, sentence, details, before)

    def _fitting(self, steps: list[Step], wanted: Mapping[str, Tla]) -> list[TraceStep]:
        """The steps that lead to the recorded state, in display order, one for each successor."""
        relation = _relation(self._model)
        fitting = sorted((step for step in steps if self._matches(step[2], wanted)), key=relation.display_key)
        return list({step[2]: trace_step(step) for step in reversed(fitting)}.values())[::-1]

    def _instead(self, before: Any, wanted: Mapping[str, Tla]) -> tuple[str, ...]:
        """The actions that lead to the recorded state instead."""
        steps = [step for step in steps_of(self._model, before) if self._matches(step[2], wanted)]
        labels = dict.fromkeys(label_for_people(action, arguments, self._shown) for action, arguments, _ in steps)
        return (f"The same state is reached by {' and by '.join(labels)}.",) if labels else ()

    def _differences(self, present: list[State], wanted: Mapping[str, Tla]) -> tuple[str, ...]:
        """The differences of the nearest of some states from the recorded one, at most eight lines."""
        of_trace = self._for_people(wanted)
        states = list(dict.fromkeys(present))
        lane_at = Processes(self._spec).at
        differences = [
            changes_between(of_trace, encode_state(state, self._shown), self._names, lane_at) for state in states
        ]
        changes: Sequence[Change] = min(differences, key=len, default=())
        lines = [f"{c.place}: {c.old or 'nothing'} in the trace, {c.new or 'nothing'} now" for c in changes]
        more = len(lines) - _DIFFERENCES_MAX
        return (*lines[:_DIFFERENCES_MAX], *([f"... and {more} more"] if more > 0 else []))

    def _for_people(self, wanted: Mapping[str, Tla]) -> dict[str, Tla]:
        try:
            state = decode_state(wanted, self._spec.state_class, self._spec.variables)
        except KmcError:
            return {name: wanted[name] for name in self._names}
        return {name: tree for name, tree in encode_state(state, self._shown).items() if name in self._names}


def obstacles_to(model: Model, state: State, action: Action, arguments: Arguments) -> tuple[str, ...]:
    """Explain why an action with these arguments is not enabled: a sentence for each guard, with its place."""
    instances = [
        instance
        for instance in _relation(model, action).instances(state)
        if instance.action.title == action.title and instance.arguments == arguments
    ]
    obstacles = [stopped_by(model, state, instance) for instance in instances]
    if not obstacles and action.message is not None:
        obstacles = [without_message(action)]
    sentences = (f"Why: {one.sentence}{f' ({one.place})' if one.place else ''}." for one in obstacles)
    return tuple(dict.fromkeys(sentences))[:_OBSTACLES_MAX]


def steps_of(model: Model, state: State, *actions: Action) -> Iterator[Step]:
    """The steps from `state`, by all actions or by some, a step of several ways once."""
    yield from dict.fromkeys(_relation(model, *actions).steps(state))


def label_for_people(action: Action, arguments: Arguments, table: VariableTable) -> str:
    """`BecomeLeader(s3)`: an action with its arguments, as views write them."""
    shown = ", ".join(in_words(encode(value, table.naming)) for value in arguments)
    return f"{action.title}({shown})" if shown else action.title


def _relation(model: Model, *actions: Action) -> NextStateRelation:
    spec = model.spec
    return NextStateRelation(actions or spec.actions, spec.state_class, spec.files)


def known_actions(title: str, actions: Iterable[str]) -> str:
    """The action that a title was most likely meant to be, or all."""
    near = nearest(title, actions)
    return f"Did you mean {near}?" if near else f"Its actions are {', '.join(actions)}."
