"""A result as text: verdict and counts in TLC's words, what was checked, coverage, warnings, what was proved.

Invariant: the last line is that of `kmc.cli.verdict_line`, for people and for programs that read only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from rich.console import Console
from rich.text import Text

from kmc.cli.conclusion import conclusion, constraints_text, cut_sentence, saved_line
from kmc.cli.console import bytes_in_words, definitions, seconds_in_words, stdout, table
from kmc.cli.level_table import level_lines
from kmc.cli.model_text import constants_text, names
from kmc.cli.outcome import Outcome
from kmc.cli.render_errors import error_lines, shown_path
from kmc.cli.result_warnings import missed_texts, warning_texts
from kmc.cli.verdict_line import verdict_line
from kmc.invariants.kinds import SHOWN, Role, kind_of
from kmc.invariants.properties import SymmetrySet
from kmc.lang.idents import IdentMeta
from kmc.reference.refutation_lines import assumed_text
from kmc.result import Bound, Result, ShardFigures, Verdict, Violation
from kmc.spec.model import Model

_GOOD = "green"
_BAD = "bold red"
_WARNING = "yellow"

RATED_SECONDS_MIN = 0.1

_BOUND_WORDS = {
    Bound.STATES: "the limit on states was reached",
    Bound.TIME: "the limit on time was reached",
    Bound.MEMORY: "the limit on memory was reached",
}


def verdict_lines(outcome: Outcome) -> Iterator[Text]:
    """How the check ended, up to the trace."""
    result = outcome.result
    match result.verdict:
        case Verdict.OK:
            yield Text("Model checking completed. No error has been found.", _GOOD)
            yield from _limit_lines(outcome)
        case Verdict.BOUND_REACHED:
            yield Text(_bound_line(outcome), _WARNING)
            if not result.is_unsearched:
                yield from _limit_lines(outcome)
        case Verdict.INTERRUPTED:
            yield Text("Model checking interrupted. No error has been found so far.", _WARNING)
        case _:
            if result.violation is not None:
                yield from violation_lines(result.violation, from_given_state=outcome.options.start is not None)


def violation_lines(violation: Violation, *, from_given_state: bool) -> Iterator[Text]:
    """What failed, in TLC's words, up to the trace."""
    alone = len(violation.trace) == 1
    first = "by the given state" if from_given_state else "by the initial state"
    match violation.verdict:
        case Verdict.VIOLATION:
            kind = kind_of(Role.CHECKED, 2 if violation.is_step else 1).noun.capitalize()
            kind = kind if violation.refutation is None else "Temporal property"
            yield Text(f"Error: {kind} {violation.name} is violated{f' {first}:' if alone else '.'}", _BAD)
        case Verdict.LIVENESS:
            yield Text(f"Error: Temporal property {violation.name} is violated.", _BAD)
        case Verdict.DEADLOCK:
            yield Text("Error: Deadlock reached.", _BAD)
        case Verdict.ASSERTION:
            yield Text("Error: An assertion of the spec failed.", _BAD)
        case _:
            yield Text("Error: Evaluating the spec failed.", _BAD)
    if violation.error is not None:
        yield from error_lines(violation.error)


def behaviour_line(violation: Violation) -> Iterator[Text]:
    """What TLC writes above a trace."""
    if violation.refutation is not None and violation.refutation.cycle is not None:
        yield Text("Error: The following behavior constitutes a counter-example:", _BAD)
    elif len(violation.trace) > 1 or violation.verdict is not Verdict.VIOLATION:
        yield Text("Error: The behavior up to this point is:", _BAD)


def _limit_lines(outcome: Outcome) -> Iterator[Text]:
    """The limits of "no error": collisions of fingerprints, and constraints that cut the graph."""
    yield Text(_collision_line(outcome.result))
    cut = cut_sentence(outcome.result, outcome.chosen.model)
    if cut:
        yield Text(f"  {cut}", _WARNING)


def _collision_line(result: Result) -> str:
    said = "  The probability that two distinct states had the same fingerprint: "
    if result.collision_bound == 0:
        return said + "0 (states are compared by value, so none can be confused)"
    width = "b-bit" if result.fingerprint_bits == 64 else f"{result.fingerprint_bits}-bit"
    return said + f"{result.collision_bound:.1E} (bound: n(n-1)/2^(b+1) for n states, {width} fingerprints)"


def _bound_line(outcome: Outcome) -> str:
    result, model = outcome.result, outcome.chosen.model
    match result.bound:
        case Bound.DEPTH:
            return f"Model checking stopped at level {result.counters.depth}, the level bound. No error has been found."
        case Bound.START:
            return "Model checking from the given state completed. No error has been found."
        case Bound.CONSTRAINT:
            return f"Model checking completed within {constraints_text(model)}. No error has been found."
        case Bound.NOT_CHECKED:
            unchecked = names(model.temporal)
            return f"Model checking completed, but not of {unchecked}. No other error has been found."
        case _:
            reason = _BOUND_WORDS[result.bound] if result.bound else "a limit was reached"
            return f"Model checking stopped: {reason}. No error has been found."


def count_lines(result: Result) -> Iterator[str]:
    """TLC's two summary lines."""
    counters = result.counters
    yield (
        f"{counters.generated} states generated, {counters.distinct} distinct states found, "
        f"{counters.left} states left on queue."
    )
    yield (
        f"The depth of the complete state graph search is {counters.depth}."
        if result.is_whole or result.bound is Bound.START
        else f"The depth of the state graph search, which is not complete, is {counters.depth}."
    )


def _unused_symmetry(model: Model) -> str:
    """That a model without symmetry could have one, if it could: temporal properties take none."""
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


def checked_lines(outcome: Outcome) -> list[str]:
    """What was checked, and how it was reduced."""
    model, options = outcome.chosen.model, outcome.options
    rows = [
        ("spec", f"{model.spec.name} ({shown_path(model.spec.root)})"),
        ("model", model.name + (f": {model.file.description}" if model.file.description else "")),
        ("constants", constants_text(model.spec) or "none"),
    ]
    for label, kinds in groupby(SHOWN, key=lambda kind: kind.label):
        found = names(prop for kind in kinds for prop in model.of(kind))
        # A model without an invariant is worth a line.
        rows += [(label, found or "none")] if found or label == SHOWN[0].label else []
    rows.append(("symmetry", names(model.symmetry) or _unused_symmetry(model)))
    view = model.view
    rows.append(("view", f"{view.name}, without {', '.join(sorted(view.dropped))}" if view else "none"))
    rows.append(("deadlock", "checked" if model.deadlock else "not checked"))
    rows += _temporal_rows(outcome.result, model)
    rows += [("from", str(options.start))] if options.start else []
    return ["Checked:", *definitions(rows)]


def _temporal_rows(result: Result, model: Model) -> Iterator[tuple[str, str]]:
    """Which temporal properties were checked, under which fairness."""
    checked = [prop for prop in result.properties if prop.verdict != "not checked"]
    temporal = [prop for prop in model.temporal if any(prop.name == found.name for found in checked)]
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
    """How often each property was violated, when a search continued after the first violation."""
    rows = [(prop.name, f"{prop.violations:,}") for prop in result.properties if prop.violations]
    return ["Violations met by property:", *table(rows, right=frozenset({1}))] if rows else []


def warning_lines(outcome: Outcome) -> Iterator[Text]:
    """Warnings that weaken a result; what was missed is an error under `--strict`."""
    missed = frozenset(missed_texts(outcome)) if outcome.options.strict else frozenset()
    for text in warning_texts(outcome):
        yield Text(f"Error: {text}", _BAD) if text in missed else Text(f"Warning: {text}", _WARNING)


def effort_line(result: Result) -> str:
    """Time, that of compiling apart, rate and memory."""
    rate = ""
    # A rate over a very short time is meaningless.
    if result.cpu_seconds >= RATED_SECONDS_MIN:
        rate = f"{result.counters.generated / result.cpu_seconds:,.0f} states generated per second of CPU time, "
    # Code from the cache is loaded in no time that a person would notice.
    seconds = seconds_in_words(result.compile_seconds)
    compiled = f"compiled in {seconds} before, " if result.compiled_anew else ""
    return (
        f"{seconds_in_words(result.counters.seconds)}, {compiled}{rate}"
        f"{bytes_in_words(result.peak_memory_bytes)} of memory at most, engine {result.engine}."
    )


def shards_lines(figures: ShardFigures, distinct: int) -> Iterator[str]:
    """What a search in shards moved and keeps, per distinct state, and how evenly it was divided."""
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
    jobs = figures.levels_as_jobs
    if jobs is not None:
        levels = f"{jobs} level{'s were jobs' if jobs != 1 else ' was a job'}" if jobs else "No level was a job"
        yield f"{levels} of Spark; a level of few rows is made in the driver (spark.kmc.thinRows)."


def expectation_lines(outcome: Outcome) -> Iterator[Text]:
    """The comparison with the manifest, if it says what is expected; under `--expect` in any case."""
    expect = outcome.chosen.model.file.expect
    origin = f" (origin: {expect['origin']})" if expect else ""
    if outcome.differences:
        yield Text(f"Error: The result is not the expected one{origin}:", _BAD)
        yield from (Text(f"  {difference}", _BAD) for difference in outcome.differences)
    elif expect and outcome.not_compared is not None:
        yield Text(f"The expected figures of the manifest do not apply: {outcome.not_compared}.")
    elif not expect:
        yield from (Text(f"Error: {line}", _BAD) for line in outcome.unexpected if outcome.options.expect)
    elif outcome.result.violation is not None:
        yield Text(f"The violation is as expected by the manifest{origin}.")
    else:
        yield Text(f"Counts equal the expected ones{origin}.", _GOOD)


def _levels_shown(outcome: Outcome, console: Console) -> Iterator[str]:
    """The sizes of the levels, where they are wanted; with colours that were forced, another program reads them."""
    levels, wanted = outcome.result.levels, outcome.options.levels
    if wanted is None:
        wanted = console.file.isatty() and outcome.result.violation is None and len(levels) > 1
    if wanted and levels:
        ascii_only = not console.encoding.lower().startswith("utf")
        yield from level_lines(levels, console.width - 1, ascii_only=ascii_only)


def summary_lines(outcome: Outcome) -> Iterator[Text | str]:
    """The lines after the verdict and the trace; with `--quiet`, the counts only."""
    result = outcome.result
    yield from count_lines(result)
    if outcome.options.quiet:
        yield from warning_lines(outcome) if outcome.options.strict else ()
        yield from expectation_lines(outcome) if outcome.differences or outcome.options.expect else ()
        yield from saved_line(outcome)
        yield verdict_line(outcome)
        return
    yield effort_line(result)
    if result.shards is not None:
        yield from shards_lines(result.shards, result.counters.distinct)
    yield ""
    yield from checked_lines(outcome)
    yield from coverage_lines(result.generated_by_action)
    if outcome.options.keep_going:
        yield from violated_lines(result)
    yield from _levels_shown(outcome, stdout())
    yield from warning_lines(outcome)
    yield ""
    yield from expectation_lines(outcome)
    yield from conclusion(outcome)
    yield verdict_line(outcome)
