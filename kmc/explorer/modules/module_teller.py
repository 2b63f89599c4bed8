"""The story of a walk through a module: from the values of its variables, as those of its saved traces.

A module does not say which of its values are processes and messages, so they are recognized as in any trace file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from kmc.checking.modules.module_places import shown_place
from kmc.checking.modules.module_text import first_sentence
from kmc.checking.modules.module_trace_file import file_step
from kmc.lang.tla import Tla
from kmc.result import TraceStep
from kmc.story.from_file import FileTeller
from kmc.story.parts.notation import Notation
from kmc.story.parts.story import SentMessage, Story, StoryLoop, StoryStep, first_step
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.values.texts import tree_of
from kmc.trace.untyped_trace import FileStep

_RULER = re.compile(r"[-=*~#_]{3,}")
"""A line that is drawn in a comment."""


class ModuleTeller:
    """The `StoryTeller` of a trace of a module."""

    def __init__(self, program: ModuleProgram, states: Sequence[State]) -> None:
        self._program = program
        self._last: tuple[State | None, Mapping[str, Tla]] = (None, {})
        steps = [FileStep(self._variables(state)) for state in states]
        self._teller = FileTeller.of(program.model.variables, steps, Notation.TLA)

    @property
    def messages(self) -> Sequence[SentMessage]:
        """The messages of the states explained so far, by number."""
        return self._teller.messages

    def fork(self) -> ModuleTeller:
        """Return a teller of another continuation; it does not change the story of this one."""
        other = copy(self)
        other._teller = self._teller.fork()
        return other

    def knows_lanes_of(self, state: State) -> bool:
        """Return whether the story has all processes, and all sets of messages, that occur in a state."""
        return self._teller.knows(self._variables(state))

    def step(self, before: State | None, step: TraceStep, number: int, message: Any | None = None) -> StoryStep:
        """Return the step that leads from `before` to state `number`."""
        old = None if before is None else self._teller.with_functions(self._variables(before))
        action = self._program.model.definitions.get(step.action or "")
        told = self._teller.step(number, file_step(step, self._variables(step.state), action), old)
        if step.action is None:
            return first_step(told, {})
        doc = "" if action is None else " ".join(_RULER.sub(" ", first_sentence(action.comment)).split())
        place = "" if action is None else shown_place(action.place)
        return replace(told, label=step.label, doc=doc, place=place)

    def story(self, steps: Sequence[StoryStep], about: Mapping[str, str], loop: StoryLoop | None = None) -> Story:
        """Return the story of these steps, all of which this teller has explained."""
        first = first_step(steps[0], about) if steps[0].action is None else steps[0]
        return self._teller.story((first, *steps[1:]), about, loop)

    def _variables(self, state: State) -> Mapping[str, Tla]:
        """Return the variables of a state as trees; a value that the state before has too is the same tree."""
        last, variables = self._last
        if state is last:
            return variables
        names = self._program.model.variables
        before = last if last is not None else (None,) * len(names)
        trees = {
            name: variables[name] if value is old else tree_of(value)
            for name, value, old in zip(names, state, before, strict=True)
        }
        self._last = (state, trees)
        return trees
