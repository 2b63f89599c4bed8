"""Telling a trace: from states and steps of a spec to a story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from kmc.actions.action import Action
from kmc.frontend.loader import Spec
from kmc.frontend.source_place import source_place, spec_word
from kmc.lang.records import State
from kmc.lang.tla import Tla, encode
from kmc.result import Trace, TraceStep
from kmc.spec.variables import encode_state
from kmc.story.parts.changes import changes_between
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import Processes, columns_of, lane_name, table_for_people
from kmc.story.parts.majorities import Majority, majorities
from kmc.story.parts.network import Post, network_fields
from kmc.story.parts.story import Change, SentMessage, Story, StoryLoop, StoryStep, first_step
from kmc.trace.received import received_message


def tell(
    spec: Spec,
    trace: Trace,
    about: Mapping[str, str] | None = None,
    *,
    back_to: int | None = None,
    closing: TraceStep | None = None,
    fairness: tuple[str, ...] = (),
) -> Story:
    """The story of a trace of `spec` that the interpreter has replayed.

    `about` is that of its trace file. A lasso goes on with state `back_to`, by the step `closing`, or stutters.
    """
    teller = Teller(spec, [step.state for step in trace.steps])
    steps = [first_step(teller.step(None, trace.steps[0], 1), about or {})]
    for number, (before, step) in enumerate(zip(trace.steps, trace.steps[1:], strict=False), start=2):
        story_step = teller.step(before.state, step, number)
        steps.append(replace(story_step, majorities=teller.majorities(before.state, step)))
    loop = None
    if back_to is not None:
        last = teller.step(trace.steps[-1].state, closing, len(steps) + 1) if closing is not None else None
        loop = StoryLoop(back_to, last, fairness)
    return teller.story(steps, about or {}, loop)


class Teller:
    """Tells the steps of one trace in order. `fork` returns a teller of another continuation of the same trace."""

    def __init__(self, spec: Spec, states: Sequence[State]) -> None:
        """`states` are some of the trace: the processes of the story are those that occur in them."""
        self._spec = spec
        self._table = table_for_people(spec)
        self._processes = Processes(spec)
        self._lanes = self._processes.names_in(states)
        self._networks, self._archives = network_fields(spec)
        self.post = Post(self._table.naming, self._networks)
        self._actions = {action.title: action for action in spec.actions}
        self._last: tuple[Any, Mapping[str, Tla]] = (None, {})
        hidden = {*self._networks, *self._archives}
        self._compared = [variable.name for variable in self._table.variables if variable.field not in hidden]
        self._kept = [variable.name for variable in self._table.variables if variable.field in self._archives]

    @property
    def lanes(self) -> tuple[str, ...]:
        """The processes of the story."""
        return self._lanes

    @property
    def messages(self) -> Sequence[SentMessage]:
        """The messages of the states told so far."""
        return self.post.messages

    def fork(self) -> Teller:
        """A teller of another continuation of the trace; it does not change the story of this one."""
        other = copy(self)
        other.post = self.post.fork()
        return other

    def knows_lanes_of(self, state: State) -> bool:
        """Whether all processes that occur in a state are among those of the story."""
        return {*self._processes.names_in([state])} <= {*self._lanes}

    def story(self, steps: Sequence[StoryStep], about: Mapping[str, str], loop: StoryLoop | None = None) -> Story:
        """The story with these `steps`, all made by this teller."""
        of_lanes = self._processes.variables()
        names = {variable.field: variable.name for variable in self._table.variables}
        return Story(
            about=dict(about),
            variables=tuple(variable.name for variable in self._table.variables),
            lanes=self._lanes,
            columns=columns_of(self._spec, of_lanes, steps[0].variables),
            steps=tuple(steps),
            messages=tuple(self.post.messages),
            networks=tuple(names[field] for field in self._networks),
            archives=tuple(names[field] for field in self._archives),
            of_lane=of_lanes,
            loop=loop,
            spec_word=spec_word(self._spec.root),
        )

    def step(self, before: State | None, step: TraceStep, number: int, message: Any | None = None) -> StoryStep:
        """The step that leads from `before` to state `number`; `message` is the one that it receives, if that is
        known.
        """
        naming = self._table.naming
        action = self._actions.get(step.action or "")
        arguments = tuple((name, in_words(encode(value, naming))) for name, value in step.arguments)
        values = tuple(value for _, value in step.arguments)
        if before is not None and message is None:
            message = received_message(action, before, values, step.state)
        received, sent, lost = self.post.step(number, step.state, message)
        incoming = self.post.messages[received - 1] if received is not None else None
        old = self._variables(before) if before is not None else None
        variables = encode_state(step.state, self._table, None if old is None else (before, old))
        self._last = (step.state, variables)
        changes = self._changes(old, variables) if old is not None else ()
        return StoryStep(
            number=number,
            action=step.action,
            label=_label(step, number, arguments, incoming, action),
            arguments=arguments,
            actor=None
            if before is None
            else self._actor(incoming, [self.post.messages[n - 1] for n in sent], action, values),
            received=received,
            sent=sent,
            lost=lost,
            changes=changes,
            doc=action.doc.split("\n")[0] if action is not None else "",
            place=source_place(action.span if action is not None else None),
            variables=variables,
        )

    def majorities(self, before: Any, step: TraceStep) -> tuple[str, ...]:
        """The votes that a step counted as a majority, a line for each: `n1, n4 of n1, n3, n4`."""
        action = self._actions.get(step.action or "")
        if action is None:
            return ()
        values = tuple(value for _, value in step.arguments)
        message = received_message(action, before, values, step.state)
        if action.message is not None and message is None:
            return ()
        counted = majorities(self._spec, action, before, message, values, step.state)
        return tuple(map(self._majority, counted))

    def _majority(self, majority: Majority) -> str:
        counted, ensemble = (", ".join(lane_name(one, self._table.naming) for one in ones)
                             for ones in (majority.counted, majority.ensemble or ()))  # fmt: skip
        asked = "".join(f" ({name} {value})" for name, value in majority.asked)
        return f"{counted}{f' of {ensemble}' if ensemble else ''}{asked}"

    def _actor(
        self, received: SentMessage | None, sent: Sequence[SentMessage], action: Action | None, values: tuple[Any, ...]
    ) -> str | None:
        """Return the receiver, else the sender, else the first process among the arguments."""
        if received is not None and received.dest is not None:
            return received.dest
        sources = {message.source for message in sent}
        if len(sources) == 1 and None not in sources:
            return sent[0].source
        # A field that names the sender does not name the receiver.
        sender = received.source if received is not None else None
        for value, parameter in zip_longest(values, action.parameters[: len(values)] if action is not None else ()):
            name = lane_name(value, self._table.naming)
            is_field = parameter is not None and parameter.message_field is not None
            is_process = self._processes.holds(value, parameter.type if parameter is not None else None)
            if is_process and name in self._lanes and not (is_field and name == sender):
                return name
        return None

    def _variables(self, state: State) -> Mapping[str, Tla]:
        """The variables of a state, which is mostly the one of the last step."""
        last, variables = self._last
        return variables if last is state else encode_state(state, self._table)

    def _changes(self, old: Mapping[str, Tla], new: Mapping[str, Tla]) -> tuple[Change, ...]:
        """The changes of a step; an archive grows with every delivery, so only removals from it are changes."""
        kept = changes_between(old, new, self._kept, self._processes.at)
        return (*changes_between(old, new, self._compared, self._processes.at), *(c for c in kept if c.new is None))


def _label(
    step: TraceStep,
    number: int,
    arguments: tuple[tuple[str, str], ...],
    received: SentMessage | None,
    action: Action | None,
) -> str:
    if step.action is None:
        return "Initial state" if number == 1 else step.label
    if received is None or action is None:
        return _with_arguments(step.action, [value for _, value in arguments])
    # The message says the others itself.
    free = {parameter.name for parameter in action.parameters if parameter.message_field is None}
    head = _with_arguments(step.action, [value for name, value in arguments if name in free])
    return head + received.brief.removeprefix(received.kind)


def _with_arguments(action: str, values: Sequence[str]) -> str:
    return f"{action}({', '.join(values)})" if values else action
