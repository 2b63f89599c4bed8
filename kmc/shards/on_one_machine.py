"""Sharded searches on one machine: tasks on threads or processes, files in the folder of the run or in a storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.model_search import SearchMaker
from kmc.result import Counters
from kmc.shards.executors.executor import Executor, ThreadExecutor
from kmc.shards.executors.on_processes import ProcessExecutor
from kmc.shards.executors.travel import ShardJob
from kmc.shards.level.sharding import Sharding
from kmc.shards.sharded_search import ShardedSearch
from kmc.shards.storage.run_in_storage import place_of, store_of


def sharded(sharding: Sharding, processes: int | None = None) -> SearchMaker:
    """Return the argument `search_of` of `check_native`; the search needs a `directory`. With `processes`, tasks run in
    so many.
    """

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
