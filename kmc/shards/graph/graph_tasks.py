"""Tasks of a round: each reads one part of a graph and sets of states, and returns its result for its own states.

All of it is plain data that travels between processes, and needs numpy only. Steps that lead to the state itself or out
of the graph are never followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.liveness.behaviour_graph import OUTSIDE
from kmc.liveness.lasso_queries import AllSteps, Recurrence, Response, StateSet, StepSet
from kmc.shards.files.store import ShardStore
from kmc.shards.graph.condition_words import BadTriggers, Gathered, masks_of, of_all, of_each
from kmc.shards.graph.graph_rows import BitFile, Numbers, PartOfGraph, Rows, packed, read_bits

PackedBits: TypeAlias = NDArray[np.uint8]
Nodes: TypeAlias = NDArray[np.uint64]
Conditions: TypeAlias = tuple[Recurrence | Response, ...]

_KEY_SHIFT = np.uint64(32)
_DENSE = 32
"""Targets are marked in a table rather than sorted if they span at most so many numbers each."""


def _within(part: PartOfGraph, rows: Rows, chosen: Bytes) -> PackedBits:
    """A bit for each state of the part: those of some rows that are chosen."""
    out = np.zeros(part.file.end - part.file.first, np.bool_)
    out[rows.states[chosen] - np.uint32(part.file.first)] = True
    return packed(out)


def _allowed(part: PartOfGraph, store: ShardStore, rows: Rows, steps: StepSet) -> Bytes:
    """Return a mask: which steps lead to another state of the graph and are in a set."""
    moves = rows.moves
    return moves if steps == AllSteps() else moves & part.sets(store, rows).steps(steps)


@dataclass(frozen=True, slots=True)
class SetTask:
    """The states of a part that are in a set."""

    part: PartOfGraph
    wanted: StateSet

    def run(self, store: ShardStore) -> PackedBits:
        """A bit for each state of the part."""
        return packed(self.part.sets(store, self.part.rows(store)).states(self.wanted))


@dataclass(frozen=True, slots=True)
class CountTask:
    """Count the steps of the states of a set."""

    part: PartOfGraph
    within: BitFile

    def run(self, store: ShardStore) -> int:
        """Their number."""
        file = self.part.file
        chosen = read_bits(store, self.within).between(file.first, file.end)
        return int(np.diff(self.part.rows(store).part.offsets)[chosen].sum())


@dataclass(frozen=True, slots=True)
class PhaseSets:
    """The states and steps of a phase; None for all states."""

    states: BitFile | None
    firsts: BitFile | None
    steps: StepSet
    entered_by: StepSet


@dataclass(frozen=True, slots=True)
class ReachTask:
    """Follow the steps of some nodes of one phase, see `PhaseLevels`; `positions` are their places in their level."""

    part: PartOfGraph
    numbers: Numbers
    positions: Numbers
    phase: int
    phases: tuple[PhaseSets, ...]
    states: int

    def run(self, store: ShardStore) -> tuple[Nodes, Nodes]:
        """The nodes reached, each once, and the position of each among those that the level reaches first."""
        chosen = np.zeros(self.part.file.end - self.part.file.first, np.bool_)
        chosen[self.numbers - np.uint32(self.part.file.first)] = True
        rows = self.part.rows(store, chosen)
        nodes, keys = zip(*self._reached(store, rows), strict=True)
        return first_of_each(np.concatenate(nodes), np.concatenate(keys))

    def _reached(self, store: ShardStore, rows: Rows) -> list[tuple[Nodes, Nodes]]:
        here = self.phases[self.phase]
        pairs = [self._through(store, rows, 0, here.steps, here.states)]
        if self.phase + 1 < len(self.phases):
            following = self.phases[self.phase + 1]
            pairs.append(self._through(store, rows, 1, following.entered_by, following.firsts))
        return pairs

    def _through(
        self, store: ShardStore, rows: Rows, further: int, steps: StepSet, states: BitFile | None
    ) -> tuple[Nodes, Nodes]:
        """Steps within the phase, or to the one that is `further` by one."""
        steps_taken = np.flatnonzero(_allowed(self.part, store, rows, steps))
        if states is not None:
            steps_taken = steps_taken[read_bits(store, states).at(rows.part.targets[steps_taken])]
        source_rows = rows.source_rows[steps_taken]
        positions = self.positions[np.argsort(self.numbers)][source_rows].astype(np.uint64)
        order = (steps_taken - rows.part.offsets[source_rows]).astype(np.uint64) * np.uint64(2) + np.uint64(further)
        nodes = rows.part.targets[steps_taken].astype(np.uint64) + np.uint64((self.phase + further) * self.states)
        return nodes, positions << _KEY_SHIFT | order


def first_of_each(nodes: Nodes, keys: Nodes) -> tuple[Nodes, Nodes]:
    """Each node once, with its least key."""
    order = np.lexsort((keys, nodes))
    nodes, keys = nodes[order], keys[order]
    new = np.ones(len(nodes), np.bool_)
    new[1:] = nodes[1:] != nodes[:-1]
    return nodes[new], keys[new]


def position_of(keys: Nodes) -> Nodes:
    """The place in its level of the node before each."""
    return keys >> _KEY_SHIFT


@dataclass(frozen=True, slots=True)
class SourcesTask:
    """The states of `within` with a step in `steps` to one of `goal`, which is part of it.

    `closed`: only those outside of the goal, and those that reach it through states of the part too.
    """

    part: PartOfGraph
    within: BitFile
    goal: BitFile
    steps: StepSet
    closed: bool

    def run(self, store: ShardStore) -> PackedBits:
        """A bit for each state of the part."""
        file, goal = self.part.file, read_bits(store, self.goal)
        chosen = read_bits(store, self.within).between(file.first, file.end)
        if self.closed:
            chosen &= ~goal.between(file.first, file.end)
        rows = self.part.rows(store, chosen)
        taken = np.flatnonzero(_allowed(self.part, store, rows, self.steps))
        targets, source_rows = rows.part.targets[taken], rows.source_rows[taken]
        reaching = np.zeros(len(rows.states), np.bool_)
        reaching[source_rows[goal.at(targets)]] = True
        if self.closed:
            _close(rows.states, targets, source_rows, reaching)
        return _within(self.part, rows, reaching)


def _close(states: Numbers, targets: Numbers, source_rows: NDArray[np.int64], reaching: Bytes) -> None:
    """Add to the states found those that reach them."""
    if not len(states):
        return
    to = np.searchsorted(states, targets)
    to[to == len(states)] = 0
    inside = states[to] == targets
    to, source_rows = to[inside], source_rows[inside]
    while True:
        more = reaching[to] & ~reaching[source_rows]
        if not more.any():
            return
        reaching[source_rows[more]] = True


@dataclass(frozen=True, slots=True)
class TargetsTask:
    """The states of `within` that steps of `sources`, which are part of it, lead to."""

    part: PartOfGraph
    sources: BitFile
    within: BitFile
    steps: StepSet

    def run(self, store: ShardStore) -> Numbers:
        """Their numbers."""
        rows = self.part.rows_among(store, self.sources)
        targets = rows.part.targets[_allowed(self.part, store, rows, self.steps)]
        return _once(targets[read_bits(store, self.within).at(targets)])


def _once(states: Numbers) -> Numbers:
    """Each number once, in order."""
    if not len(states):
        return states
    low = states.min()
    span = int(states.max() - low) + 1
    if span > _DENSE * len(states):
        return np.unique(states)
    table = np.zeros(span, np.bool_)
    table[states - low] = True
    distinct: Numbers = np.flatnonzero(table).astype(np.uint32) + low
    return distinct


@dataclass(frozen=True, slots=True)
class StayTask:
    """The states of a set in which a behaviour may stay for ever and meet all conditions."""

    part: PartOfGraph
    within: BitFile
    conditions: Conditions

    def run(self, store: ShardStore) -> PackedBits:
        """A bit for each state of the part."""
        rows = self.part.rows_among(store, self.within)
        masks = masks_of(self.part.sets(store, rows), self.conditions)
        here = of_each(masks, rows)
        return _within(self.part, rows, ~(here.lacks_recurrence(masks) | here.bad_triggers(masks).rows()))


@dataclass(frozen=True, slots=True)
class GatherTask:
    """Gather the words of all states of a set, with the steps between them."""

    part: PartOfGraph
    within: BitFile
    steps: StepSet
    conditions: Conditions

    def run(self, store: ShardStore) -> Gathered:
        """One row."""
        rows = self.part.rows_among(store, self.within)
        masks = masks_of(self.part.sets(store, rows), self.conditions)
        taken = _allowed(self.part, store, rows, self.steps)
        taken[taken] = read_bits(store, self.within).at(rows.part.targets[taken])
        return of_all(masks, rows, taken)


@dataclass(frozen=True, slots=True)
class TriggerTask:
    """The states of a set that trigger one of some responses."""

    part: PartOfGraph
    within: BitFile
    conditions: Conditions
    bad: BadTriggers

    def run(self, store: ShardStore) -> PackedBits:
        """A bit for each state of the part."""
        rows = self.part.rows_among(store, self.within)
        masks = masks_of(self.part.sets(store, rows), self.conditions)
        return _within(self.part, rows, self.bad.meet(of_each(masks, rows)))


@dataclass(frozen=True, slots=True)
class DroppedTask:
    """The steps that constraints drop, of states below `end`; `next_labels` are those of actions of Next."""

    part: PartOfGraph
    asked: tuple[StepSet, ...]
    next_labels: frozenset[int]
    end: int

    def run(self, store: ShardStore) -> tuple[int | None, ...]:
        """For each set of steps the first state with one that is dropped."""
        rows = self.part.rows(store)
        outside = (rows.part.targets == OUTSIDE) & (rows.sources < self.end)
        outside &= np.isin(rows.part.labels, sorted(self.next_labels))
        dropped = np.flatnonzero(outside)
        if not len(dropped):
            return (None,) * len(self.asked)
        sets, sources = self.part.sets(store, rows), rows.sources
        dropped_of = (dropped[sets.dropped_steps(steps, dropped)] for steps in self.asked)
        return tuple(int(sources[indices[0]]) if len(indices) else None for indices in dropped_of)


def gather_all(parts: Sequence[Gathered]) -> Gathered:
    """The words gathered from the states of several parts."""
    gathered = parts[0]
    for part in parts[1:]:
        gathered = gathered.union(part)
    return gathered
