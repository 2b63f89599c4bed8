"""Sharded searches on one machine: tasks on threads or processes, files in the folder of the run or in a storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmc.engine.check_model import SearchMaker
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.liveness.noting import Noting
from kmc.result import Counters
from kmc.shards.executors import Executor, ThreadExecutor
from kmc.shards.on_processes import ProcessExecutor
from kmc.shards.run_in_storage import place_of, store_of
from kmc.shards.sharded_search import ShardedSearch
from kmc.shards.sharding import Sharding
from kmc.shards.travel import ShardJob


def sharded(sharding: Sharding, processes: int | None = None) -> SearchMaker:
    """What `check_native` takes as `search_of`; it needs a `directory`. With `processes`, tasks run in so many."""

    def search_of(
        compiled: CompiledModel,
        initial: Sequence[PackedState],
        settings: Settings,
        progress: Callable[[Counters], None] | None,
        directory: RunDirectory | None,
        /,
        noting: Noting | None = None,
    ) -> ShardedSearch:
        assert directory is not None, "shards keep their states in files"
        store = store_of(directory)

        def executor_of(poll: Callable[[], None]) -> Executor:
            if processes is not None:
                job = ShardJob.of(
                    compiled, sharding, deadlock=settings.deadlock, place=place_of(directory), noting=noting
                )
                return ProcessExecutor(job, store, processes=processes, poll=poll)
            threads = settings.threads
            return ThreadExecutor(
                compiled.kernels,
                sharding,
                store,
                deadlock=settings.deadlock,
                threads=threads,
                noting=noting,
                poll=poll,
            )

        return ShardedSearch(
            compiled.kernels, initial, settings, sharding, store, executor_of, progress, directory, noting
        )

    return search_of
