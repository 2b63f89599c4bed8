"""`kmc bench`: time and memory per state of the engines, on named models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from kmc.amounts import bytes_in_words, seconds_in_words
from kmc.bench.declared import Benchmark, find_benchmarks
from kmc.bench.made_up_answers import ClusterSize
from kmc.bench.measured_runs import STATES, Plan, Tell, measure, require_memory
from kmc.bench.simulated_driver import SIZES, measure_all
from kmc.bench.tlc import Tlc, require_tlc, try_tlc
from kmc.bench.whole_checks import Way, compare
from kmc.cli.modules.module_argument import (
    BENCH_OPTIONS,
    NATIVE_BENCH_OPTIONS,
    configuration_of,
    is_module,
    refuse_other_options,
)
from kmc.cli.options.completion import SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.text.console import say, show, stderr, table
from kmc.cli.text.progress import StatusLine
from kmc.cli.text.simulated_driver import driver_lines
from kmc.error_text import shown_path
from kmc.errors import ExitStatus, SystemFault
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.shards.level.sharding import SHARDS_MAX

_THREADS_MAX = 64
_DIGITS_MAX = 9
_TASKS_MAX = 1_000_000
DEFAULT_SHARDS = 4

_EPILOG = """\b
Examples:
  kmc bench kraft                                 all benchmarks of the spec
  kmc bench kraft plain --tlc tla2tools.jar --spec-dir ~/kafka-tlaplus/kraft --tlc-seconds 120
  kmc bench kip_996 large --spark 'local[2]' --runs 1
  kmc bench driver simulated --size 1000x256      the driver of a large cluster, on answers that are made up
  kmc bench Lease.tla --engine native --tlc tla2tools.jar   the translation of a TLA+ module, beside TLC

\b
How to read the table:
  CPU ns/state   CPU time of all threads per generated state, the least of all runs; other work on the
                 machine affects it little
  generated/s    in wall time, of the fastest run; meaningful on a quiet machine only: see the load
  B/state        the table per distinct state: on average, and right after it grew
  B/row          a packed state of a frontier
  peak B/state   the largest resident memory of the process over distinct states
  rate           with --shards or --spark: states a second, over those of the search in memory
  peak           with --shards or --spark: the largest resident memory of the process that was started; workers apart

\b
Exit status: 0 measured, 130 interrupted (nothing is written), 153 memory is short, a run or TLC fails,
2 wrong command line, 151 the model file or benchmarks.toml is wrong.
"""


def _thread_numbers(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """An option's value as numbers of threads: `1,2`; click.BadParameter for anything else."""
    words = value.split(",")
    # A number of more than 4,300 digits is none to Python.
    if not all(_is_number(word, _THREADS_MAX) for word in words):
        raise click.BadParameter(f"'{value}' is not a list of numbers of threads; write 1,2", ctx, param)
    return tuple(sorted({int(word) for word in words}))


def _sizes(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[ClusterSize, ...]:
    """Values of an option as sizes of levels: `1000x256`; click.BadParameter for anything else."""
    sizes = []
    for word in value:
        tasks, _, shards = word.partition("x")
        if not all(_is_number(text, most) for text, most in ((tasks, _TASKS_MAX), (shards, SHARDS_MAX))):
            message = f"'{word}' is not a number of tasks and one of shards; write 1000x256"
            raise click.BadParameter(message, ctx, param)
        sizes.append(ClusterSize(int(tasks), int(shards)))
    return tuple(sizes)


def _is_number(text: str, most: int) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS_MAX and 1 <= int(text) <= most


@click.command(epilog=_EPILOG, short_help="Measure time and memory per state on named models.")
@click.argument("spec", type=SPEC_TYPE)
@click.argument("benchmark", required=False)
@click.option("--states", metavar="N", type=click.IntRange(1),
              help="A run ends after the first level that exceeds N distinct states.  "
                   f"[default: {STATES}; with --shards or --spark: the whole model]")  # fmt: skip
@click.option("--runs", metavar="N", type=click.IntRange(1), default=3, show_default=True, help="Runs for each number.")
@click.option("--threads", metavar="N,N", callback=_thread_numbers, default="1,2", show_default=True,
              help="Numbers of threads to compare.")  # fmt: skip
@click.option("--python", is_flag=True, help="Measure the interpreter too, on up to 20,000 states.")
@click.option("--engine", type=click.Choice(["python", "native"]),
              help="Of a TLA+ module: the interpreter, or the native engine on its translation.  "
                   "[default: python]")  # fmt: skip
@click.option("--no-starts", is_flag=True, help="Do not measure starts.")
@click.option("--tlc", "class_path", metavar="JAR", help="Run this TLC for comparison: tla2tools.jar, or a class path.")
@click.option("--spec-dir", metavar="DIR", type=click.Path(file_okay=False), help="For TLC: the TLA+ modules.")
@click.option("--tlc-module", metavar="NAME", help="For TLC: the module, when the benchmark names none.")
@click.option("--tlc-seconds", metavar="N", type=click.IntRange(1), default=60, show_default=True,
              help="How long TLC may explore before it is stopped. It is tried for a second first.")  # fmt: skip
@click.option("--shards", metavar="N", type=click.IntRange(1),
              help="Compare whole checks instead: in memory, and in N shards on threads.")  # fmt: skip
@click.option("--spark", "masters", metavar="MASTER", multiple=True,
              help="With --shards: compare with the same on Spark too. May be repeated.")  # fmt: skip
@click.option("--size", "sizes", metavar="TASKSxSHARDS", multiple=True, callback=_sizes,
              help="Of `driver simulated`: a level of so many tasks and shards. May be repeated.")  # fmt: skip
@click.option("--out", metavar="DIR", default="results/benchmarks", show_default=True,
              type=click.Path(file_okay=False), help="Where NAME.json is written.")  # fmt: skip
@json_option
@click.option("--quiet", is_flag=True, help="No progress.")
@debug_option
@click.pass_obj
def bench(words: tuple[str, ...], /, **given: Any) -> int:
    """Measure the time and memory of the native engine per state of SPEC, and write them to a file.

    BENCHMARK is a name from the spec's benchmarks.toml, by default all of
    them, or the name of any model. Every run is a fresh process that warms up
    first; the file has all runs, the machine with its load, and the commit.

    With --shards or --spark, BENCHMARK is a model, by default `smoke`. SPEC may be a TLA+ module, and BENCHMARK its
    .cfg file: the interpreter is measured, on up to 20,000 states, or with --engine native the translation, with
    --tlc beside TLC on the same files.

    `kmc bench driver simulated` measures the driver of a search on a cluster:
    its CPU time and memory for a level of many tasks and shards, whose
    answers are made up. It projects large models from that.
    """
    if (given["spec"], given["benchmark"]) == SIMULATED:
        return _simulated(given)
    if is_module(given["spec"]):
        is_native = given["engine"] == "native"
        refuse_other_options(click.get_current_context(), NATIVE_BENCH_OPTIONS if is_native else BENCH_OPTIONS)
        return _of_module(given, words or (), _translation_measurer if is_native else _interpreter_measurer)
    if given["engine"] is not None:
        raise click.UsageError("--engine is for TLA+ modules: --python measures the interpreter too")
    if given["sizes"]:
        raise click.UsageError("--size belongs to: kmc bench driver simulated")
    if given["shards"] is not None or given["masters"]:
        return _compared(given)
    plan = _plan(given, words or ())
    chosen = find_benchmarks(given["spec"], given["benchmark"])
    if plan.tlc is not None:
        for benchmark in chosen:
            require_tlc(plan.tlc, benchmark)
    require_memory(plan.states)
    measurements = []
    try:
        _try_tlc(plan, chosen, given["quiet"])
        for benchmark in chosen:
            measurements.append(_measured(benchmark, plan, Path(given["out"]), given["quiet"]))
            if not given["as_json"]:
                show([*_lines(measurements[-1]), ""])
    except KeyboardInterrupt:
        show(["Interrupted: the running benchmark is not written."], stderr())
        return ExitStatus.INTERRUPTED
    if given["as_json"]:
        say(json.dumps({"benchmarks": measurements}, indent=2))
    return ExitStatus.OK


_Measurer: TypeAlias = Callable[[Path, Path | None, Mapping[str, Any], Sequence[str], Tell], dict[str, Any]]
"""Measures a module with its `.cfg` file, as the options and words of the command line say."""


def _interpreter_measurer(
    path: Path, configuration: Path | None, given: Mapping[str, Any], words: Sequence[str], tell: Tell
) -> dict[str, Any]:
    # Imported here, because benchmarks of specs in Python do not need the layer of TLA+.
    from kmc.checking.modules.module_benchmark import measure_module

    return measure_module(path, configuration, given["states"], given["runs"], words, tell)


def _translation_measurer(
    path: Path, configuration: Path | None, given: Mapping[str, Any], words: Sequence[str], tell: Tell
) -> dict[str, Any]:
    from kmc.checking.modules.translated_benchmark import measure_translation, tlc_of_module

    tlc = None
    if given["class_path"] is not None:
        tlc = tlc_of_module(path, configuration, given["class_path"], given["tlc_seconds"])
    return measure_translation(path, configuration, _plan_of(given, words, tlc), tell)


def _of_module(given: Mapping[str, Any], words: Sequence[str], measure_as: _Measurer) -> int:
    """Measure a TLA+ module; BENCHMARK is its `.cfg` file."""
    path = Path(given["spec"])
    configuration = configuration_of(given["spec"], given["benchmark"])
    with StatusLine(stderr(), quiet=given["quiet"]) as line:

        def tell(text: str) -> None:
            line.update(f"Measuring {path.stem}: {text}.")

        try:
            measured = measure_as(path, configuration, given, words, tell)
        except KeyboardInterrupt:
            show(["Interrupted: nothing is written."], stderr())
            return ExitStatus.INTERRUPTED
    measured["path"] = str(_written(measured, Path(given["out"]) / f"{measured['benchmark']}.json"))
    if given["as_json"]:
        say(json.dumps({"benchmarks": [measured]}, indent=2))
    else:
        show(_lines(measured))
    return ExitStatus.OK


def _simulated(given: Mapping[str, Any]) -> int:
    """Measure the driver on levels that are made up."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name not in _SIMULATED_OPTIONS:
            raise click.UsageError(f"{parameter.opts[0]} measures nothing with driver simulated: leave it out")
    with StatusLine(stderr(), quiet=given["quiet"]) as line:
        measured = measure_all(given["sizes"] or SIZES, lambda text: line.update(f"Measuring the driver: {text}."))
    path = _written(measured, Path(given["out"]) / "driver-simulated.json")
    if given["as_json"]:
        say(json.dumps({**measured, "path": str(path)}, indent=2))
    else:
        show([*driver_lines(measured), f"  Saved: {shown_path(path)}"])
    return ExitStatus.OK


def _compared(given: Mapping[str, Any]) -> int:
    """Compare whole checks; BENCHMARK is the model."""
    for name, option in _NOT_COMPARED.items():
        if given[name]:
            raise click.UsageError(f"{option} measures nothing with --shards or --spark: leave it out")
    # Refused here: each process of the comparison would begin before it refuses them.
    find_model(find_spec_root(given["spec"]), given["benchmark"])
    threads = max(given["threads"])
    shards = given["shards"] or DEFAULT_SHARDS
    states = ("--max-states", str(given["states"])) if given["states"] else ()
    own = ("--threads", str(threads))
    ways = [Way("in memory", own), Way(f"{shards} shards on threads", (*own, "--shards", str(shards)))]
    for master in given["masters"]:
        there = ("--shards", str(shards), "--spark", master)
        ways.append(Way(f"{shards} shards on {master}, by shuffle", (*there, "--exchange", "shuffle")))
        ways.append(Way(f"{shards} shards on {master}, by files", (*there, "--exchange", "files")))
    words = [given["spec"], *([given["benchmark"]] if given["benchmark"] else []), *states]
    with StatusLine(stderr(), quiet=given["quiet"]) as line:
        comparison = compare(
            words, ways, given["runs"], lambda text: line.update(f"Checking {' '.join(words)}: {text}.")
        )
    title = "-".join([Path(word).name for word in (given["spec"], given["benchmark"]) if word])
    path = _written(comparison, Path(given["out"]) / f"{title}-shards.json")
    if given["as_json"]:
        say(json.dumps({**comparison, "path": str(path)}, indent=2))
    else:
        show(_compared_lines(comparison, path))
    return ExitStatus.OK


def _compared_lines(comparison: Mapping[str, Any], path: Path) -> Iterator[str]:
    """A comparison for a person."""
    yield f"{' '.join(comparison['check'])}: {comparison['distinct']:,} states, {comparison['generated']:,} generated"
    rows = []
    for name, one in comparison["ways"].items():
        shards = one["shards"] or {}
        sent, rows_bytes, runs_bytes, stored = (
            f"{shards[key] / comparison['distinct']:.1f}" if shards else "-"
            for key in ("sent_bytes", "rows_bytes", "runs_bytes", "stored_bytes")
        )
        times = (one["seconds"], one["cpu_seconds"], one["java_cpu_seconds"])
        ratios = (one["rate_by_wall"], one["rate_by_cpu"])
        rows.append(
            (name, *(f"{value:.1f}" for value in times), *(f"{value:.2f}" for value in ratios), sent, rows_bytes,
             runs_bytes, stored, bytes_in_words(one["peak_memory_bytes"]))
        )  # fmt: skip
    yield from table([_COMPARED_HEADER, *rows], right=_RIGHT)
    for name, one in comparison["ways"].items():
        if one["projected_seconds"]:
            more = ", ".join(f"{cores} cores {value:.1f} s" for cores, value in one["projected_seconds"].items())
            yield f"  Projected from the CPU time of {name}, not measured: {more}"
    yield f"  Saved: {shown_path(path)}"


def _try_tlc(plan: Plan, chosen: Iterable[Benchmark], quiet: bool) -> None:
    """Measuring lasts minutes, and a mistake in the setup of TLC shows within seconds."""
    if plan.tlc is None:
        return
    with StatusLine(stderr(), quiet=quiet) as line:
        for benchmark in chosen:
            line.update(f"Trying TLC on {benchmark.title}.")
            try_tlc(plan.tlc, benchmark)


def _plan(given: Mapping[str, Any], words: tuple[str, ...]) -> Plan:
    tlc = None
    if given["class_path"] is not None or given["spec_dir"] is not None:
        if given["class_path"] is None or given["spec_dir"] is None:
            raise click.UsageError("TLC needs both --tlc JAR and --spec-dir DIR")
        tlc = Tlc(given["class_path"], Path(given["spec_dir"]), given["tlc_module"], given["tlc_seconds"])
    return _plan_of(given, words, tlc)


def _plan_of(given: Mapping[str, Any], words: Sequence[str], tlc: Tlc | None) -> Plan:
    return Plan(
        states=given["states"] or STATES,
        runs=given["runs"],
        threads=given["threads"],
        python=given["python"],
        starts=not given["no_starts"],
        tlc=tlc,
        words=tuple(words),
    )


def _measured(benchmark: Benchmark, plan: Plan, out: Path, quiet: bool) -> dict[str, Any]:
    """Measure, and write the whole file or nothing."""
    with StatusLine(stderr(), quiet=quiet) as line:

        def tell(text: str) -> None:
            line.update(f"Measuring {benchmark.title}: {text}.")

        measurement = measure(benchmark, plan, tell)
    return {**measurement, "path": str(_written(measurement, out / f"{benchmark.title}.json"))}


def _written(measurement: Mapping[str, Any], path: Path) -> Path:
    """Write a measurement, all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".json.new")
        unfinished.write_text(json.dumps(measurement, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise SystemFault("KMC503", f"cannot write {path}: {error.strerror}", help="give another --out DIR") from None
    return path


SIMULATED = ("driver", "simulated")
_SIMULATED_OPTIONS = frozenset({"spec", "benchmark", "sizes", "out", "as_json", "quiet", "debug"})
_NOT_COMPARED = {"python": "--python", "class_path": "--tlc", "spec_dir": "--spec-dir", "tlc_module": "--tlc-module"}
_COMPARED_HEADER = (
    "",
    "s",
    "CPU s",
    "of it Java",
    "rate",
    "rate by CPU",
    "B sent",
    "B rows",
    "B runs",
    "B kept",
    "peak",
)
_HEADER = (
    "",
    "distinct",
    "generated",
    "CPU ns/state",
    "generated/s",
    "distinct/s",
    "B/state",
    "B/row",
    "peak B/state",
    "load",
)
_RIGHT = frozenset(range(1, 11))


def _lines(measurement: Mapping[str, Any]) -> Iterator[str]:
    """The results of one benchmark for a person."""
    commit = measurement["commit"]
    known = f", commit {commit['id'][:7]}{' with changes' if commit['changed'] else ''}" if commit else ""
    yield f"{measurement['benchmark']}: {measurement['description']}"
    kernels = ", ".join(sorted({figures["kernels"] for figures in measurement["figures"].values()}))
    yield f"  {measurement['machine']['cpu']}, {measurement['machine']['cores']} cores{known}, {kernels} kernels"
    rows = [_row(f"{threads} thread{'s' * (threads != '1')}", one) for threads, one in measurement["figures"].items()]
    if measurement["python"]:
        rows.append(_row("interpreter", measurement["python"]))
    rows += [_tlc_row(run) for run in (measurement["tlc"] or {}).get("runs", ())]
    yield from table([_HEADER, *rows], right=_RIGHT)
    yield from (f"  {threads} threads: {ratio:.2f} times one" for threads, ratio in measurement["scaling"].items())
    for workers, ratio in (measurement["ratios"] or {}).items():
        agree = {True: ", the counts agree", False: ", THE COUNTS DIFFER", None: ""}[ratio["counts_agree"]]
        yield (
            f"  kmc generates {ratio['generated_per_second']:,.0f} times as many states a second as TLC with {workers}"
            f" worker{'s' * (workers != '1')}, each for {ratio['cpu_per_generated']:,.0f} times less CPU time{agree}"
        )
    for threads, ratio in (measurement["temporal"] or {}).items():
        costs = measurement["figures"][threads]["temporal"]
        agree = "" if ratio["counts_agree"] else ", THE COUNTS DIFFER"
        verdicts = ", ".join(f"{name} {verdict}" for name, verdict in costs["verdicts"].items())
        if len(costs["verdicts"]) > 1:
            verdicts = f"{len(costs['verdicts'])} temporal properties"
        yield (
            f"  {threads} thread{'s' * (threads != '1')}: {verdicts} under {costs['fairness']} conditions of fairness:"
            f" {ratio['graph_times_search']:.2f} times the CPU time of the search alone with the graph,"
            f" {ratio['whole_times_search']:.2f} with the verdicts too{agree}"
        )
    if measurement["starts"]:
        starts = measurement["starts"]
        cold, cached = seconds_in_words(starts["cold_seconds"]), seconds_in_words(starts["cached_seconds"])
        yield f"  first level after {cold} cold, {cached} cached"
    yield f"  Saved: {shown_path(Path(measurement['path']))}"


def _row(name: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    memory = "-", "-"
    if "frontier_row_bytes" in one:
        average = one["table_bytes_per_state_average"]
        grown = one["table_bytes_per_state_after_growth"]
        memory = f"{average:.1f} / {grown:.1f}", f"{one['frontier_row_bytes']:.1f}"
    return (
        name,
        f"{one['distinct']:,}",
        f"{one['generated']:,}",
        f"{one['cpu_ns_per_generated']:,.0f}",
        f"{one['generated_per_second']:,.0f}",
        f"{one['distinct_per_second']:,.0f}",
        *memory,
        f"{one['peak_memory_bytes_per_distinct']:,.0f}",
        f"{one['load_most']:.1f}",
    )


def _tlc_row(run: Mapping[str, Any]) -> tuple[str, ...]:
    workers = run["workers"]
    return (
        f"TLC, {workers} worker{'s' * (workers != 1)}",
        f"{run['distinct']:,}",
        f"{run['generated']:,}",
        f"{run['cpu_ns_per_generated']:,.0f}",
        f"{run['generated_per_second']:,.0f}",
        f"{run['distinct_per_second']:,.0f}",
        "-",
        "-",
        "-",
        f"{max(run['load_before'], run['load_after']):.1f}",
    )
