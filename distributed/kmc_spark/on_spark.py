"""Sharded searches whose tasks are Spark's, with their files in the folder of the run or in a storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark import SparkContext

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.model_search import SearchMaker
from kmc.result import Counters
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.executors.travel import ShardJob
from kmc.shards.level.sharding import Sharding
from kmc.shards.sharded_search import ShardedSearch
from kmc.shards.storage.run_in_storage import place_of, store_of
from kmc_spark.executor import SparkExecutor
from kmc_spark.own_settings import executor_wait_of, thin_rows_of
from kmc_spark.probe import probe


def sharded_on_spark(
    context: SparkContext, sharding: Sharding, *, by_files: bool = False, thin_rows: int | None = None
) -> SearchMaker:
    """Return the argument `search_of` of `check_native`; the search needs a `directory` that all executors see under
    the same path.

    A level of fewer than `thin_rows` rows is made in the driver; None: the number in the context's settings.
    """
    thin = thin_rows_of(context) if thin_rows is None else thin_rows
    wait_seconds = executor_wait_of(context)

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
        place = place_of(directory).elsewhere
        probe(context, store, place)
        job = ShardJob.of(compiled, sharding, deadlock=settings.deadlock, place=place, noting=noting)

        def executor_of(poll: Callable[[], None]) -> SparkExecutor:
            local = ThreadExecutor(
                compiled.kernels,
                sharding,
                store,
                deadlock=settings.deadlock,
                threads=settings.threads,
                noting=noting,
                poll=poll,
            )
            return SparkExecutor(
                context, job, local, store, poll, by_files=by_files, thin_rows=thin, wait_seconds=wait_seconds
            )

        return ShardedSearch(
            compiled.kernels, initial, settings, sharding, store, executor_of, progress, directory, noting
        )

    return search_of
