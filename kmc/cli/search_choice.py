"""Which search a command line asks for: in memory, with its states in files, or on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kmc.cli.outcome import CheckOptions
from kmc.cli.spark_settings import SUBMITTED, settings_of
from kmc.cli.storage_choice import require_storage
from kmc.errors import CommandLineError
from kmc.install_hint import install_command
from kmc.reference.search import ENGINE as ENGINE_PYTHON

if TYPE_CHECKING:
    from kmc.engine.check_model import SearchMaker

SPARK_SHARDS = 16
"""How many shards a search on Spark has where none are asked for."""


def completed(options: CheckOptions) -> CheckOptions:
    """The options with those that follow from others; CommandLineError KMC616 for shards without what they need."""
    settings_of(options.spark_settings, options.spark)
    ways = {"--threads": options.threads, "--processes": options.processes, "--spark": options.spark}
    if options.processes is not None:
        refuse_several(ways)
    if options.spark is not None and options.shards is None and options.resume is None:
        options = replace(options, shards=SPARK_SHARDS)
    if options.exchange is not None and options.spark is None and options.resume is None:
        raise CommandLineError("KMC616", "only a search on Spark has an exchange", help="add --spark MASTER")
    if options.shards is None:
        if options.keep_states and options.resume is None:
            raise CommandLineError("KMC616", "only a search in shards has states to keep", help="add --shards N")
        if options.processes is not None and options.resume is None:
            raise CommandLineError("KMC616", "only a search in shards has processes", help="add --shards N")
        if options.storage is not None and options.resume is None:
            raise CommandLineError("KMC616", "only a search in shards has files in a storage", help="add --shards N")
        require_storage(options)
        return options
    require_storage(options)
    if options.engine == ENGINE_PYTHON:
        raise CommandLineError("KMC616", "the interpreter has no shards", help="leave out --engine")
    if options.no_run_dir:
        raise CommandLineError(
            "KMC616", "shards keep their states in the folder of the run", help="leave out --no-run-dir"
        )
    if options.spark is not None:
        require_pyspark()
    return options


def refuse_several(ways: Mapping[str, Any]) -> None:
    """Raise CommandLineError KMC619 if more than one of these options was given."""
    given = [option for option, value in ways.items() if value is not None]
    if len(given) > 1:
        raise CommandLineError("KMC619", f"{' and '.join(given)} exclude each other", help="give one of them")


def require_pyspark() -> None:
    """Raise CommandLineError KMC618 unless it is installed."""
    if find_spec("pyspark") is None:
        raise CommandLineError("KMC618", "PySpark is not installed", help=f"install it: {install_command('spark')}")


@contextmanager
def chosen_search(options: CheckOptions, note: Callable[[str], None]) -> Iterator[SearchMaker]:
    """Yield the maker of the search; a Spark application runs during the block, and a note names it."""
    # Imported here, because numpy and the engine take a third of a second.
    if options.shards is None:
        from kmc.engine.check_model import search_in_memory

        yield search_in_memory
        return
    from kmc.shards.sharding import Sharding

    sharding = Sharding(options.shards)
    if options.spark is None:
        from kmc.shards.on_threads import sharded

        yield sharded(sharding, options.processes)
        return
    from kmc_spark.application import application_line
    from kmc_spark.on_spark import sharded_on_spark
    from kmc_spark.session import is_local, spark_context

    master = None if options.spark == SUBMITTED else options.spark
    name = f"kmc check {options.spec} {options.model or ''}".strip()
    with spark_context(master, name, settings_of(options.spark_settings, options.spark)) as context:
        if (line := application_line(context)) is not None:
            note(line)
        exchange = options.exchange or ("files" if is_local(context.master) else "shuffle")
        yield sharded_on_spark(context, sharding, by_files=exchange == "files")
