"""The states of each phase of a lasso that behaviours reach, by levels of their distance from the first state.

Invariant: the order of the states of a level does not depend on the thread that finds them: states reached from an
earlier state of the level before come first, and those of one state in the order of its steps. So stems are the same
everywhere.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint32]
Nodes = NDArray[np.unsignedinteger[Any]]
Bytes = NDArray[np.bool_]

NODES_MAX = (1 << 32) - 1
"""The number of nodes from which their numbers have eight bytes; searches in memory have fewer."""


class PhaseLevels(ABC):
    """A breadth-first search over nodes. Node `phase * states + state` is a state in a phase.

    `parents`: 0, or one more than the node before; a first one has itself. `queue`: the nodes level by level. States
    that are not expanded are reached, and lead nowhere.
    """

    def __init__(self, states: int, phases: int) -> None:
        self._count = states
        self.phases = phases
        self._ends: list[int] | None = None

    @property
    @abstractmethod
    def are_unrestricted(self) -> bool:
        """Whether every behaviour goes through the phases, so that the last one reaches every state."""

    @abstractmethod
    def _roots(self) -> Numbers:
        """The nodes of distance 0, all of the first phase."""

    @abstractmethod
    def _advance(self) -> int:
        """Find the nodes of the next level; where the queue ends then."""

    def _start(self) -> int:
        """Find the nodes of distance 0; return their number."""
        nodes = self.phases * self._count
        width = np.uint32 if nodes < NODES_MAX else np.uint64
        self.parents: Nodes = np.zeros(nodes, width)
        self.queue: Nodes = np.empty(nodes, width)
        roots = self._roots()
        self.parents[roots] = roots
        self.parents[roots] += 1
        self.queue[: len(roots)] = roots
        return len(roots)

    def levels(self) -> Iterator[Nodes]:
        """The nodes of each distance, in order, from 0 on."""
        if self._ends is None:
            self._ends = [self._start()]
        for depth in itertools.count():
            if depth == len(self._ends):
                self._ends.append(self._advance())
            begin, end = self._ends[depth - 1] if depth else 0, self._ends[depth]
            if begin == end:
                return
            yield self.queue[begin:end]

    def by_distance(self) -> Iterator[tuple[int, Numbers]]:
        """Each distance at which the last phase is reached, with the states."""
        for distance, nodes in enumerate(self.levels()):
            states = self.last_states(nodes)
            if len(states):
                yield distance, states

    def reached_last(self, states_max: int | None) -> tuple[Bytes, bool]:
        """The states that behaviours reach in the last phase, or only the nearest, from so many on; whether it is all.

        Levels are whole, so every state that is left out is farther away than those that are not.
        """
        out = np.zeros(self._count, np.bool_)
        if self.are_unrestricted and states_max is None:
            return ~out, True
        count = 0
        for nodes in self.levels():
            states = self.last_states(nodes)
            out[states] = True
            count += len(states)
            if states_max is not None and count >= states_max:
                return out, False
        return out, True

    def last_states(self, nodes: Nodes) -> Numbers:
        """The states of those nodes that are in the last phase."""
        offset = nodes.dtype.type((self.phases - 1) * self._count)
        return (nodes[nodes >= offset] - offset).astype(np.uint32, copy=False)

    def path_to(self, state: int) -> list[int]:
        """A shortest way to a state of the last phase: all states, with the first and this one."""
        node = (self.phases - 1) * self._count + state
        path = [node]
        while (parent := int(self.parents[node]) - 1) != node:
            node = parent
            path.append(node)
        return [each % self._count for each in reversed(path)]
