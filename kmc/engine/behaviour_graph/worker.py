"""A worker whose loops record steps and new states for the behaviour graph; `behaviour_log` has the format."""

from __future__ import annotations

from collections.abc import Callable

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Buffer
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.loops.behaviour_log import HEAD_WORDS
from kmc.engine.native.memory import BlockPool, Memory, Words
from kmc.engine.native.words import NULL
from kmc.engine.search.worker import Worker
from kmc.engine.stores.memory_budget import MemoryBudget

Block = tuple[Memory, int]
"""Memory, and the number of words used in it."""


class _Log:
    """The words that a loop writes into a buffer, block by block."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._blocks: list[Block] = []
        self._open: Memory | None = None

    def extend(self, pool: BlockPool, words: int) -> None:
        """Go on in a new block, of at least so many words."""
        self._end_block()
        block = self._open = pool.take(len(self._blocks), words)
        block.take_pages(block.address, block.words * f.WORD_BYTES)
        self._buffer.address, self._buffer.words = block.address, block.words

    def _end_block(self) -> None:
        if self._open is not None:
            self._blocks.append((self._open, self._buffer.used))
        self._open = None
        self._buffer.address, self._buffer.words, self._buffer.used = NULL, 0, 0

    @property
    def words(self) -> int:
        """The number of words written."""
        return sum(used for _, used in self._blocks) + self._buffer.used

    def rewrite(self, pool: BlockPool, blocks: list[Block]) -> None:
        """Replace the written blocks by others."""
        pool.give(memory for memory, _ in self.take())
        self._blocks = blocks

    @property
    def blocks(self) -> list[Block]:
        """The blocks written, and the open one."""
        opened = [] if self._open is None else [(self._open, self._buffer.used)]
        return [*self._blocks, *opened]

    def take(self) -> list[Block]:
        """All blocks; the log is empty then."""
        self._end_block()
        blocks, self._blocks = self._blocks, []
        return blocks


class NotingWorker(Worker):
    """A worker with a log of steps and one of new states."""

    def __init__(self, budget: MemoryBudget, batch: int, actions: int, properties: int, kernels: KernelTable) -> None:
        self._kernels = kernels
        super().__init__(budget, batch, actions, properties)
        self._steps, self._states = _Log(self.thread.steps), _Log(self.thread.states)

    def provide(self, status: int) -> None:
        """See `Worker.provide`."""
        head = HEAD_WORDS + self._kernels.wide
        match status:
            case f.NEED_STEPS:
                step = head + len(self._kernels.step_atoms)
                self._steps.extend(self._budget.pool, self.thread.source_count * head + self.pending * step)
            case f.NEED_STATES:
                self._states.extend(self._budget.pool, self.pending * (head - 1 + len(self._kernels.atoms)))
            case _:
                super().provide(status)

    def forget_level(self) -> None:
        """See `Worker.forget_level`."""
        super().forget_level()
        self._steps.take()
        self._states.take()

    @property
    def noted_words(self) -> int:
        """The number of words of recorded steps."""
        return self._steps.words

    def rewrite_steps(self, rewritten: Callable[[Block, Memory], int]) -> None:
        """Rewrite the recorded steps in at most twice as many words: a block at a time, into another memory.

        `rewritten` returns the number of words that it wrote there.
        """
        blocks: list[Block] = []
        for block in self._steps.blocks:
            memory = self._budget.pool.take(len(blocks), 2 * block[1])
            blocks.append((memory, rewritten(block, memory)))
        self._steps.rewrite(self._budget.pool, blocks)

    def take_states(self) -> list[Block]:
        """The blocks of recorded states; the caller owns them from now on."""
        return self._states.take()

    def take_steps(self) -> list[Block]:
        """The blocks of recorded steps; the caller owns them from now on."""
        return self._steps.take()

    def give_back(self, blocks: list[Block]) -> None:
        """Use blocks again."""
        self._budget.pool.give(memory for memory, _ in blocks)


def words_of(blocks: list[Block]) -> list[Words]:
    """The written words of each block."""
    return [memory.array[:used] for memory, used in blocks]
