"""The explored part of the state graph: states by number, level boundaries, and every edge that leads one level on.

Invariant: the edges from a level to the next are complete once the level has been expanded, so that a trace can use the
least predecessor whatever the order of exploration. With a lossy view, the representative of a view is the first in
precedence of the states of the level that have it, and the edges are those that lead to it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from kmc.lang.order import SortKey


class KnownStates(Protocol):
    """The states found so far, numbered in the order in which they were added.

    States that count as one have one number. `rank` is an order of such classes that depends on values only,
    `precedence` decides which state of a view represents it, `counted_as` is a key of the class, `orbit` is one of the
    states that symmetry permits to exchange with a state, and `images` are these, the state itself first.
    """

    @property
    def has_view(self) -> bool:
        """Whether states that count as one may have different steps."""

    def find(self, state: Any) -> int | None:
        """Return the number of the state that counts as `state`, or None."""

    def add(self, state: Any) -> int:
        """Add a state that is not known, and return its number."""

    def rank(self, state: Any) -> SortKey:
        """Return the place of a state in the order of its class."""

    def precedence(self, state: Any) -> SortKey:
        """Return the place of a state among those of one view: the least represents it."""

    def counted_as(self, state: Any) -> Hashable:
        """Return a key that is equal for the states that count as one, and for no others."""

    def orbit(self, state: Any) -> Hashable:
        """Return a key that is equal for states that symmetry permits to exchange, and for no others."""

    def images(self, state: Any) -> Sequence[Any]:
        """Return the states that symmetry permits to exchange with `state`, itself first."""


class StateGraph:
    """States in the order of discovery; `levels[k]` is their number at level k + 1."""

    def __init__(self, known: KnownStates) -> None:
        self.known = known
        self.states: list[Any] = []
        self.levels: list[int] = []
        self._predecessors: list[list[int]] = []
        self._level_start = 0
        self._starts: list[int] = []

    def offer(self, source: int | None, state: Any) -> bool:
        """A state was generated from `source` (None: initially). Store it if it is new; True if it must be checked."""
        index = self.known.find(state)
        if index is None:
            self.known.add(state)
            self.states.append(state)
            self._predecessors.append([] if source is None else [source])
            return True
        if index < self._level_start:
            return False
        if self.known.has_view and not self._is_winner(index, state):
            return self._challenge(index, state, source)
        if source is not None:
            self._predecessors[index].append(source)
        return False

    def _is_winner(self, index: int, state: Any) -> bool:
        return any(image == self.states[index] for image in self.known.images(state))

    def _challenge(self, index: int, state: Any, source: int | None) -> bool:
        if self.known.precedence(state) < self.known.precedence(self.states[index]):
            self.states[index] = state
            self._predecessors[index] = [] if source is None else [source]
        return True

    def is_known(self, state: Any) -> bool:
        """Whether a state that counts as `state` has been stored."""
        return self.known.find(state) is not None

    def stored(self, state: Any) -> int | None:
        """The number of the stored state that equals `state` up to symmetry, or None."""
        index = self.known.find(state)
        return index if index is not None and self._is_winner(index, state) else None

    def commit_level(self) -> range:
        """Close the level being built; the numbers of its states, empty when there are none."""
        level = range(self._level_start, len(self.states))
        if level:
            self.levels.append(len(level))
            self._starts.append(self._level_start)
        self._level_start = len(self.states)
        return level

    def chain(self, index: int) -> list[int]:
        """The numbers of a shortest path to state `index`, taking the least predecessor at every level."""
        path = [index]
        while self._predecessors[path[-1]]:
            candidates = set(self._predecessors[path[-1]])
            path.append(min(candidates, key=lambda candidate: self.known.rank(self.states[candidate])))
        return path[::-1]

    def level_of(self, index: int) -> int:
        """The level of a stored state, counted from 1."""
        return bisect_right(self._starts, index)
