"""A cluster whose tasks answer at once with made-up figures: it measures the driver between the stages of a level.

Invariant: the driver is the real one. `ShardedSearch` plans the tasks of a level, compares and adds their answers, and
saves the level in a manifest. Tasks and answers are pickled as those of Spark are. Making the answers, which is the
work of a cluster, does not count. No file is written but the manifest: other files are only named and counted.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from kmc.bench.made_up_answers import MadeUpAnswers
from kmc.engine.layout.frontier import PackedState
from kmc.engine.native.memory import Memory, Words
from kmc.shards.executors.parts import in_parts, tasks_of_a_part_max
from kmc.shards.files.store import FileWords, Output
from kmc.shards.files.store_task import StoreTask
from kmc.shards.level.level_watch import ClusterUse, EndedTask
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

PHASES = ("between", "send", "receive", "progress")
"""The phases of a level: between two levels, pickling tasks, reading answers, and one look at the progress."""

_MADE_UP = "made up"
_BATCH = 32
"""The number of answers in a message: a message of PySpark has about 64 KiB."""

Answer = TypeVar("Answer")


class NamedFiles:
    """A store that knows the names of its files, and counts the calls of the driver. Its files have no content."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self.calls: Counter[str] = Counter()

    def add(self, names: Iterable[str]) -> None:
        """Add files that a task has written."""
        self._names.update(names)

    @contextmanager
    def writing(self, name: str) -> Iterator[Output]:
        """See `ShardStore`."""
        self.calls["written"] += 1
        yield self
        self._names.add(name)

    def write(self, words: Words) -> None:
        """See `Output`."""

    def read(self, name: str, words: int) -> FileWords:
        """See `ShardStore`: so many zeros."""
        self.calls["read"] += 1
        memory: Any = Memory(words)
        return cast("FileWords", memory)

    def remove(self, names: Iterable[str]) -> None:
        """See `ShardStore`."""
        removed = set(names)
        self.calls["removed"] += len(removed)
        self._names -= removed

    def names(self) -> list[str]:
        """See `ShardStore`."""
        return sorted(self._names)

    def sync(self, names: Iterable[str]) -> None:
        """See `ShardStore`."""
        self.calls["synced"] += len(list(names))

    def free_bytes(self) -> int | None:
        """See `ShardStore`."""
        return None


class Stopwatch:
    """The CPU seconds of this process by phase."""

    def __init__(self) -> None:
        self._phase, self._began = _MADE_UP, 0.0
        self.seconds: dict[str, float] = {}
        self.reset()

    def switch(self, phase: str) -> None:
        """End a phase, and begin another one."""
        now = time.process_time()
        self.seconds[self._phase] += now - self._began
        self._phase, self._began = phase, now

    def reset(self) -> None:
        """Forget the seconds of all phases."""
        self.seconds = dict.fromkeys((*PHASES, _MADE_UP), 0.0)


class SimulatedCluster:
    """The executor of a search whose tasks answer `answers`.

    `levels` levels after the first are measured, and the level after these is empty.

    `look` is what a display of progress does while tasks run. `figures` are those of the measured levels together.
    """

    cluster: ClusterUse | None = None

    def __init__(self, answers: MadeUpAnswers, store: NamedFiles, levels: int) -> None:
        self.slots = answers.size.slots
        self._answers = answers
        self._store = store
        self._levels = levels
        self._level = 0
        self._watch = Stopwatch()
        self._counts: Counter[str] = Counter()
        self.look: Callable[[], object] = lambda: None
        self.figures: dict[str, float] = {}

    def level(
        self,
        source: LevelSource,
        tasks: Sequence[ExpandTask],
        merges: Sequence[MergeTask],
        ended: Callable[[EndedTask], None],
    ) -> tuple[list[Expanded], list[Merged]]:
        """See `Executor`."""
        self._level += 1
        is_last = self._level > self._levels + 1
        self._counts["tasks"] += len(tasks)
        self._send(source, tasks, merges)
        expanded: list[Expanded] = []
        for answer in self._received(self._answers.expanded(self._level, is_last=is_last)):
            expanded.append(answer)
            ended(EndedTask.expanding(self._level, answer))
        self._watch.switch("progress")
        self.look()
        merged: list[Merged] = []
        for shard in self._received(self._answers.merged(merges, is_last=is_last)):
            merged.append(shard)
            ended(EndedTask.merging(self._level, shard))
        self._end_level()
        return expanded, merged

    def _send(self, source: LevelSource, tasks: Sequence[ExpandTask], merges: Sequence[MergeTask]) -> None:
        """Pickle the tasks in the parts that are Spark's tasks, and what all of them share once."""
        self._watch.switch("send")
        rows = sum(segment.rows for task in tasks for segment in task.rows.segments)
        most = tasks_of_a_part_max(len(tasks), rows)
        for part in in_parts(tasks, self.slots, 1, most):
            self._counts["bytes sent"] += len(pickle.dumps(part))
            self._counts["parts"] += 1
        for shared in (source, merges):
            self._counts["bytes sent"] += len(pickle.dumps(shared))

    def _received(self, answers: Iterable[Answer]) -> Iterator[Answer]:
        """The answers after their way through pickled messages, which are made while no phase runs."""
        self._watch.switch(_MADE_UP)
        waiting = iter(answers)
        while batch := [answer for _, answer in zip(range(_BATCH), waiting, strict=False)]:
            message = pickle.dumps(batch)
            self._counts["bytes received"] += len(message)
            del batch
            self._watch.switch("receive")
            yield from pickle.loads(message)
            self._watch.switch(_MADE_UP)

    def _end_level(self) -> None:
        self._watch.switch(_MADE_UP)
        if self._level == 1:
            self._watch.reset()
            self._counts.clear()
            self._store.calls.clear()
        if self._level == self._levels + 1:
            calls = {f"files {name}": count for name, count in self._store.calls.items()}
            self.figures = {**self._watch.seconds, **self._counts, **calls, "files there": len(self._store.names())}
            del self.figures[_MADE_UP]
        self._watch.switch("between")

    def check(self, source: LevelSource, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """See `Executor`: never called, since no simulated state violates a property."""
        raise NotImplementedError

    def seek(self, source: LevelSource, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """See `Executor`: never called, since simulated states have no rows."""
        raise NotImplementedError

    def each(self, tasks: Sequence[StoreTask[Answer]], ended: Callable[[int], None] = lambda _: None) -> list[Answer]:
        """See `Executor`."""
        results: list[Any] = [task.run(self._store) for task in tasks]
        return results

    def stop(self) -> None:
        """See `Executor`."""

    def restart(self) -> None:
        """See `Executor`."""

    def close(self) -> None:
        """See `Executor`."""
