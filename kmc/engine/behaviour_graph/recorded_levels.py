"""The levels that a search has recorded so far: the steps of some states, as a graph of their own.

Invariant: parts follow the order of their states and have the steps of all that were expanded. `starts` and
`state_bits` also have the next level, which is not expanded yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph

Numbers = NDArray[np.uint32]

_ELSEWHERE = 1 << 33
"""Added to the number of a state that is not a source, so that it is none of the sources' places."""


@dataclass(slots=True)
class StepPart:
    """The steps of some states in a row, in memory that is written once. `counts`: the number of steps of each
    state.
    """

    first: int
    counts: NDArray[np.uint32]
    targets: NDArray[Any]
    labels: NDArray[Any]
    bits: NDArray[Any]


@dataclass(frozen=True, slots=True)
class StepsOfStates:
    """`graph` has some states, numbered by their place, and their steps; a target that is another state is not in it.

    Targets by number are `targets`, and `sources` are places.
    """

    graph: BehaviourGraph
    sources: NDArray[np.intp]
    targets: Numbers


@dataclass(slots=True)
class RecordedLevels:
    """`starts`: the number of the first state of each level, then the number of states. A row of bits per state."""

    starts: list[int] = field(default_factory=lambda: [0])
    state_bits: list[NDArray[Any]] = field(default_factory=list)
    parts: list[StepPart] = field(default_factory=list)

    def of_states(self, states: Numbers) -> BehaviourGraph:
        """Some states in ascending order, without steps."""
        return self._graph(states, np.zeros(len(states), np.int64), *(part[:0] for part in self._no_steps()))

    def with_steps(self, states: Numbers) -> StepsOfStates:
        """Some expanded states in ascending order, with their steps."""
        rows_of_parts = list(self._rows(states))
        degrees = np.concatenate([np.zeros(0, np.int64), *(rows[0] for rows in rows_of_parts)])
        targets, labels, bits = (
            np.concatenate([empty, *(rows[column] for rows in rows_of_parts)])
            for column, empty in enumerate(self._no_steps(), 1)
        )
        sources = np.repeat(np.arange(len(states)), degrees)
        local_targets = np.where(targets == OUTSIDE, np.int64(OUTSIDE), targets.astype(np.int64) + _ELSEWHERE)
        local_targets = np.where(targets == states[sources], sources, local_targets)
        return StepsOfStates(self._graph(states, degrees, local_targets, labels, bits), sources, targets)

    def _graph(self, states: Numbers, degrees: Any, targets: Any, labels: Any, bits: Any) -> BehaviourGraph:
        return BehaviourGraph(
            level_starts=np.array([0, len(states)], np.int64),
            expanded=len(states),
            offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(degrees, dtype=np.int64))),
            targets=targets,
            labels=labels,
            state_bits=self._bits_of(states),
            step_bits=bits,
        )

    def _no_steps(self) -> tuple[Any, Any, Any]:
        bits = self.parts[0].bits[:0] if self.parts else np.zeros((0, 0), np.uint8)
        return np.zeros(0, np.uint32), np.zeros(0, np.uint16), bits

    def _bits_of(self, states: Numbers) -> NDArray[Any]:
        bits = [self.state_bits[level][here - self.starts[level]] for level, here in _split(states, self.starts)]
        return np.concatenate([self.state_bits[0][:0], *bits])

    def _rows(self, states: Numbers) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Yield the number of steps of each state, then their targets, labels and bits; one part after another."""
        for index, here in _split(states, [part.first for part in self.parts]):
            part = self.parts[index]
            if len(here) == len(part.counts):
                yield part.counts.astype(np.int64), part.targets, part.labels, part.bits
                continue
            counts = part.counts.astype(np.int64)
            begins = np.cumsum(counts) - counts
            local = here - part.first
            degrees = counts[local]
            before = np.cumsum(degrees) - degrees
            positions = np.repeat(begins[local] - before, degrees) + np.arange(int(degrees.sum()))
            yield degrees, part.targets[positions], part.labels[positions], part.bits[positions]


def _split(states: Numbers, firsts: list[int]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The states of each part that begins with one of `firsts`, for parts that have some."""
    indices = states.astype(np.int64)
    owners = np.searchsorted(firsts, indices, side="right") - 1
    begins = np.flatnonzero(np.diff(owners, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(indices)]):
        yield int(owners[begin]), indices[begin:end]
