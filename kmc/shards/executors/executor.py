"""Executors of the tasks of a level: threads of this process, or other processes.

Invariant: an executor decides where and in which order tasks run, and nothing else. The result of a task depends on the
task alone, so every executor makes the same level.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.native.memory import Memory, Words
from kmc.engine.native.threads import WorkerPool
from kmc.shards.files.range_files import UnwrittenBlock
from kmc.shards.files.store import ShardStore
from kmc.shards.files.store_task import StoreTask
from kmc.shards.level.expander import Expander, Stopped
from kmc.shards.level.level_watch import ClusterUse, EndedTask
from kmc.shards.level.merger import Merger, with_answers
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import (
    Checked,
    Expanded,
    ExpandTask,
    LevelSource,
    Merged,
    MergeTask,
    RowsTask,
    SeekTask,
)

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Executor(Protocol):
    """Runs tasks; answers come in the order of the tasks.

    All tasks of a call read one level, and a `LevelSource` is what they share.

    The methods that run tasks raise `Stopped` from `stop` to `restart`.
    """

    @property
    def slots(self) -> int:
        """The number of tasks that run at the same time, now: executors of a cluster come and go."""

    @property
    def cluster(self) -> ClusterUse | None:
        """The use that it makes of a cluster; None if it makes every level in one way."""

    def level(
        self,
        source: LevelSource,
        tasks: Sequence[ExpandTask],
        merges: Sequence[MergeTask],
        ended: Callable[[EndedTask], None],
    ) -> tuple[list[Expanded], list[Merged]]:
        """Expand all tasks, and merge their entries; `ended` is called as soon as a task has ended."""

    def check(self, source: LevelSource, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """`Expander.check` of each task."""

    def seek(self, source: LevelSource, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """`Expander.seek` of each task."""

    def each(self, tasks: Sequence[StoreTask[Answer]], ended: Callable[[int], None] = lambda _: None) -> list[Answer]:
        """The result of each task; `ended` is called with the index of a task as soon as it has ended, maybe twice."""

    def stop(self) -> None:
        """Let running tasks end soon, without a result."""

    def restart(self) -> None:
        """After `stop`, once nothing runs: run tasks again."""

    def close(self) -> None:
        """Give everything back."""


_SENT_WORDS = 1 << 17


class SentWords:
    """Memory for the entries that the tasks of one thread sent in a level. The next level uses it again: new pages cost
    more than the copy.
    """

    def __init__(self) -> None:
        self._blocks: list[Memory] = []
        self._block = self._used = 0

    def empty(self) -> None:
        """Forget everything; the results of `copy_of` are not valid any more."""
        self._block = self._used = 0

    def copy_of(self, entries: Words) -> Words:
        """A copy of some entries."""
        while self._block < len(self._blocks) and self._used + len(entries) > self._blocks[self._block].words:
            self._block += 1
            self._used = 0
        if self._block == len(self._blocks):
            self._blocks.append(Memory(max(_SENT_WORDS, len(entries))))
        first, self._used = self._used, self._used + len(entries)
        copied = self._blocks[self._block].array[first : self._used]
        copied[:] = entries
        return copied


class ThreadExecutor:
    """Runs tasks in threads of this process. `poll` is called while they run, about 20 times a second."""

    cluster: ClusterUse | None = None

    def __init__(
        self,
        kernels: KernelTable,
        sharding: Sharding,
        store: ShardStore,
        *,
        deadlock: bool,
        threads: int = 1,
        noting: Noting | None = None,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self.slots = threads
        self._store = store
        self._stopping = False
        self._expanders = [Expander(kernels, sharding, store, deadlock=deadlock, noting=noting) for _ in range(threads)]
        self._mergers = [Merger(sharding, store, wide=kernels.wide, ranked=kernels.rank != 0) for _ in range(threads)]
        self._sent = [SentWords() for _ in range(threads)]
        self._pool = WorkerPool(threads, poll, self.stop)

    def level(
        self,
        source: LevelSource,
        tasks: Sequence[ExpandTask],
        merges: Sequence[MergeTask],
        ended: Callable[[EndedTask], None],
    ) -> tuple[list[Expanded], list[Merged]]:
        """See `Executor`. All bits of the level go to one file."""

        def expand(thread: int, task: ExpandTask) -> tuple[Expanded, list[Words]]:
            answer, entries = self._expanders[thread].expand(source, task)
            ended(EndedTask.expanding(task.rows.level, answer))
            return answer, [self._sent[thread].copy_of(words) for words in entries]

        for words in self._sent:
            words.empty()
        expanded = self._each(tasks, expand)

        def merge(thread: int, task: MergeTask) -> tuple[Merged, UnwrittenBlock | None]:
            answer, bits = self._mergers[thread].answer(task, [sent[task.shard] for _, sent in expanded])
            ended(EndedTask.merging(task.level, answer))
            return answer, bits

        merged = self._each(merges, merge)
        return [answer for answer, _ in expanded], with_answers(self._store, merges[0].level, merged)

    def check(self, source: LevelSource, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """See `Executor`."""
        return self._each(tasks, lambda thread, task: self._expanders[thread].check(source, task, stored=stored))

    def seek(self, source: LevelSource, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """See `Executor`."""
        return self._each(tasks, lambda thread, task: self._expanders[thread].seek(source, task))

    def each(self, tasks: Sequence[StoreTask[Answer]], ended: Callable[[int], None] = lambda _: None) -> list[Answer]:
        """See `Executor`."""

        def run(_: int, numbered: tuple[int, StoreTask[Answer]]) -> Answer:
            if self._stopping:
                raise Stopped
            number, task = numbered
            answer = task.run(self._store)
            ended(number)
            return answer

        return self._each(list(enumerate(tasks)), run)

    def _each(self, tasks: Sequence[Task], function: Callable[[int, Task], Answer]) -> list[Answer]:
        """Apply `function` to the number of a thread and each task; a thread fetches the next task when it has done
        one.
        """
        answers: dict[int, Answer] = {}
        following = itertools.count()

        def take_tasks(thread: int) -> None:
            while (index := next(following)) < len(tasks):
                answers[index] = function(thread, tasks[index])

        self._pool.run(take_tasks, 0 if len(tasks) <= 1 else min(self.slots, len(tasks)))
        return [answers[index] for index in range(len(tasks))]

    def stop(self) -> None:
        """See `Executor`."""
        self._stopping = True
        for expander in self._expanders:
            expander.stop()

    def restart(self) -> None:
        """See `Executor`."""
        self._stopping = False
        for expander in self._expanders:
            expander.restart()

    def close(self) -> None:
        """See `Executor`."""
