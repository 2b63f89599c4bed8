"""The search that a command line chooses: in memory, with its states in files, or on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from kmc.checking.search_place import InMemory, InShards, OnSpark, SearchPlace
from kmc.cli.options.check_options import CheckOptions
from kmc.cli.options.spark_settings import SUBMITTED, settings_of
from kmc.cli.options.storage_options import require_storage
from kmc.errors import CommandLineError
from kmc.install_hint import install_command
from kmc.reference.search import ENGINE as ENGINE_PYTHON
from kmc.shards.level.sharding import SHARDS_MAX


def with_implied_options(options: CheckOptions) -> CheckOptions:
    """The options with those that follow from others; CommandLineError KMC616 for shards without the options that they
    need.
    """
    settings_of(options.spark_settings, options.spark)
    ways = {"--threads": options.threads, "--processes": options.processes, "--spark": options.spark}
    if options.processes is not None:
        refuse_several(ways)
    if options.spark is not None and options.shards is None and options.resume is None:
        options = replace(options, shards=SHARDS_MAX)
    if options.exchange is not None and options.spark is None and options.resume is None:
        raise CommandLineError("KMC616", "only a search on Spark has an exchange", help="add --spark MASTER")
    if options.thin_rows is not None and options.spark is None:
        raise CommandLineError("KMC616", "only a search on Spark has thin levels", help="add --spark MASTER")
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


def search_place(options: CheckOptions) -> SearchPlace:
    """The place where the search of this command line keeps its states."""
    if options.shards is None:
        return InMemory()
    if options.spark is None:
        return InShards(options.shards, options.processes)
    return OnSpark(
        None if options.spark == SUBMITTED else options.spark,
        options.shards,
        f"kmc check {options.spec} {options.model or ''}".strip(),
        None if options.exchange is None else options.exchange == "files",
        settings_of(options.spark_settings, options.spark),
        options.thin_rows,
    )
