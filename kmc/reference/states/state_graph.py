"""The explored part of the state graph: states by number, level boundaries, and every edge that leads one level on.

Invariant: the edges from a level to the next are complete once the level has been expanded, so that a trace can use the
least predecessor whatever the order of exploration. With a lossy view, the representative of a view is the first in
precedence of the states of the level that have it, and the edges are those that lead to it.
"""

from __future__ import annotations

from bisect import bisect_right

from kmc.lang.records import State
from kmc.reference.states.identity import StateSet


class StateGraph:
    """States in the order of discovery; `levels[k]` is their number at level k + 1."""

    def __init__(self, known: StateSet) -> None:
        self.known = known
        self.states: list[State] = []
        self.levels: list[int] = []
        self._predecessors: list[list[int]] = []
        self._level_start = 0
        self._starts: list[int] = []

    def offer(self, source: int | None, state: State) -> bool:
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

    def _is_winner(self, index: int, state: State) -> bool:
        return any(image == self.states[index] for image in self.known.images(state))

    def _challenge(self, index: int, state: State, source: int | None) -> bool:
        if self.known.precedence(state) < self.known.precedence(self.states[index]):
            self.states[index] = state
            self._predecessors[index] = [] if source is None else [source]
        return True

    def is_known(self, state: State) -> bool:
        """Whether a state that counts as `state` has been stored."""
        return self.known.find(state) is not None

    def stored(self, state: State) -> int | None:
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
