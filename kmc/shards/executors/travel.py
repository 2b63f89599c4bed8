"""The data that another process needs for the tasks of a sharded search: bytes, and no compiler and no sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.loops.compiled_loops import object_codes, receive, sharded_loops_of
from kmc.engine.native.memory import Words
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.level.expander import Expander
from kmc.shards.level.merger import Merger
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
from kmc.shards.storage.store_place import StorePlace

if TYPE_CHECKING:
    # It imports the compiler, which is not where tasks run.
    from kmc.engine.compiled_model import CompiledModel


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A search: `spec` is a compiled spec with the object code of loops, `place` where all files lie.

    With `noting`, steps are recorded for the behaviour graph.
    """

    spec: bytes
    sharding: Sharding
    deadlock: bool
    place: StorePlace
    noting: Noting | None = None

    @classmethod
    def of(
        cls,
        compiled: CompiledModel,
        sharding: Sharding,
        *,
        deadlock: bool,
        place: StorePlace,
        noting: Noting | None = None,
    ) -> ShardJob:
        """The job of a model that is compiled here."""
        kernels = compiled.kernels
        loops = object_codes(sharded_loops_of(kernels.wide, kernels.rank != 0, edges=noting is not None))
        return cls(compiled.spec.with_loops(loops).to_bytes(), sharding, deadlock, place, noting)

    def worker(self) -> ShardWorker:
        """The worker that runs the job's tasks in this process."""
        return ShardWorker(self)


class ShardWorker:
    """Runs tasks of a job in the process that calls it, one after another."""

    def __init__(self, job: ShardJob) -> None:
        # Kept, since it keeps the code of the kernels alive.
        self._spec = CompiledSpec.from_bytes(job.spec)
        receive(self._spec.loops)
        kernels = KernelTable.of(self._spec)
        self.store = job.place.store()
        self._expander = Expander(kernels, job.sharding, self.store, deadlock=job.deadlock, noting=job.noting)
        self._merger = Merger(job.sharding, self.store, wide=kernels.wide, ranked=kernels.rank != 0)

    def expand(self, source: LevelSource, task: ExpandTask) -> tuple[Expanded, list[Words]]:
        """See `Expander.expand`: the entries are valid until the next task."""
        return self._expander.expand(source, task)

    def merge(self, task: MergeTask, sent: Sequence[Words]) -> Merged:
        """See `Merger.merge`."""
        return self._merger.merge(task, sent)

    def check(self, source: LevelSource, task: RowsTask, *, stored: bool) -> Checked:
        """See `Expander.check`."""
        return self._expander.check(source, task, stored=stored)

    def seek(self, source: LevelSource, task: SeekTask) -> list[PackedState]:
        """See `Expander.seek`."""
        return self._expander.seek(source, task)
