"""A worker whose loops note steps and new states for the behaviour graph; what they note is in `behaviour_log`."""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.loops.behaviour_log import HEAD_WORDS
from kmc.engine.native.memory import Memory, Words
from kmc.engine.search.worker import Worker
from kmc.engine.stores.memory_budget import MemoryBudget

_STATES_WORDS = 1 << 12


class NotingWorker(Worker):
    """A worker with a log of steps, in blocks, and one of new states."""

    def __init__(self, budget: MemoryBudget, batch: int, actions: int, properties: int, kernels: KernelTable) -> None:
        self._logs: list[tuple[Memory, int]] = []
        self._log: Memory | None = None
        self._kernels = kernels
        super().__init__(budget, batch, actions, properties)
        self._own("states", Memory(_STATES_WORDS), 0)

    def provide(self, status: int) -> None:
        """See `Worker.provide`."""
        head = HEAD_WORDS + self._kernels.wide
        match status:
            case f.NEED_STEPS:
                self._end_block()
                step = head + len(self._kernels.step_atoms)
                words = self.thread.source_count * head + self.pending * step
                self._log = self._budget.pool.take(len(self._logs), words)
                steps = self.thread.steps
                steps.address, steps.words, steps.used = self._log.address, self._log.words, 0
            case f.NEED_STATES:
                self._enlarge("states", self.pending * (head - 1 + len(self._kernels.atoms)))
            case _:
                super().provide(status)

    def _end_block(self) -> None:
        if self._log is not None:
            self._logs.append((self._log, self.thread.steps.used))
        self._log = None
        self.thread.steps.address = self.thread.steps.words = self.thread.steps.used = 0

    @property
    def noted_words(self) -> int:
        """How many words of steps are noted."""
        return sum(used for _, used in self._logs) + self.thread.steps.used

    def take_states(self) -> Words:
        """The words noted of new states, valid until the next level; they are forgotten here."""
        words = self._owned["states"].array[: self.thread.states.used]
        self.thread.states.used = 0
        return words

    def take_steps(self) -> list[tuple[Memory, int]]:
        """The blocks of noted steps, and how many words of each are used; they are the caller's then."""
        self._end_block()
        logs, self._logs = self._logs, []
        return logs

    def give_back(self, logs: list[tuple[Memory, int]]) -> None:
        """Use blocks again."""
        self._budget.pool.give(memory for memory, _ in logs)
