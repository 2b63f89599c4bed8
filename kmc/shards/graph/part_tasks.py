"""The tasks that turn a sharded search's records into the behaviour graph; each reads files, and writes one.

A piece is the states of one level in one range of fingerprints, a part is some pieces of consecutive numbers. There are
four stages, paired like the two stages of a level of the search: a part finds its states, whose order is that of their
numbers; it requests the numbers of the targets of their steps; each range of fingerprints answers with the numbers; the
part writes its steps.

Invariant: the memory of a task is bounded by the size of a part or of a range, whatever the size of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.behaviour_graph.state_order import packed
from kmc.engine.loops.behaviour_log import APART, DROPPED, LABEL_MASK
from kmc.engine.native.memory import Words
from kmc.errors import InternalError
from kmc.liveness.behaviour_graph import OUTSIDE
from kmc.shards.files.section_files import (
    FingerprintRange,
    SectionFile,
    first_words,
    range_starts,
    read_range,
    read_sections,
    write_sections,
)
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.graph.graph_files import GraphFile, PartArrays, write_part
from kmc.shards.level.fingerprint_rows import each_once, order_of, places_in
from kmc.shards.level.noted_steps import NotedSteps, StepRows, joined_steps, read_steps

_LABEL_BITS = 16


@dataclass(frozen=True, slots=True)
class GraphShape:
    """The common parameters of all tasks of a graph: the words of a fingerprint, and those of the masks of atoms."""

    noting: Noting
    width: int
    atom_words: int
    step_atom_words: int


@dataclass(frozen=True, slots=True)
class Piece:
    """The states of a level in a range of fingerprints.

    `found` holds the fingerprints of the level, `states` the masks of atoms. `steps` are those of the whole level, none
    if it was not expanded. With `bounded`, steps may lead beyond the bound of the search.
    """

    level: int
    range: FingerprintRange
    found: tuple[SectionFile, ...]
    states: tuple[SectionFile, ...]
    steps: tuple[NotedSteps, ...]
    bounded: bool


@dataclass(frozen=True, slots=True)
class KnownPart:
    """A part whose states are known: their fingerprints and masks of atoms, a section for each piece.

    `firsts` gives the number of the first state of each piece, and of the state behind the last.
    """

    file: SectionFile
    firsts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnowTask:
    """Find the states of a part. The result is the file, and the number of states of each piece."""

    shape: GraphShape
    number: int
    pieces: tuple[Piece, ...]

    def run(self, store: ShardStore) -> tuple[SectionFile, tuple[int, ...]]:
        """See `StoreTask`."""
        rows = [self._states(store, piece) for piece in self.pieces]
        name = new_name("known", self.pieces[0].level, self.number)
        width = self.shape.width + self.shape.atom_words
        return write_sections(store, name, width, rows), tuple(map(len, rows))

    def _states(self, store: ShardStore, piece: Piece) -> Words:
        width = self.shape.width
        rows = _rows(store, piece.found, piece.range, width)
        known = rows[order_of(rows, width)]
        if not self.shape.atom_words:
            return known
        states = each_once(_rows(store, piece.states, piece.range, width + self.shape.atom_words), width)
        positions = places_in(states, known, width)
        if (positions < 0).any():
            raise incomplete(f"level {piece.level} lacks the atoms of its states")
        return states[positions]


@dataclass(frozen=True, slots=True)
class AskTask:
    """Write the different targets of the steps of a part, in order, a section for each of 2**bits ranges."""

    shape: GraphShape
    number: int
    pieces: tuple[Piece, ...]
    known: KnownPart
    bits: int

    def run(self, store: ShardStore) -> SectionFile:
        """See `StoreTask`."""
        width = self.shape.width
        wanted = [np.zeros((0, width), np.int64)]
        for index, piece in enumerate(self.pieces):
            steps = _steps(store, self.shape, piece, self.known, index).steps
            wanted.append(steps[steps[:, width] & (DROPPED | APART) == 0, :width])
        rows = each_once(np.concatenate(wanted), width)
        starts = range_starts(first_words(rows), self.bits)
        name = new_name("asked", self.pieces[0].level, self.number)
        return write_sections(store, name, width, [rows[low:high] for low, high in pairwise(starts)])


@dataclass(frozen=True, slots=True)
class TellTask:
    """Write the numbers of the states that the parts request in one range, a section for each part; -1 for no state."""

    width: int
    range: FingerprintRange
    known: tuple[KnownPart, ...]
    asked: tuple[SectionFile, ...]

    def run(self, store: ShardStore) -> SectionFile:
        """See `StoreTask`."""
        width = self.width
        rows = np.concatenate([np.zeros((0, width + 1), np.int64), *(self._numbered(store, p) for p in self.known)])
        rows = rows[order_of(rows, width)]
        answers = []
        for file in self.asked:
            wanted = read_sections(store, file, self.range.number, self.range.number + 1)
            positions = places_in(rows, wanted, width)
            state_numbers = np.full(len(wanted), -1, np.int64)
            state_numbers[positions >= 0] = rows[positions[positions >= 0], width]
            answers.append(state_numbers.reshape(-1, 1))
        return write_sections(store, new_name("told", 0, self.range.number), 1, answers)

    def _numbered(self, store: ShardStore, part: KnownPart) -> Words:
        """The fingerprints of a part in the range, each with its number."""
        numbered = []
        for piece, first in enumerate(part.firsts[:-1]):
            rows = read_sections(store, part.file, piece, piece + 1)
            here = self.range.within(first_words(rows))
            state_numbers = np.arange(first + here.start, first + here.stop, dtype=np.int64)
            numbered.append(np.column_stack([rows[here, : self.width], state_numbers]))
        return np.concatenate(numbered)


@dataclass(frozen=True, slots=True)
class WriteTask:
    """Write a part of the graph. Section `number` of each of the files `told` answers a section of `asked`."""

    shape: GraphShape
    number: int
    pieces: tuple[Piece, ...]
    known: KnownPart
    asked: SectionFile
    told: tuple[SectionFile, ...]

    def run(self, store: ShardStore) -> GraphFile:
        """See `StoreTask`."""
        shape, known = self.shape, self.known
        targets = read_sections(store, self.asked)
        answers = [read_sections(store, file, self.number, self.number + 1) for file in self.told]
        state_numbers = np.concatenate([np.zeros((0, 1), np.int64), *answers])[:, 0]
        if len(state_numbers) != len(targets):
            raise incomplete("not all targets of steps have numbers")
        counts, entries, atoms = [], [], []
        for index, piece in enumerate(self.pieces):
            translated = self._translated(store, index, piece, targets, state_numbers)
            counts.append(translated[0])
            entries.append(translated[1])
            atoms.append(translated[2])
        written = np.concatenate(entries)
        part = PartArrays(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))]),
            (written >> _LABEL_BITS).astype(np.uint32),
            (written & LABEL_MASK).astype(np.uint16),
            packed(np.ascontiguousarray(read_sections(store, known.file)[:, shape.width :]), shape.noting.atoms),
            packed(np.concatenate(atoms), shape.noting.step_atoms),
        )
        return write_part(store, new_name("graph", self.pieces[0].level, self.number), known.firsts[0], part)

    def _translated(
        self, store: ShardStore, index: int, piece: Piece, targets: Words, state_numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Words, Words]:
        """For a piece: the number of different steps of each state, their targets with labels, and the masks of
        atoms.
        """
        shape, width = self.shape, self.shape.width
        states = self.known.firsts[index + 1] - self.known.firsts[index]
        if not piece.steps:
            return np.zeros(states, np.int64), np.zeros(0, np.int64), np.zeros((0, shape.step_atom_words), np.int64)
        noted = _steps(store, shape, piece, self.known, index)
        sources = np.repeat(np.arange(states), noted.counts)
        positions = places_in(targets, noted.steps[:, :width], width)
        target_numbers = np.where(positions >= 0, state_numbers[positions], -1) if len(state_numbers) else positions
        target_numbers = _targets(noted, width, sources, target_numbers, self.known.firsts[index])
        in_next = noted.steps[:, width] & (DROPPED | APART) == 0
        if not piece.bounded and bool((target_numbers[in_next] == OUTSIDE).any()):
            raise incomplete(f"level {piece.level} lacks states that its steps lead to")
        entries = target_numbers << _LABEL_BITS | noted.steps[:, width] & LABEL_MASK
        masks = noted.steps[:, width + 1 :]
        order = np.lexsort((*masks.T[::-1], entries, sources))
        sources, entries, masks = sources[order], entries[order], masks[order]
        new = np.ones(len(entries), np.bool_)
        new[1:] = (sources[1:] != sources[:-1]) | (entries[1:] != entries[:-1]) | (masks[1:] != masks[:-1]).any(axis=1)
        return np.bincount(sources[new], minlength=states), entries[new], masks[new]


def _targets(
    noted: StepRows, width: int, sources: NDArray[np.int64], known: NDArray[np.int64], first: int
) -> NDArray[np.int64]:
    """The target of each step, as `kmc.engine.loops.number_steps` decides; `known` has the numbers, -1 for none."""
    flags = noted.steps[:, width]
    plain = flags & (DROPPED | APART) == 0
    targets = np.where(plain & (known >= 0), known, np.int64(OUTSIDE))
    # A pair that Next allows too is a step of the graph, whichever other action allows it.
    beside = np.flatnonzero((flags & APART != 0) & (known >= 0))
    pairs = sources << 32 | known
    shared = beside[np.isin(pairs[beside], pairs[plain & (known >= 0)])]
    targets[shared] = known[shared]
    # A step that looks like stuttering to a person is a stuttering step.
    same = (noted.steps[:, :width] == noted.sources[sources]).all(axis=1)
    stutters = same & ~plain
    targets[stutters] = first + sources[stutters]
    return targets


def _rows(store: ShardStore, files: Sequence[SectionFile], wanted: FingerprintRange, width: int) -> Words:
    """The rows of several files in a range."""
    return np.concatenate([np.zeros((0, width), np.int64), *(read_range(store, file, wanted) for file in files)])


def _steps(store: ShardStore, shape: GraphShape, piece: Piece, known: KnownPart, index: int) -> StepRows:
    """The steps of the states of a piece, which is that `index` of a part; in the order of the states."""
    width = shape.width
    if not piece.steps:
        empty = np.zeros((0, width), np.int64)
        return StepRows(empty, np.zeros(0, np.int64), np.zeros((0, width + 1 + shape.step_atom_words), np.int64))
    steps = joined_steps([read_steps(store, noted, piece.range) for noted in piece.steps], width)
    states = read_sections(store, known.file, index, index + 1)
    positions = places_in(states, steps.sources, width)
    if (positions < 0).any():
        raise incomplete(f"level {piece.level} lacks states that have steps")
    # A state without successors has no record.
    counts = np.zeros(len(states), np.int64)
    counts[positions] = steps.counts
    return StepRows(np.ascontiguousarray(states[:, :width]), counts, steps.steps)


def incomplete(what: str) -> InternalError:
    """The error of a graph that lacks a recorded part."""
    return InternalError("KMC931", f"the behaviour graph is not whole: {what}")
