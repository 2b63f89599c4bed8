"""Prefixes that refute and lassos that stutter, looked for while the graph is made, level by level.

Invariant: when a level has been expanded, the search has covered all behaviours with as many states as there are
expanded levels, and no longer one. So the answer depends on the model alone, and is that of
`kmc.reference.temporal.early_refutations`.

In most states a behaviour cannot stay for ever. Ways through the phases of a query are followed
only once a state has been seen in which it could end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.labelled_steps import LABELS, labels_of
from kmc.engine.behaviour_graph.recorded_levels import Numbers, RecordedLevels, StepPart
from kmc.engine.behaviour_graph.sets import Bytes, GraphSets
from kmc.liveness.behaviour_graph import OUTSIDE
from kmc.liveness.early_queries import EarlyQuery, early_queries, has_steps, staying
from kmc.liveness.lasso_queries import AllStates, AllSteps, AndStates, Phase, StateSet, StepSet
from kmc.liveness.problem import TemporalProblem

_NOTHING: Numbers = np.zeros(0, np.uint32)


class EarlyLassos:
    """The lassos that a search that records a graph can report before its end."""

    def __init__(self, problem: TemporalProblem) -> None:
        self._queries = [_Waiting(query) for query in early_queries(problem)]
        self._fair_labels = np.zeros(LABELS, np.bool_)
        others: list[StateSet] = []
        for fair in problem.fairness:
            if (labels := labels_of(fair.steps)) is not None:
                self._fair_labels[list(labels)] = True
            else:
                others.append(staying(fair.condition))
        self._others = tuple(dict.fromkeys(others))
        self._whole_states = problem.whole_states
        self._exists = False

    def is_found(self, levels: RecordedLevels, level: int) -> bool:
        """Return whether a lasso ends the search now that `level`, counted from 0, has been expanded.

        It is called for each level in turn, and not again after it has returned True.
        """
        self._exists = self._exists or self._exists_at(levels, level)
        return self._exists and levels.starts[level + 1] > self._whole_states

    def _exists_at(self, levels: RecordedLevels, level: int) -> bool:
        first, end = levels.starts[level : level + 2]
        stuttering: Numbers | None = None
        for waiting in self._queries:
            if not waiting.query.is_asked(end):
                continue
            if waiting.query.stutters and stuttering is None:
                stuttering = self._stuttering(levels, first, end)
            candidates = stuttering if waiting.query.stutters else np.arange(first, end, dtype=np.uint32)
            assert candidates is not None, "they were found"
            if waiting.is_met(levels, level, candidates):
                return True
        return False

    def _stuttering(self, levels: RecordedLevels, first: int, end: int) -> Numbers:
        """The states of a level where fairness allows a behaviour to stay for ever."""
        if self._fair_labels.any():
            parts = (part for part in levels.parts if first <= part.first < end)
            states = np.concatenate([_NOTHING, *(self._without_fair_step(part) for part in parts)])
        else:
            states = np.arange(first, end, dtype=np.uint32)
        return _members(levels, self._others, states)

    def _without_fair_step(self, part: StepPart) -> Numbers:
        sources = np.repeat(np.arange(part.first, part.first + len(part.counts), dtype=np.uint32), part.counts)
        enabling = self._fair_labels[part.labels]
        enabling &= part.targets != sources
        allowed = np.ones(len(part.counts), np.bool_)
        allowed[sources[enabling] - np.uint32(part.first)] = False
        return (np.flatnonzero(allowed) + part.first).astype(np.uint32)


class _Waiting:
    """One query: the states seen in which it could end, and the ways through its phases."""

    def __init__(self, query: EarlyQuery) -> None:
        self.query = query
        self._ends = _Marks()
        self._ways = _Ways(query.phases)
        self._has_ends = False

    def is_met(self, levels: RecordedLevels, level: int, candidates: Numbers) -> bool:
        """Whether a way leads to a state in which the query may end; of `candidates`, those of `level` are new."""
        ends = _members(levels, self.query.ends, candidates)
        self._has_ends = self._has_ends or len(ends) > 0
        if not self._has_ends:
            return False
        if self.query.reaches_all:
            return True
        self._ends.add(ends)
        reaches_end = False
        while self._ways.distance < level:
            reaches_end |= self._ends.has(self._ways.advance(levels))
        return reaches_end


class _Ways:
    """The states of each phase that behaviours reach in `distance` steps or fewer."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        self.distance = -1
        self._phases = phases
        self._reached = [_Marks() for _ in phases]
        self._nearest: list[Numbers] = []

    def advance(self, levels: RecordedLevels) -> Numbers:
        """Go one step further, to states that are expanded; those that the last phase reaches only now."""
        self.distance += 1
        if self.distance == 0:
            first = np.arange(levels.starts[1], dtype=np.uint32)
            entering: list[Numbers] = [first, *(_NOTHING for _ in self._phases[1:])]
            staying_in = [_NOTHING for _ in self._phases]
        else:
            staying_in, entering = self._following(levels)
        nearest = []
        for phase, reached, stays, enters in zip(self._phases, self._reached, staying_in, entering, strict=True):
            inside = _members(levels, (phase.states,), stays)
            entered = _members(levels, (phase.enters_at, phase.states), enters)
            both = np.union1d(inside, entered)
            reached.add(both)
            nearest.append(both)
        self._nearest = nearest
        return nearest[-1]

    def _following(self, levels: RecordedLevels) -> tuple[list[Numbers], list[Numbers]]:
        """The targets of steps inside each phase and of steps into it, as far as the phase has not reached them."""
        sources = np.unique(np.concatenate(self._nearest))
        rows = levels.with_steps(sources)
        sets = GraphSets(rows.graph)
        leads_on = (rows.targets != OUTSIDE) & (rows.targets != sources[rows.sources])
        stays: list[Numbers] = []
        enters: list[Numbers] = [_NOTHING]
        for index, phase in enumerate(self._phases):
            here = leads_on & np.isin(sources, self._nearest[index], assume_unique=True)[rows.sources]
            stays.append(self._new(index, rows.targets[_allowed(sets, phase.steps, here)]))
            for following in self._phases[index + 1 : index + 2]:
                targets = rows.targets[_allowed(sets, following.entered_by, here)]
                enters.append(self._new(index + 1, targets))
        return stays, enters

    def _new(self, phase: int, targets: Numbers) -> Numbers:
        return np.unique(targets[~self._reached[phase].of(targets)])


def _allowed(sets: GraphSets, steps: StepSet, among: Bytes) -> Bytes:
    return among if steps == AllSteps() or not among.any() else among & sets.steps(steps)


def _members(levels: RecordedLevels, wanted: Sequence[StateSet], states: Numbers) -> Numbers:
    """Return those of some expanded states, in ascending order, that are in all sets. Sets that need no steps are
    tested first.
    """
    for group in _groups(wanted):
        if len(states):
            takes_steps = has_steps(group)
            graph = levels.with_steps(states).graph if takes_steps else levels.of_states(states)
            states = states[GraphSets(graph).states(group)]
    return states


def _groups(wanted: Sequence[StateSet]) -> Iterator[StateSet]:
    for takes_steps in (False, True):
        group = [each for each in wanted if has_steps(each) is takes_steps and each != AllStates()]
        if group:
            yield AndStates(tuple(group))


class _Marks:
    """A set of numbers, a byte each."""

    def __init__(self) -> None:
        self._bytes: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def add(self, states: Numbers) -> None:
        """Put ascending numbers in."""
        if len(states):
            size = int(states[-1]) + 1
            if size > len(self._bytes):
                self._bytes = np.concatenate((self._bytes, np.zeros(2 * size - len(self._bytes), np.bool_)))
            self._bytes[states] = True

    def of(self, states: Numbers) -> Bytes:
        """Return a mask: which of some numbers are in the set."""
        marks = np.zeros(len(states), np.bool_)
        known = states < len(self._bytes)
        marks[known] = self._bytes[states[known]]
        return marks

    def has(self, states: Numbers) -> bool:
        """Whether any is in it."""
        return bool(self.of(states).any())
