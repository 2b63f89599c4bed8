"""One thread's part of a search: its control words and the buffers that its loops fill.

Invariant: the control words always give the address and size of memory that this object owns.
"""

from __future__ import annotations

import ctypes

from kmc.engine.checkpoint.memory_budget import MemoryBudget
from kmc.engine.layout import control_words as f
from kmc.engine.layout.frontier import Block, Record, record_words
from kmc.engine.layout.packed_rows import length_at
from kmc.engine.native.memory import PAGE_WORDS, Memory, Words

_OUT_WORDS = 1 << 15
_ROWS_AT_ONCE = 4
_OWN_WORDS = {f.OUT: _OUT_WORDS, f.LOG: 1 << 10, f.MADE: 1 << 10, f.ROWS: 1 << 13, f.FRESH: 1 << 11}


class Worker:
    """The control words and buffers of one thread. `actions` and `properties`: how many counters of each it has.

    `rows_words`: the words of all packed rows that it wrote in finished levels.
    """

    def __init__(self, budget: MemoryBudget, batch: int, actions: int, properties: int) -> None:
        self._budget = budget
        # Threads write these words all the time: each has pages of its own, so that none waits for a cache line.
        self._mine = Memory(f.MINE_WORDS)
        self.words = self._mine.array
        self.address = self._mine.address
        self.generated = Memory(actions)
        self.failed = Memory(properties)
        self._sources = Memory((batch + 1) * f.SOURCE_WORDS)
        self._no_record = Memory(f.RECORD_HEAD_WORDS)
        self._owned: dict[int, Memory] = {}
        self._blocks: list[Block] = []
        self.rows_words = 0
        self.words[f.BATCH_NOW] = batch
        self.words[f.GENERATED] = self.generated.address
        self.words[f.FAILED] = self.failed.address
        self.words[f.SOURCES] = self._sources.address
        self.words[f.NO_RECORD] = self.words[f.BEFORE] = self._no_record.address
        self._codes: Memory | None = None
        for place, words in _OWN_WORDS.items():
            self._own(place, Memory(words), 0)
        self._provide_codes()
        self.begin_level()

    def _own(self, place: int, memory: Memory, used: int) -> None:
        self._owned[place] = memory
        self.words[place : place + 3] = memory.address, memory.words, used

    def begin_level(self) -> None:
        """Start a new frontier; the blocks of the last one belong to a level now."""
        self._blocks = []
        self.words[f.BLOCK : f.BLOCK_USED + 1] = 0
        self.words[f.MADE_USED] = 0
        self.words[f.STORED_IN_LEVEL] = 0
        self.words[f.LAST_COUNT] = 0
        self.words[f.FRESH_CHUNK] = 1

    def end_level(self) -> tuple[Words, int, list[Block]]:
        """The chunks of the finished frontier, its number of rows, and its blocks."""
        stored = int(self.words[f.STORED_IN_LEVEL])
        self._close_block()
        self.rows_words += int(self.words[f.BLOCK_USED])
        chunks = self._owned[f.MADE].array[: self.words[f.MADE_USED]]
        return chunks, stored, self._blocks

    @property
    def made(self) -> Words:
        """The chunks of the frontier that is being made."""
        return self._owned[f.MADE].array[: self.words[f.MADE_USED]].reshape(-1, f.CHUNK_WORDS)

    @property
    def full_blocks(self) -> list[Block]:
        """The blocks of that frontier that are full."""
        return self._blocks[:-1]

    def _close_block(self) -> None:
        if self._blocks:
            self._blocks[-1].close(int(self.words[f.BLOCK_USED]))

    def abandon(self) -> None:
        """Drop unfinished work: rows not yet expanded, successors not yet looked up."""
        self.words[[f.PENDING, f.SOURCE_COUNT, f.OUT_USED, f.ROWS_USED, f.ROWS_LEFT, f.LOG_USED, f.FRESH_USED]] = 0
        self.words[f.BEFORE] = self._no_record.address

    def provide(self, status: int) -> None:
        """Enlarge the buffer that a loop reports as too small."""
        match status:
            case f.NEED_OUT:
                self._enlarge(f.OUT, 0)
                self._provide_codes()
            case f.NEED_ROWS:
                self._enlarge_rows()
            case f.NEED_LOG:
                self._enlarge(f.LOG, 3 * self.pending * f.ENTRY_WORDS)
            case f.NEED_FRESH:
                self._enlarge(f.FRESH, f.NOVELTY_WORDS * self.pending)
            case f.NEED_MADE:
                self._enlarge(f.MADE, self.pending * f.CHUNK_WORDS)
            case f.NEED_BLOCK:
                self.rows_words += int(self.words[f.BLOCK_USED])
                used = int(self.words[f.OUT_USED])
                self._close_block()
                for full in self._blocks[-1:]:
                    self._budget.filled(full)
                block = self._budget.pool.take(len(self._blocks), used + used // 2 + self.pending)
                self._blocks.append(Block(block))
                self.words[f.BLOCK : f.BLOCK_USED + 1] = block.address, block.words, 0
                self.words[f.FRESH_CHUNK] = 1
            case _:
                raise AssertionError(f"a loop answered {status}")

    def _enlarge(self, place: int, more: int) -> None:
        used = int(self.words[place + 2])
        self._own(place, self._owned[place].enlarged(used + more, used), used)

    def _enlarge_rows(self) -> None:
        """Make room for the row to be unpacked next. At most the row before it is in the buffer."""
        length = length_at(int(self.words[f.RECORD]))
        self._enlarge(f.ROWS, _ROWS_AT_ONCE * 2 * (length + f.SLACK_WORDS))
        if self.words[f.BEFORE] != self._no_record.address:
            self.words[f.BEFORE] = self.words[f.ROWS]

    def _provide_codes(self) -> None:
        """Make room for the codes of any record in the out buffer, and keep those of the row packed last."""
        words = -(-int(self.words[f.OUT_WORDS]) // 4 // PAGE_WORDS) * PAGE_WORDS
        # Half a page apart: a read waits for an earlier write at the same offset of another page.
        place = words + f.SLACK_WORDS + PAGE_WORDS // 2
        codes = Memory(place + words)
        last = codes.address + place * f.WORD_BYTES
        if self._codes is not None:
            ctypes.memmove(last, int(self.words[f.LAST_CODES]), 2 * int(self.words[f.LAST_COUNT]))
        self._codes = codes
        self.words[f.CODES], self.words[f.LAST_CODES] = codes.address, last

    @property
    def pending(self) -> int:
        """Successors in the out buffer."""
        return int(self.words[f.PENDING])

    def offer(self, records: list[Record]) -> None:
        """Put the initial states into the out buffer, as successors without a source."""
        words = [record_words(record) for record in records]
        total = sum(map(len, words))
        out = Memory(max(total, _OUT_WORDS))
        place = 0
        for part in words:
            out.array[place : place + len(part)] = part
            place += len(part)
        self._own(f.OUT, out, total)
        self._provide_codes()
        self.words[f.PENDING] = len(records)
        self.words[f.SOURCE_COUNT] = 1
        self._sources.array[: f.SOURCE_WORDS] = 0, len(records)

    def take_log(self) -> Words:
        """The noted findings, a row each; the buffer is empty afterwards."""
        entries = self._owned[f.LOG].array[: self.words[f.LOG_USED]].reshape(-1, f.ENTRY_WORDS).copy()
        self.words[f.LOG_USED] = 0
        return entries
