"""The place where a search keeps its states: memory, shards on disk, or shards on Spark.

A place opens what it needs, such as a Spark application, for the duration of a search, and makes the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kmc.engine.model_search import SearchMaker


@dataclass(frozen=True, slots=True)
class InMemory:
    """All known states are in the memory of this process; packed rows may go to files of the run."""

    @contextmanager
    def opened(self, note: Callable[[str], None]) -> Iterator[SearchMaker]:
        """Yield the maker of the search."""
        # Imported here and below, because numpy and the engine take a third of a second.
        from kmc.engine.check_model import search_in_memory

        yield search_in_memory


@dataclass(frozen=True, slots=True)
class InShards:
    """The states are in files of the run, in so many shards, for threads or `processes` of this host."""

    shards: int
    processes: int | None = None

    @contextmanager
    def opened(self, note: Callable[[str], None]) -> Iterator[SearchMaker]:
        """Yield the maker of the search."""
        from kmc.shards.level.sharding import Sharding
        from kmc.shards.on_one_machine import sharded

        yield sharded(Sharding(self.shards), self.processes)


@dataclass(frozen=True, slots=True)
class OnSpark:
    """The states are in shards, for the executors of a Spark application called `name`.

    `master` is None if the application is already running (spark-submit). `by_files` is how candidates reach their
    shards: by shared files, or by a shuffle; None uses files on one host. A level of fewer than `thin_rows` rows is
    made in the driver; None uses the number in the settings.
    """

    master: str | None
    shards: int
    name: str
    by_files: bool | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    thin_rows: int | None = None

    @contextmanager
    def opened(self, note: Callable[[str], None]) -> Iterator[SearchMaker]:
        """Yield the maker of the search while the application runs; a note names the application."""
        from kmc.shards.level.sharding import Sharding
        from kmc_spark.application import application_line
        from kmc_spark.on_spark import sharded_on_spark
        from kmc_spark.session import is_local, spark_context

        with spark_context(self.master, self.name, self.settings) as context:
            if (line := application_line(context)) is not None:
                note(line)
            by_files = is_local(context.master) if self.by_files is None else self.by_files
            yield sharded_on_spark(context, Sharding(self.shards), by_files=by_files, thin_rows=self.thin_rows)


SearchPlace: TypeAlias = InMemory | InShards | OnSpark
