"""Executors of the tasks of tables: threads of this process, or others.

Invariant: an executor decides where and in which order tasks run. The rows of a table are the same from all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from kmc.engine.native.threads import WorkerPool
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.files.store import ShardStore
from kmc.tables.parquet_files import parquet_writer
from kmc.tables.parts import LevelPart, TablePart
from kmc.tables.state_tables import StateReader
from kmc.tables.step_tables import LevelParents, parents_schema
from kmc.tables.table_tasks import PARENTS, AttemptFile, PartTask, write_attempt, write_part


class TableExecutor(Protocol):
    """Runs tasks, `slots` at the same time. `progress` is called meanwhile with the number of rows written so far."""

    slots: int

    def write(self, tasks: Sequence[PartTask], progress: Callable[[int], None]) -> list[AttemptFile]:
        """`write_part` of each task; the files come in the order of the tasks."""

    def write_parents(
        self, parts: Sequence[TablePart], folder: Path, progress: Callable[[int], None]
    ) -> list[AttemptFile]:
        """Write, for each state behind the first level, its predecessor of the least number in the level before."""


class ThreadTables:
    """Runs tasks in threads of this process."""

    def __init__(self, spec: CompiledSpec, store: ShardStore, shards: int, threads: int) -> None:
        self.slots = threads
        self._spec = spec
        self._readers = [StateReader(spec, store, shards) for _ in range(threads)]
        self._stopping = False

    def _stop(self) -> None:
        self._stopping = True

    def write(self, tasks: Sequence[PartTask], progress: Callable[[int], None]) -> list[AttemptFile]:
        """See `TableExecutor`; a thread fetches the next task when it has done one."""
        taking = itertools.count()
        files: dict[int, AttemptFile] = {}

        def take_tasks(thread: int) -> None:
            while not self._stopping and (index := next(taking)) < len(tasks):
                files[index] = write_part(self._readers[thread], tasks[index])

        def poll() -> None:
            progress(sum(file.rows for file in [*files.values()]))

        WorkerPool(self.slots, poll, self._stop).run(take_tasks)
        return [files[index] for index in range(len(tasks))]

    def write_parents(
        self, parts: Sequence[TablePart], folder: Path, progress: Callable[[int], None]
    ) -> list[AttemptFile]:
        """See `TableExecutor`. One file, level by level, since a level needs all steps from the one before."""
        levels: dict[int, list[LevelPart]] = {}
        for part in parts:
            for one in part.levels:
                levels.setdefault(one.task.level, []).append(one)

        def write(path: Path) -> int:
            reader, rows = self._readers[0], 0
            with parquet_writer(path, parents_schema(self._spec)) as out:
                for depth in range(2, len(levels) + 1):
                    parents = LevelParents(reader, levels[depth])
                    for one in levels[depth - 1]:
                        parents.take(reader, one)
                    batch = parents.batch(self._spec)
                    rows += batch.num_rows
                    out.write_batch(batch)
                    progress(rows)
            return rows

        return [write_attempt(folder, PARENTS, 0, write)]
