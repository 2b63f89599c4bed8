"""Which lasso is taken: the nearest state to stay in, and the shortest of the cycles that are tried.

The choice depends on distances, fair components and the order of numbers only, so a part of a graph whose states are
renumbered in their order gives the lasso that the whole graph does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kmc.engine.liveness.condition_masks import ConditionMasks
from kmc.engine.liveness.cycle_progress import CycleProgress
from kmc.engine.liveness.graph_sets import Bytes
from kmc.engine.liveness.native_graph import FairComponents
from kmc.engine.liveness.phase_levels import Numbers
from kmc.engine.liveness.short_cycles import ShortCycles
from kmc.liveness.behaviour_graph import BehaviourGraph

_GREEDY_STARTS = 8


class Distances(Protocol):
    """How the states of the last phase are reached, see `PhaseLevels`."""

    def by_distance(self) -> Iterator[tuple[int, Numbers]]:
        """Each distance at which there are states, with these."""

    def path_to(self, state: int, /) -> list[int]:
        """A shortest way to a state."""


@dataclass(frozen=True, slots=True)
class FoundLasso:
    """A stem and a cycle, by numbers of states."""

    stem: tuple[int, ...]
    cycle: tuple[int, ...]

    @property
    def length(self) -> int:
        """How many states it has."""
        return len(self.stem) + len(self.cycle)


@dataclass(frozen=True, slots=True)
class CycleGraph:
    """Where cycles are looked for: a graph, the conditions on a cycle, and the steps that it may take; None for all."""

    graph: BehaviourGraph
    masks: ConditionMasks
    steps: Bytes | None


def nearest(distances: Distances, staying: Bytes, below: int | None) -> FoundLasso | None:
    """The nearest of some states to stay in."""
    if not staying.any():
        return None
    for distance, states in distances.by_distance():
        if below is not None and distance + 1 >= below:
            return None
        here = states[staying[states]]
        if len(here):
            path = distances.path_to(int(here.min()))
            return FoundLasso(tuple(path[:-1]), (path[-1],))
    return None


def with_cycle(
    where: CycleGraph, distances: Distances, components: FairComponents, below: int | None
) -> FoundLasso | None:
    """The shortest lasso that is found with a cycle of several states."""
    if not len(components.members):
        return None
    numbers = components.numbered(where.graph.states)
    progress = CycleProgress(where.graph, where.masks, numbers, where.steps)
    cycles = ShortCycles(progress, numbers, where.steps)
    best: FoundLasso | None = None
    tried = 0
    for distance, states in distances.by_distance():
        for state in map(int, np.sort(states[numbers[states] != 0])):
            if below is not None and distance + 2 >= below:
                return best
            tries = [] if tried >= _GREEDY_STARTS else [cycles.greedy(state)]
            tried += 1
            least_below = min([*map(len, tries), *([] if below is None else [below - distance])])
            exact = None if cycles.is_exhausted else cycles.least(state, least_below - 1)
            for cycle in (*tries, exact):
                if cycle is not None and (below is None or distance + len(cycle) < below):
                    best = FoundLasso(tuple(distances.path_to(state)[:-1]), cycle)
                    below = best.length
            if tried >= _GREEDY_STARTS and cycles.is_exhausted:
                return best
    return best
