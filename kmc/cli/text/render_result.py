"""The text that ends a check: counts, effort, what was checked, coverage, warnings, what was proved.

Invariant: the last line is that of `kmc.checking.verdict_line`, for people and for programs that read only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.text import Text

from kmc.amounts import bytes_in_words, ranges_in_words, seconds_in_words
from kmc.checking.model_text import constants_text, names
from kmc.checking.outcome import Outcome
from kmc.checking.result_text import count_lines, warning_lines
from kmc.checking.verdict_line import verdict_line
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.text.conclusion import conclusion, saved_line
from kmc.cli.text.console import definitions, stdout, table
from kmc.cli.text.level_table import level_lines
from kmc.cli.text.render_story import styled
from kmc.error_text import shown_path
from kmc.frontend.model import Model
from kmc.invariants.kinds import SHOWN, PropertyKind, Role
from kmc.invariants.properties import SymmetrySet, View
from kmc.lang.types import IdentMeta
from kmc.liveness.refutation_lines import assumed_text
from kmc.result import Result, ShardFigures

_GOOD = "green"
_BAD = "bold red"
_WARNING = "yellow"

RATED_SECONDS_MIN = 1.0
"""A rate over a shorter time says nothing of a longer search."""


def _unused_symmetry(model: Model) -> str:
    """A hint that a model without symmetry could have one, if it could: temporal properties take none."""
    declared = [prop for prop in model.spec.properties.values() if isinstance(prop, SymmetrySet)]
    many = [prop for prop in declared if any(len(cls.members) > 1 for cls in prop.classes)]
    if model.temporal:
        return "none"
    if many:
        return f"none, though the spec declares {names(many)}"
    held = [value for names in model.spec.modules.values() for value in names.values()]
    symmetric = {cls.__name__ for cls in held if isinstance(cls, IdentMeta) and cls.symmetric and len(cls.members) > 1}
    if not declared and symmetric:
        listed = ", ".join(sorted(symmetric))
        return f"none, though {listed} is declared symmetric (spec.symmetry)"
    return "none"


def _has_file(model: Model) -> bool:
    """Return whether a model comes from a manifest or a `.cfg` file; one of a spec alone has no constraints."""
    return Path(model.file.path).suffix in (".toml", ".cfg")


def _declared_bounds(model: Model, kinds: Sequence[PropertyKind]) -> str:
    """A hint that the spec declares constraints, which no model names; "" if there are none."""
    bounds = tuple(kind.declared for kind in kinds if kind.role is Role.BOUNDING)
    declared = [prop for prop in model.spec.properties.values() if isinstance(prop, bounds)]
    return f"none, though the spec declares {names(declared)}: a model of models.toml names them" if declared else ""


def checked_lines(outcome: Outcome) -> list[str]:
    """The lines on what was checked, and how it was reduced."""
    model, start = outcome.model, outcome.request.start_name
    rows = [
        ("spec", f"{model.spec.name} ({shown_path(model.spec.root)})"),
        ("model", model.name + (f": {model.file.description}" if model.file.description else "")),
        ("constants", constants_text(model.spec) or "none"),
    ]
    for label, group in groupby(SHOWN, key=lambda kind: kind.label):
        kinds = list(group)
        named = names(prop for kind in kinds for prop in model.of(kind))
        # A model without an invariant is worth a line, and so are bounds that only a model of a manifest can name.
        unnamed = "" if named or _has_file(model) else _declared_bounds(model, kinds)
        rows += [(label, named or unnamed or "none")] if named or unnamed or label == SHOWN[0].label else []
    rows.append(("symmetry", names(model.symmetry) or _unused_symmetry(model)))
    rows.append(("view", _view(model.view) if model.view else "none"))
    rows += [("abstractions", names(model.abstractions))] if model.abstractions else []
    rows.append(("deadlock", "checked" if model.deadlock else "not checked"))
    rows += _temporal_rows(outcome.result, model)
    rows += [("from", start)] if start else []
    return ["Checked:", *definitions(rows)]


def _view(view: View) -> str:
    return f"{view.name}, without {', '.join(sorted(view.dropped))}" if view.dropped else view.name


def _temporal_rows(result: Result, model: Model) -> Iterator[tuple[str, str]]:
    """The temporal properties that were checked, and the fairness assumed."""
    checked = [prop for prop in result.properties if prop.verdict != "not checked"]
    temporal = [prop for prop in model.temporal if any(prop.name == verdict.name for verdict in checked)]
    if temporal:
        yield "temporal properties", names(temporal)
        yield "fairness assumed", assumed_text(result.fairness) or "none"
    elif model.temporal:
        yield "not checked", f"{names(model.temporal)} (temporal)"


def coverage_lines(generated_by_action: Mapping[str, int]) -> list[str]:
    """Generated states per action."""
    rows = [(action, f"{count:,}") for action, count in generated_by_action.items()]
    return ["Generated by action:", *table(rows, right=frozenset({1}))] if rows else []


def violated_lines(result: Result) -> list[str]:
    """The number of violations of each property, when a search continued after the first violation."""
    rows = [(prop.name, f"{prop.violations:,}") for prop in result.properties if prop.violations]
    return ["Violations met by property:", *table(rows, right=frozenset({1}))] if rows else []


def effort_line(result: Result) -> str:
    """Time, that of compiling apart, rate and memory."""
    rate = ""
    if result.cpu_seconds >= RATED_SECONDS_MIN and not result.is_unsearched:
        rate = f"{result.counters.generated / result.cpu_seconds:,.0f} states generated per second of CPU time, "
    # Code from the cache is loaded in no time that a person would notice.
    seconds = seconds_in_words(result.compile_seconds)
    compiled = f"compiled in {seconds} before, " if result.compiled_anew else ""
    return (
        f"{seconds_in_words(result.counters.seconds)}, {compiled}{rate}"
        f"{bytes_in_words(result.peak_memory_bytes)} of memory at most, engine {result.engine}."
    )


def shards_lines(figures: ShardFigures, distinct: int) -> Iterator[str]:
    """The traffic and the storage of a search in shards, per distinct state, and how evenly it was divided."""
    sent, rows, runs, stored = (
        f"{words / max(1, distinct):.1f} B"
        for words in (figures.sent_bytes, figures.rows_bytes, figures.runs_bytes, figures.stored_bytes)
    )
    shards = f"{figures.shards} shard{'s' * (figures.shards != 1)}"
    if figures.shards_used != figures.shards:
        shards = f"{figures.shards_used} of {shards} in use"
    skew = f", the longest task {figures.task_skew:.1f} times the median" if figures.task_skew is not None else ""
    yield f"{shards}, per state: {sent} sent to owners, {rows} of rows and {runs} of runs written, {stored} kept."
    yield (
        f"{bytes_in_words(figures.disk_bytes)} on disk at the end, "
        f"the largest shard {figures.shard_skew:.2f} times the mean{skew}."
    )
    if figures.job_levels is not None:
        yield _job_line(figures.job_levels, figures.thin_rows or 0)


def _job_line(levels: Sequence[int], thin_rows: int) -> str:
    """The levels that were jobs of Spark; a search may have had none, and then a cluster was of no use."""
    if not levels and not thin_rows:
        return "Spark made no level."
    if not levels:
        return (
            f"Spark made no level: all have fewer than {thin_rows:,} rows, which the driver makes faster than a job. "
            "This check needs no cluster; --thin-rows N makes jobs of smaller levels."
        )
    jobs = f"{len(levels)} levels were jobs" if len(levels) > 1 else "1 level was a job"
    driver = f" The driver made those of fewer than {thin_rows:,} rows (--thin-rows)." if thin_rows else ""
    return f"{jobs} of Spark: {ranges_in_words(levels)}.{driver}"


def expectation_lines(outcome: Outcome) -> Iterator[Text]:
    """The comparison with the manifest, if it says what is expected; under `--expect` in any case."""
    expect = outcome.model.file.expect
    origin = f" (origin: {expect['origin']})" if expect else ""
    if outcome.differences:
        yield Text(f"Error: The result is not the expected one{origin}:", _BAD)
        yield from (Text(f"  {difference}", _BAD) for difference in outcome.differences)
    elif expect and outcome.not_compared is not None:
        yield Text(f"The expected figures of the manifest do not apply: {outcome.not_compared}.")
    elif not expect:
        yield from (Text(f"Error: {line}", _BAD) for line in outcome.unexpected if outcome.request.acceptance.expect)
    elif outcome.result.violation is not None:
        yield Text(f"The violation is as expected by the manifest{origin}.")
    else:
        yield Text(f"Counts equal the expected ones{origin}.", _GOOD)


def _levels_shown(report: CheckReport, console: Console) -> Iterator[str]:
    """The sizes of the levels, where they are wanted; with colours that were forced, another program reads them."""
    levels, wanted = report.outcome.result.levels, report.options.levels
    if wanted is None:
        wanted = console.file.isatty() and report.outcome.result.violation is None and len(levels) > 1
    if wanted and levels:
        ascii_only = not console.encoding.lower().startswith("utf")
        yield from level_lines(levels, console.width - 1, ascii_only=ascii_only)


def summary_lines(report: CheckReport) -> Iterator[Text | str]:
    """The lines after the verdict and the trace; with `--quiet`, the counts only."""
    outcome, options, result = report.outcome, report.options, report.outcome.result
    yield from count_lines(result)
    if options.quiet:
        yield from styled(warning_lines(outcome) if options.strict else ())
        yield from expectation_lines(outcome) if outcome.differences or options.expect else ()
        yield from saved_line(report)
        yield verdict_line(outcome)
        return
    yield effort_line(result)
    if result.shards is not None:
        yield from shards_lines(result.shards, result.counters.distinct)
    yield ""
    yield from checked_lines(outcome)
    yield from coverage_lines(result.generated_by_action)
    if options.keep_going:
        yield from violated_lines(result)
    yield from _levels_shown(report, stdout())
    yield from styled(warning_lines(outcome))
    yield ""
    yield from expectation_lines(outcome)
    yield from conclusion(report)
    yield verdict_line(outcome)
