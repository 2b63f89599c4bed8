"""A behaviour graph in files: each part holds the states of consecutive numbers, with all their steps.

Invariant: the parts of a graph follow the order of their numbers, without gaps, and a part is never changed. Put
together, they are the `BehaviourGraph` that a search in memory makes.

In words, each array on its own: offsets, targets, labels, bits of states, bits of steps. Arrays that are read share the
memory of the file, so a task that reads a few states of a part reads a few pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kmc.engine.native.memory import WORD_BYTES, Words
from kmc.liveness.behaviour_graph import Array, BehaviourGraph
from kmc.shards.files.store import FileWords, ShardStore
from kmc.shards.files.word_files import WordFile, read_words, write_words


@dataclass(frozen=True, slots=True)
class BitRows:
    """The form of rows of bits: so many unsigned integers of so many bytes each."""

    columns: int
    item_bytes: int

    @classmethod
    def of(cls, rows: Array) -> BitRows:
        """The form of an array of such rows."""
        return cls(rows.shape[1], rows.dtype.itemsize)

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The type of an integer."""
        return np.dtype(f"u{self.item_bytes}")

    @property
    def row_bytes(self) -> int:
        """The number of bytes of a row."""
        return self.columns * self.item_bytes


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """The common format of all parts of one graph: the rows of bits of a state, and of a step."""

    state_bits: BitRows
    step_bits: BitRows


@dataclass(frozen=True, slots=True)
class GraphFile:
    """The states from `first` up to `end`, which have so many steps; `checksum` is that of all words of the file."""

    name: str
    first: int
    end: int
    steps: int
    checksum: int


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A graph in files. See `BehaviourGraph` for `level_starts` and `expanded`; `files` cover all states."""

    level_starts: tuple[int, ...]
    expanded: int
    files: tuple[GraphFile, ...]
    format: GraphFormat

    @property
    def states(self) -> int:
        """The number of states."""
        return self.level_starts[-1]

    @property
    def steps(self) -> int:
        """The number of stored steps."""
        return sum(file.steps for file in self.files)

    @property
    def bytes_in_memory(self) -> int:
        """The number of bytes that the graph needs in memory once it is put together."""
        rows = self.format
        of_states = np.dtype(np.int64).itemsize + rows.state_bits.row_bytes
        return self.states * of_states + self.steps * step_bytes(rows)


def step_bytes(rows: GraphFormat) -> int:
    """The number of bytes of a step in memory."""
    return np.dtype(np.uint32).itemsize + np.dtype(np.uint16).itemsize + rows.step_bits.row_bytes


@dataclass(frozen=True, slots=True)
class PartArrays:
    """The arrays of a part, as those of a `BehaviourGraph`: offsets begin with 0, targets are numbers in the graph."""

    offsets: Array
    targets: Array
    labels: Array
    state_bits: Array
    step_bits: Array

    @property
    def states(self) -> int:
        """The number of states of the part."""
        return len(self.offsets) - 1


def write_part(store: ShardStore, name: str, first: int, part: PartArrays) -> GraphFile:
    """Write the states from `first` on to a new file."""
    steps = len(part.targets)
    assert part.offsets[0] == 0, "offsets are those of the part"
    assert part.offsets[-1] == steps == len(part.labels) == len(part.step_bits), "all steps are there"
    assert len(part.state_bits) == part.states, "all states are there"
    offsets, targets = part.offsets.astype(np.int64, copy=False), part.targets.astype(np.uint32, copy=False)
    labels = part.labels.astype(np.uint16, copy=False)
    words = [_words_of(array) for array in (offsets, targets, labels, part.state_bits, part.step_bits)]
    written = write_words(store, name, words)
    return GraphFile(name, first, first + part.states, steps, written.checksum)


def read_part(store: ShardStore, rows: GraphFormat, file: GraphFile) -> PartArrays:
    """The arrays of a file; SystemFault KMC551 if it differs from the one that was written."""
    forms = _forms(rows, file)
    words = sum(_words_for(count * columns * dtype.itemsize) for count, columns, dtype in forms)
    offsets, targets, labels, state_bits, step_bits = _arrays(
        read_words(store, WordFile(file.name, words, file.checksum)), forms
    )
    return PartArrays(offsets[:, 0], targets[:, 0], labels[:, 0], state_bits, step_bits)


def assemble(store: ShardStore, stored: StoredGraph) -> BehaviourGraph:
    """The whole graph in memory."""
    states, steps, rows = stored.states, stored.steps, stored.format
    offsets = np.zeros(states + 1, np.int64)
    targets, labels = np.empty(steps, np.uint32), np.empty(steps, np.uint16)
    state_bits = np.empty((states, rows.state_bits.columns), rows.state_bits.dtype)
    step_bits = np.empty((steps, rows.step_bits.columns), rows.step_bits.dtype)
    offset = 0
    for file in in_order(stored.files):
        part = read_part(store, rows, file)
        here, of_file = slice(offset, offset + file.steps), slice(file.first, file.end)
        offsets[file.first + 1 : file.end + 1] = part.offsets[1:] + offset
        targets[here], labels[here], step_bits[here] = part.targets, part.labels, part.step_bits
        state_bits[of_file] = part.state_bits
        offset = here.stop
    starts = np.array(stored.level_starts, np.int64)
    return BehaviourGraph(starts, stored.expanded, offsets, targets, labels, state_bits, step_bits)


def in_order(files: Sequence[GraphFile]) -> Iterator[GraphFile]:
    """The files, each of which begins where the one before it ends."""
    first = 0
    for file in files:
        assert file.first == first, "the parts of a graph have no gaps"
        first = file.end
        yield file


Form = tuple[int, int, np.dtype[np.generic]]


def _forms(rows: GraphFormat, file: GraphFile) -> tuple[Form, ...]:
    """Rows, columns and the type of each array."""
    states = file.end - file.first
    return (
        (states + 1, 1, np.dtype(np.int64)),
        (file.steps, 1, np.dtype(np.uint32)),
        (file.steps, 1, np.dtype(np.uint16)),
        (states, rows.state_bits.columns, rows.state_bits.dtype),
        (file.steps, rows.step_bits.columns, rows.step_bits.dtype),
    )


def _words_for(size: int) -> int:
    return -(-size // WORD_BYTES)


def _words_of(array: Array) -> Words:
    """The words of an array, the last one filled up with zeros."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = np.zeros(_words_for(len(data)), np.int64)
    whole.view(np.uint8)[: len(data)] = data
    return whole


def _arrays(words: FileWords, forms: Sequence[Form]) -> Iterator[Array]:
    """The arrays of these forms, one after another."""
    offset = 0
    for count, columns, dtype in forms:
        size = count * columns * dtype.itemsize
        end = offset + _words_for(size)
        yield words.array[offset:end].view(np.uint8)[:size].view(dtype).reshape(count, columns)
        offset = end
