"""The trace of a violation in Python: states as values of the spec, numbered from 1 as TLC and the command line do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kmc.errors import CommandLineError
from kmc.lang.records import State
from kmc.result import Trace, TraceStep


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A step: the action, its arguments by name, and the state that it leads to.

    `label` is `BecomeLeader(n1)`. The first step of a trace has no action.
    """

    action: str | None
    arguments: Mapping[str, Any]
    label: str
    state: State

    @staticmethod
    def of(step: TraceStep) -> StepTaken:
        """The step of a trace."""
        return StepTaken(step.action, MappingProxyType(dict(step.arguments)), step.label, step.state)

    def __repr__(self) -> str:
        return f"<step {self.label}>"


class TraceStates:
    """The states of a trace. `trace[1]` is the initial state and `trace[-1]` the last; `steps` say how each came."""

    def __init__(self, trace: Trace, back_to: int | None = None) -> None:
        self._steps = tuple(StepTaken.of(step) for step in trace.steps)
        self._back_to = back_to

    @property
    def steps(self) -> tuple[StepTaken, ...]:
        """The steps, that to the initial state included: `steps[0]` leads to `trace[1]`."""
        return self._steps

    @property
    def labels(self) -> tuple[str, ...]:
        """The actions taken, one a state after the first: `BecomeLeader(n1)`."""
        return tuple(step.label for step in self._steps[1:])

    @property
    def back_to(self) -> int | None:
        """The number of the state that comes after the last one, in a behaviour that goes on for ever."""
        return self._back_to

    def __getitem__(self, number: int) -> State:
        count = len(self._steps)
        if type(number) is not int:
            raise CommandLineError("KMC693", f"a trace has no state {number!r}", help="for several: list(trace)[4:7]")
        if number == 0 or abs(number) > count:
            states = f"states 1 to {count}" if count > 1 else "state 1 only"
            raise IndexError(f"the trace has {states}, not {number}; states are numbered from 1, as TLC does")
        return self._steps[number - 1 if number > 0 else number].state

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[State]:
        return (step.state for step in self._steps)

    def __repr__(self) -> str:
        return f"<trace of {len(self)} state{'s' * (len(self) != 1)}>"
