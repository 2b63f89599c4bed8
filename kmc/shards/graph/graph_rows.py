"""Some states of a graph in files, with all their steps, and the sets that they belong to.

Membership of a step in a set may depend on its target, which may be in another part. So a set of states that some
`Into` names is evaluated first, in all parts, and looked up by number: see `sets_of_targets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.sets import Bytes, GraphSets, StepBlock
from kmc.engine.native.memory import WORD_BYTES
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph
from kmc.liveness.lasso_queries import (
    AndStates,
    AndSteps,
    From,
    HasStep,
    Into,
    NotStates,
    NotSteps,
    OrStates,
    OrSteps,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)
from kmc.shards.files.store import FileWords, ShardStore, new_name
from kmc.shards.files.word_files import WordFile, read_words, write_words
from kmc.shards.graph.graph_files import GraphFile, GraphFormat, PartArrays, read_part

Numbers: TypeAlias = NDArray[np.uint32]
Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BitFile:
    """A set of the states of a graph: a bit for each of `count` states."""

    file: WordFile
    count: int


class Bits:
    """A set of states that was read."""

    def __init__(self, words: FileWords) -> None:
        self._words = words
        self._bytes = words.array.view(np.uint8)

    def at(self, states: Numbers) -> Bytes:
        """For each of these states, whether it is in the set."""
        mask: Bytes = self._bytes[states >> np.uint32(3)] >> (states & np.uint32(7)).astype(np.uint8) & 1 != 0
        return mask

    def between(self, first: int, end: int) -> Bytes:
        """For each state from `first` up to `end`, whether it is in the set."""
        packed = self._bytes[first >> 3 : (end + 7) >> 3]
        return unpacked(packed, (first & 7) + end - first)[first & 7 :]


def packed(states: Bytes) -> NDArray[np.uint8]:
    """A bit for each state."""
    return np.packbits(states, bitorder="little")


def unpacked(bits: NDArray[np.uint8], count: int) -> Bytes:
    """A byte for each of `count` states."""
    return np.unpackbits(bits, count=count, bitorder="little").view(np.bool_)


def write_bits(store: ShardStore, states: Bytes) -> BitFile:
    """Write a set of states to a new file."""
    words = np.zeros(-(-len(states) // (8 * WORD_BYTES)) or 1, np.int64)
    words.view(np.uint8)[: -(-len(states) // 8)] = packed(states)
    return BitFile(write_words(store, new_name("bits", 0, 0), [words]), len(states))


@contextmanager
def shared_bits(store: ShardStore, *sets: Bytes) -> Iterator[list[BitFile]]:
    """Sets of states in files, for the time of a round."""
    files = [write_bits(store, states) for states in sets]
    try:
        yield files
    finally:
        store.remove([bits.file.name for bits in files])


def read_bits(store: ShardStore, bits: BitFile) -> Bits:
    """A set of states; SystemFault KMC551 if its file differs from the one that was written."""
    return Bits(read_words(store, bits.file))


@dataclass(frozen=True, slots=True)
class Rows:
    """Some states, in the order of their numbers. `part.targets` are numbers in the whole graph."""

    states: Numbers
    part: PartArrays

    @property
    def sources(self) -> Numbers:
        """The state that each step leads from."""
        return np.repeat(self.states, np.diff(self.part.offsets))

    @property
    def source_rows(self) -> Places:
        """The place among these states of the state that each step leads from."""
        return np.repeat(np.arange(len(self.states)), np.diff(self.part.offsets))

    @property
    def moves(self) -> Bytes:
        """For each step, whether it leads to another state of the graph."""
        moves: Bytes = (self.part.targets != OUTSIDE) & (self.part.targets != self.sources)
        return moves

    def graph(self) -> BehaviourGraph:
        """These states as a graph of their own, numbered from 0 on; steps to all others lead outside."""
        part, targets = self.part, self.part.targets
        positions = np.searchsorted(self.states, targets)
        positions[positions == len(self.states)] = 0
        inside = self.states[positions] == targets if len(self.states) else np.zeros(len(targets), np.bool_)
        local = np.where(inside, positions, OUTSIDE).astype(np.uint32)
        return _graph_of(part, local)


def _graph_of(part: PartArrays, targets: Numbers) -> BehaviourGraph:
    """A graph of one level, all expanded."""
    starts = np.array([0, part.states], np.int64)
    return BehaviourGraph(starts, part.states, part.offsets, targets, part.labels, part.state_bits, part.step_bits)


class RowSets(GraphSets):
    """The sets of some states of a graph. `known` holds every set of states that an `Into` names."""

    def __init__(self, rows: Rows, known: Mapping[StateSet, Bits]) -> None:
        super().__init__(_graph_of(rows.part, rows.part.targets))
        self._numbers = rows.states
        self._known = known

    def _source_numbers(self, block: StepBlock) -> Numbers:
        """See `GraphSets`."""
        return np.repeat(self._numbers[block.first : block.end], block.degrees)

    def _are_in(self, states: StateSet, indices: Numbers, sets: dict[StateSet, Bytes]) -> Bytes:
        """See `GraphSets`."""
        return self._known[states].at(indices)


@dataclass(frozen=True, slots=True)
class PartOfGraph:
    """A part of a graph as a task gets it, with the sets of states on which its sets of steps depend."""

    file: GraphFile
    format: GraphFormat
    known: tuple[tuple[StateSet, BitFile], ...]

    def rows(self, store: ShardStore, chosen: Bytes | None = None) -> Rows:
        """All its states, or those that are chosen."""
        part = read_part(store, self.format, self.file)
        states = np.arange(self.file.first, self.file.end, dtype=np.uint32)
        if chosen is None or chosen.all():
            return Rows(states, part)
        positions = np.flatnonzero(chosen)
        return Rows(states[positions], some_states(part, positions))

    def rows_among(self, store: ShardStore, bits: BitFile) -> Rows:
        """The rows of its states that are in a set."""
        return self.rows(store, read_bits(store, bits).between(self.file.first, self.file.end))

    def sets(self, store: ShardStore, rows: Rows) -> RowSets:
        """The sets of some of its states."""
        return RowSets(rows, {states: read_bits(store, bits) for states, bits in self.known})


def some_states(part: PartArrays, positions: Places) -> PartArrays:
    """Some of the states of a part, with their steps."""
    begins = part.offsets[positions]
    degrees = part.offsets[positions + 1] - begins
    offsets = np.concatenate(([0], np.cumsum(degrees)))
    steps = np.repeat(begins - offsets[:-1], degrees) + np.arange(offsets[-1])
    return PartArrays(
        offsets, part.targets[steps], part.labels[steps], part.state_bits[positions], part.step_bits[steps]
    )


def sets_of_targets(asked: Iterable[StateSet | StepSet | Recurrence | Response]) -> list[StateSet]:
    """The sets of states that some `Into` names, each after those that it is made of."""
    sets: dict[StateSet, None] = {}
    for each in asked:
        _look_through(each, sets)
    return list(sets)


def _look_through(asked: StateSet | StepSet | Recurrence | Response, sets: dict[StateSet, None]) -> None:
    match asked:
        case Recurrence(states, steps):
            _look_through(states, sets)
            _look_through(steps, sets)
        case Response(trigger, answer):
            _look_through(trigger, sets)
            _look_through(answer, sets)
        case HasStep(inner) | NotStates(inner) | NotSteps(inner) | From(inner):
            _look_through(inner, sets)
        case AndStates(parts) | OrStates(parts) | AndSteps(parts) | OrSteps(parts):
            for inner in parts:
                _look_through(inner, sets)
        case Into(states):
            _look_through(states, sets)
            sets.setdefault(states)
        case _:
            pass
