"""Short fair cycles through a state of a fair component.

The least one is found if the search of (state, progress) stays small; its size may double with each condition, and to
find it is NP-hard. Otherwise nearest obligations are met one after another, and unnecessary parts are cut out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kmc.engine.lassos import path_loops
from kmc.engine.lassos.cycle_progress import CycleProgress
from kmc.engine.lassos.native_graph import graph_loop
from kmc.engine.lassos.path_loops import ComponentPaths
from kmc.engine.lassos.patience import run_loop, stop_word
from kmc.engine.native.memory import Memory, address_of

Cycle = tuple[int, ...]

_WORD_MASK = (1 << 64) - 1
_CUTS_LENGTH_MAX = 200
# Of all exact searches of a query together, and of one of them. To look at a state costs as much as twenty steps.
_STEPS_MAX = 300_000
_STEPS_EACH_MAX = 60_000
_STATES_MAX = 15_000


class ShortCycles:
    """Cycles in the fair components of one query; the exact searches are limited, all together."""

    def __init__(
        self,
        progress: CycleProgress,
        components: NDArray[np.uint32],
        allowed: NDArray[np.bool_] | None,
    ) -> None:
        self._progress, self._components, self._allowed = progress, components, allowed
        self._steps_left = _STEPS_MAX
        self._ways: ComponentPaths | None = None

    @property
    def is_exhausted(self) -> bool:
        """Whether exact searches have used up their budget."""
        return self._steps_left <= 0 or self._progress.states_seen > _STATES_MAX

    def least(self, start: int, states_max: int) -> Cycle | None:
        """The least fair cycle through a state with at most so many states; None also when the steps are used up."""
        progress = self._progress
        first = (start, progress.at(start))
        enough = self._steps_left - _STEPS_EACH_MAX
        before: dict[tuple[int, int], tuple[int, int]] = {first: first}
        level = [first]
        for _ in range(states_max):
            following = []
            for node in level:
                state, met = node
                for target, made in progress.steps(state):
                    self._steps_left -= 1
                    following_node = (target, met | made | progress.at(target))
                    if following_node in before:
                        continue
                    before[following_node] = node
                    if target == start and progress.is_complete(following_node[1]):
                        return _walked_back(before, following_node, first)
                    following.append(following_node)
            if not following or self.is_exhausted or self._steps_left < enough:
                return None
            level = following
        return None

    def greedy(self, start: int) -> Cycle:
        """A fair cycle through a state: the nearest obligation next, then back, then without unnecessary parts."""
        progress = self._progress
        walk, met = [start], progress.at(start)
        while True:
            complete = progress.is_complete(met)
            if complete and len(walk) > 1 and walk[-1] == start:
                return self._cut(walk[:-1])
            for target in self._way(walk[-1], start if complete else None, met):
                met |= next(made for to, made in progress.steps(walk[-1]) if to == target) | progress.at(target)
                walk.append(target)

    def _way(self, state: int, goal: int | None, met: int) -> list[int]:
        """The states behind `state` on a shortest way to the goal, or to a state or step that meets an obligation."""
        ways = self._searching()
        ways.component = int(self._components[state])
        ways.mark += 1
        ways.goal = -1 if goal is None else goal
        wanted = (0, 0, 0) if goal is not None else self._progress.wanted(met)
        for array, bits in zip(self._wanted, wanted, strict=True):
            array[:] = [(bits >> (64 * word)) & _WORD_MASK for word in range(len(array))]
        ways.stopping = stop_word()
        end = run_loop(graph_loop(path_loops.find_way), ways.states, ways, state)
        assert end >= 0, "a fair component meets every obligation"
        path = [end]
        node = int(self._room[2][0])
        while node != state:
            path.append(node)
            node = int(self._room[1][node])
        return path[::-1]

    def _searching(self) -> ComponentPaths:
        if self._ways is None:
            graph, masks = self._progress.graph, self._progress.masks
            # The state that each is reached from, and the queue, are written before they are read.
            self._room = [np.zeros(graph.expanded, np.uint32), *(np.empty(graph.expanded, np.uint32) for _ in "12")]
            words = (masks.words, masks.words, masks.state_words)
            self._wanted = [np.zeros(max(count, 1), np.uint64) for count in words]
            ways = self._ways = ComponentPaths.of(Memory(ComponentPaths.WORDS))
            ways.offsets, ways.targets, ways.labels = map(address_of, (graph.offsets, graph.targets, graph.labels))
            ways.states, ways.allowed = graph.expanded, address_of(self._allowed)
            ways.components = address_of(self._components)
            ways.reached, ways.before, ways.queue = map(address_of, self._room)
            ways.wanted_steps, ways.wanted_lacks, ways.wanted_states = map(address_of, self._wanted)
            ways.conditions = masks.native
        return self._ways

    def _cut(self, cycle: list[int]) -> Cycle:
        """A cycle through the same first state without parts that no condition needs."""
        if len(cycle) > _CUTS_LENGTH_MAX:
            return tuple(cycle)
        begin = 0
        while begin < len(cycle):
            shorter_cycle = next(
                (shorter for shorter in self._without_parts(cycle, begin) if self._is_fair(shorter)), None
            )
            if shorter_cycle is None:
                begin += 1
            else:
                cycle = shorter_cycle
        return tuple(cycle)

    def _without_parts(self, cycle: list[int], begin: int) -> Iterator[list[int]]:
        """Shorter cycles without some states behind `begin`, the largest parts first."""
        targets = {target for target, _ in self._progress.steps(cycle[begin])}
        for end in range(len(cycle), begin + 1, -1):
            if cycle[end % len(cycle)] in targets:
                yield cycle[: begin + 1] + cycle[end:]

    def _is_fair(self, cycle: list[int]) -> bool:
        made = self._progress.of_cycle(cycle) if len(cycle) > 1 else None
        return made is not None and self._progress.is_complete(made)


def _walked_back(
    before: dict[tuple[int, int], tuple[int, int]], last: tuple[int, int], first: tuple[int, int]
) -> Cycle:
    path = []
    node = before[last]
    while True:
        path.append(node[0])
        if node == first:
            return tuple(reversed(path))
        node = before[node]
