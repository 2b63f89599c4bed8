"""`kmc states`: write the explored states of a run as tables."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmc.amounts import seconds_in_words
from kmc.checking.model_choice import AbstractionChoice, choose_model
from kmc.cli.options.search_choice import refuse_several, require_pyspark
from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.options.spark_settings import conf_option, settings_of
from kmc.cli.saved.kept_command import check_about, locate_spec
from kmc.cli.saved.run_place import run_with_states
from kmc.cli.saved.saved_runs import TABLES_NAME
from kmc.cli.text.console import say, show, stderr
from kmc.cli.text.progress import StatusLine
from kmc.error_text import shown_path
from kmc.errors import CommandLineError, ExitStatus, SystemFault
from kmc.install_hint import install_command
from kmc.lang.assumed_range import assuming
from kmc.process import cpu_seconds, usable_cpus
from kmc.reference.temporal.accepted_problem import accepted_problem

if TYPE_CHECKING:
    from kmc.engine.compiled_model import CompiledModel
    from kmc.shards.kept_states import KeptStates
    from kmc.tables.new_tables import NewTables
    from kmc.tables.table_executors import TableExecutor
    from kmc.tables.write_tables import Wanted, Written

_EPILOG = """\b
Examples:
  kmc check kraft standard --shards 4 --keep-states
  kmc states .kmc/runs/kraft-standard-20261120-231948
  kmc states RUN --columns servers,acked --parents
  kmc states RUN --spark spark://HOST:7077 --out /a/folder/that/all/hosts/see/tables
  kmc query RUN "SELECT level, count(*) FROM states GROUP BY level ORDER BY level"

\b
Exit status: 0 written; 2 wrong command line; 150, 151 the spec or the model is wrong;
153 the run has no states, its spec changed, a package is missing, or the disk is full.
"""


@click.command(epilog=_EPILOG, short_help="Write the explored states of a run as tables.")
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--out", metavar="DIR", type=click.Path(), help="Where to write them; default: RUN/tables.")
@click.option("--columns", metavar="NAME,NAME", help="Write these variables of the states only.")
@click.option("--parents", is_flag=True, help="Write a predecessor of each state too.")
@click.option("--edges", is_flag=True, help="Write all steps too.")
@click.option("--spec", metavar="SPEC", help="The spec of the run, where it lies elsewhere now.")
@click.option("--threads", metavar="N", type=click.IntRange(1, 64), help="Threads; default: all cores.")
@click.option(
    "--spark",
    metavar="MASTER",
    help="Write on Spark: local[2], spark://HOST:7077, yarn, ...; all executors must see RUN and DIR.",
)
@conf_option
@json_option
@click.option("--quiet", is_flag=True, help="No progress.")
@debug_option
def states(
    run: str,
    out: str | None,
    columns: str | None,
    parents: bool,
    edges: bool,
    spec: str | None,
    threads: int | None,
    spark: str | None,
    spark_settings: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Write the states that a check with --keep-states explored as Parquet files, which kmc query and others read.

    RUN is the folder of a run, its address in a storage, or `last`, the newest that keeps its states. The table states
    has a column for each variable of the spec, levels counts the states of each level. The options add the tables
    parents and edges. See docs/states.md.
    """
    require_packages()
    run = run_with_states(run)
    refuse_several({"--threads": threads, "--spark": spark})
    settings = settings_of(spark_settings, spark)
    if spark is not None:
        require_pyspark()
    # Imported here, because numpy and pyarrow take a third of a second.
    from kmc.shards.kept_states import kept_in_storage, kept_states
    from kmc.tables.write_tables import Wanted

    wanted = Wanted(tuple(columns.split(",")) if columns is not None else None, parents, edges)
    if out is None and "://" in run:
        raise CommandLineError("KMC634", "the tables of a run in a storage have no place", help="give --out DIR")
    folder = Path(out) if out is not None else Path(run) / TABLES_NAME
    began, cpu_began = time.monotonic(), cpu_seconds()
    with kept_in_storage(run) if "://" in run else kept_states(Path(run)) as kept:
        ways = Ways(threads or usable_cpus(), spark, settings)
        written = _written(kept, spec, Path(run), folder, wanted, ways, quiet)
    totals = {name: count for name, count in asdict(written).items() if count is not None}
    seconds, cpu = time.monotonic() - began, cpu_seconds() - cpu_began
    if as_json:
        say(json.dumps({"folder": str(folder), **totals, "seconds": seconds, "cpu_seconds": cpu}, indent=2))
    else:
        counts = ", ".join(f"{count:,} {name}" for name, count in totals.items())
        show([f"Written to {shown_path(folder)}: {counts}, in {seconds_in_words(seconds)}."])
    return ExitStatus.OK


@dataclass(frozen=True, slots=True)
class Ways:
    """The way tasks run: in this number of threads, or on Spark with some settings if there is a master."""

    threads: int
    spark: str | None
    settings: Mapping[str, str]


def _written(
    kept: KeptStates, wanted_spec: str | None, run: Path, folder: Path, wanted: Wanted, ways: Ways, quiet: bool
) -> Written:
    from kmc.engine.assumed_integers import range_of
    from kmc.engine.check_temporal import TemporalSearch
    from kmc.engine.compiled_model import compile_model
    from kmc.engine.files.run_directory import SPEC_DIGEST, refuse_changed
    from kmc.tables.new_tables import new_tables
    from kmc.tables.write_tables import TableWriter, part_rows, refuse_unknown

    about: Mapping[str, Any] = check_about(kept.about, run)
    spec = wanted_spec or locate_spec(about, run)
    names = () if about.get("no_abstractions") else tuple(about.get("abstractions", ())) or None
    choice = AbstractionChoice(names, about.get("verify_abstractions", False))
    model = choose_model(spec, about["model"], about["sets"], about["deadlock"], None, choice).model.searched
    problem = accepted_problem(model)
    with assuming(range_of(kept.digests)):
        compiled = compile_model(model, kept.fingerprint_bits)
        # With temporal properties, other kernels made the same rows.
        checked = compiled if problem is None else TemporalSearch(model, problem, kept.fingerprint_bits).compiled
    refuse_changed(run, kept.digests, {SPEC_DIGEST: checked.spec.digest})
    refuse_unknown(compiled.spec, kept, wanted.columns)
    total = sum(kept.levels)
    with StatusLine(stderr(), quiet=quiet) as line:

        def tell(done: int) -> None:
            if line.is_due():
                line.update(f"Writing tables: {done:,} rows, of {total:,} states.")

        # Spark ends before the tables get their name or are removed.
        with new_tables(folder) as new, _executor(compiled, kept, new, ways) as executor:
            return TableWriter(kept, executor, tell, part_rows(total, executor.slots)).write(new, wanted)


@contextmanager
def _executor(compiled: CompiledModel, kept: KeptStates, new: NewTables, ways: Ways) -> Iterator[TableExecutor]:
    spec, shards = compiled.spec, kept.state.shards
    if ways.spark is None:
        from kmc.tables.table_executors import ThreadTables

        yield ThreadTables(spec, kept.store, shards, ways.threads)
        return
    from kmc.tables.table_job import TableJob
    from kmc_spark.session import spark_context
    from kmc_spark.tables import SparkTables

    name = f"kmc states {spec.names.spec} {spec.names.model}"
    with spark_context(ways.spark, name, ways.settings) as context:
        yield SparkTables(context, TableJob.of(spec, shards, kept.place.elsewhere), new)


def require_packages() -> None:
    """Raise SystemFault for a package of tables that is not installed."""
    for package in ("pyarrow", "duckdb"):
        if find_spec(package) is None:
            raise SystemFault("KMC505", f"{package} is not installed", help=f"install it: {install_command('tables')}")
