"""Prefixes that refute and lassos that stutter, by obvious means, while the interpreter searches level by level.

Invariant: when a level has been expanded, the search has covered all behaviours with as many states as there are
expanded levels, and no longer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kmc.liveness.early_queries import EarlyQuery, early_queries, staying
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lassos import Node


class ObviousEarlyLassos:
    """Finds the violations of a problem that can be reported before the search ends."""

    def __init__(self, problem: TemporalProblem) -> None:
        self._staying = [staying(fair.condition) for fair in problem.fairness]
        self._queries = [_Ways(query) for query in early_queries(problem)]

    def is_found(self, behaviours: Behaviours, level: Sequence[int], initial: int) -> bool:
        """Return whether a lasso exists now that `level` has been expanded; call this for each level in turn.

        After it has returned True, it is not called again. The first `initial` states are initial.
        """
        asked = [ways for ways in self._queries if ways.query.is_asked(max(level, default=-1) + 1)]
        fair = [state for state in level if all(behaviours.has(each, state) for each in self._staying)]
        return any(ways.lead_to(behaviours, fair if ways.query.stutters else level, initial) for ways in asked)


class _Ways:
    """The states of each phase of a query that behaviours reach, one step further with each level."""

    def __init__(self, query: EarlyQuery) -> None:
        self.query = query
        self._last = len(query.phases) - 1
        self._ends: set[int] = set()
        self._levels = 0
        self._reached: set[Node] = set()
        self._nearest: set[Node] = set()

    def lead_to(self, behaviours: Behaviours, candidates: Sequence[int], initial: int) -> bool:
        """Whether one more step leads to an end, among `candidates` of a new level or those before it."""
        self._levels += 1
        self._ends.update(state for state in candidates if all(behaviours.has(each, state) for each in self.query.ends))
        if not self._ends:
            return False  # The ways are followed later, if need be.
        for _ in range(self._levels):
            self._advance(behaviours, initial)
        self._levels = 0
        return any(phase == self._last and state in self._ends for state, phase in self._nearest)

    def _advance(self, behaviours: Behaviours, initial: int) -> None:
        if self._reached or self._nearest:
            following = {after for node in self._nearest for after in self._steps(behaviours, node)}
        else:
            following = {(state, 0) for state in range(initial) if self._enters(behaviours, state, 0)}
        self._nearest = following - self._reached
        self._reached |= following

    def _steps(self, behaviours: Behaviours, node: Node) -> Iterator[Node]:
        source, phase = node
        here = self.query.phases[phase]
        for target in behaviours.successors(source):
            if behaviours.has(here.states, target) and behaviours.has_step(here.steps, source, target):
                yield target, phase
            for after in self.query.phases[phase + 1 : phase + 2]:
                if behaviours.has_step(after.entered_by, source, target) and self._enters(
                    behaviours, target, phase + 1
                ):
                    yield target, phase + 1

    def _enters(self, behaviours: Behaviours, state: int, phase: int) -> bool:
        wanted = self.query.phases[phase]
        return behaviours.has(wanted.enters_at, state) and behaviours.has(wanted.states, state)
