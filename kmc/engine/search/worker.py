"""One thread's part of a search: its control words and the buffers that its loops fill.

Invariant: the control words always give the address and size of memory that this object owns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Buffer, Thread
from kmc.engine.layout.frontier import PackedState, RowBlock, states_words
from kmc.engine.layout.packed_rows import length_at
from kmc.engine.layout.record_structs import (
    RECORD_HEAD_WORDS,
    Chunk,
    FindingEntry,
    PendingSource,
    RankedCandidate,
    StateRecord,
)
from kmc.engine.native.memory import PAGE_WORDS, Memory, Words
from kmc.engine.native.words import NULL, Address
from kmc.engine.stores.memory_budget import MemoryBudget

_OUT_WORDS = 1 << 15
_ROWS_AT_ONCE = 4
_OWN_WORDS = {"out": _OUT_WORDS, "findings": 1 << 10, "made": 1 << 10, "rows": 1 << 13, "candidates": 1 << 11}


class Worker:
    """The control words and buffers of one thread. `actions` and `properties`: the number of its counters of each.

    `rows_words`: the words of all packed rows that it wrote in finished levels.
    """

    def __init__(self, budget: MemoryBudget, batch: int, actions: int, properties: int) -> None:
        self._budget = budget
        # Threads write these words all the time: each has pages of its own, so that none waits for a cache line.
        self.thread = Thread.of(Memory(Thread.WORDS))
        self.generated = Memory(actions)
        self.failed = Memory(properties)
        self._sources = Memory((batch + 1) * PendingSource.WORDS)
        self._recent = Memory(2 * f.RECENT)
        self._no_record = Memory(RECORD_HEAD_WORDS)
        self._owned: dict[str, Memory] = {}
        self._blocks: list[RowBlock] = []
        self.rows_words = 0
        self.thread.batch = batch
        self.thread.generated = self.generated.address
        self.thread.failed = self.failed.address
        self.thread.recent = self._recent.address
        self.thread.sources = PendingSource.of(self._sources)
        self.thread.empty_record = self.thread.before = StateRecord(self._no_record.address)
        self._codes: Memory | None = None
        for name, words in _OWN_WORDS.items():
            self._own(name, Memory(words), 0)
        self._provide_codes()
        self.begin_level()

    def _own(self, name: str, memory: Memory, used: int) -> None:
        self._owned[name] = memory
        _tell(getattr(self.thread, name), memory, used)

    def begin_level(self) -> None:
        """Start a new frontier; the blocks of the last one belong to a level now."""
        self._blocks = []
        _tell(self.thread.block, None, 0)
        self.thread.made.used = 0
        self.thread.stored_in_level = 0
        self.thread.last_count = 0
        self.thread.begin_chunk = 1

    def end_level(self) -> tuple[Words, int, list[RowBlock]]:
        """The chunks of the finished frontier, its number of rows, and its blocks."""
        stored = self.thread.stored_in_level
        self._close_block()
        self.rows_words += self.thread.block.used
        chunks = self._owned["made"].array[: self.thread.made.used]
        return chunks, stored, self._blocks

    @property
    def made(self) -> Words:
        """The chunks of the frontier that is being made."""
        return self._owned["made"].array[: self.thread.made.used].reshape(-1, Chunk.WORDS)

    @property
    def full_blocks(self) -> list[RowBlock]:
        """The blocks of that frontier that are full."""
        return self._blocks[:-1]

    def _close_block(self) -> None:
        if self._blocks:
            self._blocks[-1].close(self.thread.block.used)

    def abandon(self) -> None:
        """Drop unfinished work: rows not yet expanded, successors not yet looked up."""
        thread = self.thread
        thread.pending = thread.source_count = thread.rows_left = 0
        thread.out.used = thread.rows.used = thread.findings.used = thread.candidates.used = 0
        thread.before = thread.empty_record

    def forget_level(self) -> None:
        """Give back the frontier that is being made."""
        self.abandon()
        self.begin_level()

    def provide(self, status: int) -> None:
        """Enlarge the buffer that a loop reports as too small."""
        match status:
            case f.NEED_OUT:
                self._enlarge("out", 0)
                self._provide_codes()
            case f.NEED_ROWS:
                self._enlarge_rows()
            case f.NEED_FINDINGS:
                self._enlarge("findings", 3 * self.pending * FindingEntry.WORDS)
            case f.NEED_CANDIDATES:
                self._enlarge("candidates", RankedCandidate.WORDS * self.pending)
            case f.NEED_MADE:
                self._enlarge("made", self.pending * Chunk.WORDS)
            case f.NEED_BLOCK:
                self.rows_words += self.thread.block.used
                used = self.thread.out.used
                self._close_block()
                for full in self._blocks[-1:]:
                    self._budget.filled(full)
                block = self._budget.pool.take(len(self._blocks), used + used // 2 + self.pending)
                self._blocks.append(RowBlock(block))
                _tell(self.thread.block, block, 0)
                self.thread.begin_chunk = 1
            case _:
                raise AssertionError(f"a loop answered {status}")

    def _enlarge(self, name: str, more: int) -> None:
        used = getattr(self.thread, name).used
        self._own(name, self._owned[name].enlarged(used + more, used), used)

    def _enlarge_rows(self) -> None:
        """Make room for the row to be unpacked next. At most the row before it is in the buffer."""
        length = length_at(self.thread.packed)
        self._enlarge("rows", _ROWS_AT_ONCE * 2 * (length + f.SLACK_WORDS))
        if self.thread.before != self.thread.empty_record:
            self.thread.before = StateRecord(self.thread.rows.address)

    def _provide_codes(self) -> None:
        """Make room for the codes of any record in the out buffer, and keep those of the row packed last."""
        words = -(-self.thread.out.words // 4 // PAGE_WORDS) * PAGE_WORDS
        # Half a page apart: a read waits for an earlier write at the same offset of another page.
        offset = words + f.SLACK_WORDS + PAGE_WORDS // 2
        codes = Memory(offset + words)
        last = codes.address + offset * f.WORD_BYTES
        if self._codes is not None:
            ctypes.memmove(last, self.thread.last_codes, 2 * self.thread.last_count)
        self._codes = codes
        self.thread.codes, self.thread.last_codes = codes.address, Address(last)

    @property
    def pending(self) -> int:
        """Successors in the out buffer."""
        return self.thread.pending

    def offer(self, records: Sequence[PackedState], action: int) -> None:
        """Put the initial states into the out buffer, as successors without a source by `action`."""
        words = states_words(records, action)
        out = Memory(max(len(words), _OUT_WORDS))
        out.array[: len(words)] = words
        self._own("out", out, len(words))
        self._provide_codes()
        self.thread.pending = len(records)
        self.thread.source_count = 1
        self.thread.sources.record = StateRecord(0)
        self.thread.sources.successors = len(records)

    def take_log(self) -> Words:
        """The recorded findings, a row each; the buffer is empty afterwards."""
        entries = self._owned["findings"].array[: self.thread.findings.used].reshape(-1, FindingEntry.WORDS).copy()
        self.thread.findings.used = 0
        return entries


def _tell(buffer: Buffer, memory: Memory | None, used: int) -> None:
    """Let loops use a memory, or none."""
    buffer.address, buffer.words, buffer.used = (
        (memory.address, memory.words, used) if memory is not None else (NULL, 0, 0)
    )
