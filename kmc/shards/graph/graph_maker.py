"""The behaviour graph of a sharded search, made from the files that its tasks recorded.

Invariant: a state has the same number as in a search in memory, and its steps have the same order: by level, and in a
level by fingerprint, whatever the number of shards, tasks and processes. Each level has the states that the search
counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.behaviour_graph.state_order import packed
from kmc.engine.lassos.choice import LassoAnswers
from kmc.engine.lassos.patience import poll_now
from kmc.engine.lassos.search import LassoSearch
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import FairnessCondition, TemporalCheck
from kmc.process import available_bytes, memory_bytes
from kmc.shards.executors.executor import Answer, Executor
from kmc.shards.files.section_files import FingerprintRange, SectionFile, read_sections
from kmc.shards.files.store import ShardStore
from kmc.shards.files.store_task import StoreTask
from kmc.shards.graph.graph_files import BitRows, GraphFormat, StoredGraph, assemble
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.part_tasks import AskTask, GraphShape, KnownPart, KnowTask, Piece, TellTask, WriteTask, incomplete
from kmc.shards.graph.stored_lassos import StoredLassoSearch
from kmc.shards.level.noted_steps import NotedSteps
from kmc.shards.level.run_state import NotedLevel

PART_STATES = 1 << 15
"""A part of the graph has up to twice as many states: ranges of one level have about equal numbers."""

_TASKS_MIN, _TASKS_A_SLOT = 32, 8

_SEARCH_BYTES = 60
"""For a state, while a graph in memory is searched for lassos."""

_ROUNDS_BYTES_MIN = 1 << 24
"""A search by rounds has so much memory at least, whatever the limit."""

_RANGE_STATES = 1 << 20
"""The number of states that one task numbers."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The records of a search: one per level, with as many states as `counts` says. `bounded`: the last level is at the
    bound.
    """

    noted: tuple[NotedLevel, ...]
    counts: tuple[int, ...]
    bounded: bool

    @classmethod
    def of(
        cls, noted: tuple[NotedLevel, ...], last: tuple[NotedSteps, ...], counts: Sequence[int], *, bounded: bool
    ) -> Levels:
        """The recorded levels, and the steps of the last one, if it was expanded."""
        if noted and last:
            noted = (*noted[:-1], replace(noted[-1], steps=last))
        return cls(noted, tuple(counts), bounded)


class GraphMaker:
    """Makes the graph of a search that is over; `close` removes its files."""

    def __init__(
        self,
        kernels: KernelTable,
        noting: Noting,
        levels: Levels,
        executor: Executor,
        store: ShardStore,
        memory_bytes: int | None = None,
    ) -> None:
        self._levels = levels
        self._executor, self._store = executor, store
        self._shape = GraphShape(noting, 1 + kernels.wide, len(kernels.atoms), len(kernels.step_atoms))
        self._known: list[KnownPart] = []
        self._written: list[str] = []
        self._stored: StoredGraph | None = None
        self._memory_bytes = memory_bytes
        self._rounds: GraphRounds | None = None

    def stored(self) -> StoredGraph:
        """The graph, in files. Raises Stopped; InternalError KMC931 if a recorded file is missing."""
        if self._stored is None:
            self._stored = self._made()
        return self._stored

    def graph(self) -> BehaviourGraph:
        """The graph, in memory."""
        return assemble(self._store, self.stored())

    def lassos(self, fairness: Sequence[FairnessCondition], checks: Sequence[TemporalCheck] = ()) -> LassoAnswers:
        """The search for lassos: in memory where the graph fits, else by rounds over its files."""
        stored = self.stored()
        memory = available_bytes() if self._memory_bytes is None else self._memory_bytes - memory_bytes()
        if stored.bytes_in_memory + stored.states * _SEARCH_BYTES <= memory:
            return LassoSearch(assemble(self._store, stored), fairness, checks)
        self._rounds = GraphRounds(self._executor.each, self._store, stored, slots=self._executor.slots)
        return StoredLassoSearch(self._rounds, fairness, max(memory // 2, _ROUNDS_BYTES_MIN))

    def fingerprint(self, state: int) -> tuple[int, ...]:
        """The words of the fingerprint of a state."""
        known = next(known for known in self._known if state < known.firsts[-1])
        piece = next(piece for piece in range(len(known.firsts) - 1) if state < known.firsts[piece + 1])
        rows = read_sections(self._store, known.file, piece, piece + 1)
        words = rows[state - known.firsts[piece], : self._shape.width].copy()
        return tuple(words.view(np.uint64).tolist())

    def close(self) -> None:
        """Remove all files."""
        if self._rounds is not None:
            self._rounds.close()
        self._store.remove(self._written)

    def _each(self, tasks: Sequence[StoreTask[Answer]]) -> list[Answer]:
        """The result of each task; the time limit is checked after every few tasks."""
        some = max(_TASKS_MIN, _TASKS_A_SLOT * self._executor.slots)
        answers: list[Answer] = []
        for first in range(0, len(tasks), some):
            poll_now()
            answers += self._executor.each(tasks[first : first + some])
        return answers

    def _made(self) -> StoredGraph:
        self._require_steps()
        shape, parts = self._shape, self._parts()
        known_files = self._each([KnowTask(shape, index, pieces) for index, pieces in enumerate(parts)])
        self._written += [file.name for file, _ in known_files]
        self._known = self._numbered(parts, known_files)
        bits = max(0, (self._starts[-1] - 1) // _RANGE_STATES).bit_length()
        of_parts = list(zip(range(len(parts)), parts, self._known, strict=True))
        asked = self._each([AskTask(shape, *part, bits) for part in of_parts])
        self._written += [file.name for file in asked]
        ranges = [FingerprintRange(bits, index) for index in range(1 << bits)]
        known = tuple(self._known)
        answers = self._each([TellTask(shape.width, each, known, tuple(asked)) for each in ranges])
        self._written += [file.name for file in answers]
        files = self._each(
            [WriteTask(shape, *part, question, tuple(answers)) for part, question in zip(of_parts, asked, strict=True)]
        )
        self._written += [file.name for file in files]
        self._store.remove(file.name for file in (*asked, *answers))
        return StoredGraph(self._starts, self._expanded, tuple(files), self._format)

    @property
    def _starts(self) -> tuple[int, ...]:
        """The number of the first state of each level, and of all states."""
        return (0, *accumulate(self._levels.counts)) if self._levels.counts else (0, 0)

    @property
    def _expanded(self) -> int:
        return sum(count for level, count in zip(self._levels.noted, self._levels.counts, strict=True) if level.steps)

    @property
    def _format(self) -> GraphFormat:
        shape = self._shape
        masks = [np.zeros((0, words), np.int64) for words in (shape.atom_words, shape.step_atom_words)]
        counts = shape.noting.atoms, shape.noting.step_atoms
        return GraphFormat(*(BitRows.of(packed(mask, count)) for mask, count in zip(masks, counts, strict=True)))

    def _require_steps(self) -> None:
        """Each level but the last has the steps of all its states, and the last one of all or of none."""
        for depth, (level, count) in enumerate(zip(self._levels.noted, self._levels.counts, strict=True), start=1):
            expanded = sum(noted.expanded for noted in level.steps)
            if expanded != count and (level.steps or depth < len(self._levels.counts)):
                raise incomplete(f"level {depth} has the steps of {expanded:,} of its {count:,} states")

    def _parts(self) -> list[tuple[Piece, ...]]:
        """All pieces in the order of their numbers; small levels are added to a part as long as it has room."""
        parts: list[tuple[Piece, ...]] = []
        room = 0
        last = len(self._levels.noted)
        for level, (noted, count) in enumerate(zip(self._levels.noted, self._levels.counts, strict=True), start=1):
            bits = max(0, (count - 1) // PART_STATES).bit_length()
            for index in range(1 << bits):
                here = FingerprintRange(bits, index)
                bounded = self._levels.bounded and level == last
                piece = Piece(level, here, noted.found, noted.states, noted.steps, bounded)
                if count <= room:
                    parts[-1] = (*parts[-1], piece)
                    room -= count
                else:
                    parts.append((piece,))
                    room = PART_STATES - count
        return parts

    def _numbered(
        self, parts: Sequence[tuple[Piece, ...]], known_files: Sequence[tuple[SectionFile, tuple[int, ...]]]
    ) -> list[KnownPart]:
        """The numbers of the states of each part, whose file has so many of each piece."""
        by_level = [0] * len(self._levels.counts)
        for pieces, (_, sizes) in zip(parts, known_files, strict=True):
            for piece, size in zip(pieces, sizes, strict=True):
                by_level[piece.level - 1] += size
        if tuple(by_level) != self._levels.counts:
            raise incomplete("it does not have the states that the search counted")
        known, first = [], 0
        for file, sizes in known_files:
            known.append(KnownPart(file, tuple(accumulate(sizes, initial=first))))
            first = known[-1].firsts[-1]
        return known
