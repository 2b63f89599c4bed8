"""`kmc conform`: compare a spec with TLA+, step by step, on the states of a corpus."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from kmc.checking.result_json import error_json
from kmc.cli.modules.module_argument import CONFORM_OPTIONS, configuration_of, is_module, refuse_other_options
from kmc.cli.options.completion import SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.text.console import say, show, stderr, table
from kmc.cli.text.progress import StatusLine
from kmc.error_text import shown_path
from kmc.errors import ExitStatus, KmcError
from kmc.frontend.loader import Spec
from kmc.frontend.shipped import find_spec_root
from kmc.reference.conformance.edges import ConformanceReport, Difference, DifferenceKind, StepsOf, interpreted_steps
from kmc.reference.conformance.edges import conform as compare
from kmc.reference.states.differences import Part
from kmc.trace.text import render
from kmc.trace.untyped_trace import FileStep, TraceFile

SHOWN_SOURCES_MAX = 3
_BAD = "bold red"

_EPILOG = """\b
Examples:
  kmc conform kraft tests/data/edges/kraft-a.json.gz
  kmc conform kraft tests/data/edges/*.json.gz --limit 50
  kmc conform ./my_spec corpus.json --json | jq '.corpora[].differences'
  kmc conform Lease.tla Lease.cfg lease.dot           a TLA+ module, with what TLC dumped of it

\b
Exit status: 0 no difference; 12 a difference, as for a violated invariant: the claim
that the spec is the TLA+ spec fails in some state. 150, 151 as for `kmc check`.
"""


@click.command(epilog=_EPILOG, short_help="Compare a spec with TLA+, step by step.")
@click.argument("spec", type=SPEC_TYPE)
@click.argument("corpora", metavar="CORPUS...", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option(
    "--engine",
    type=click.Choice(["python", "native"]),
    default="python",
    show_default=True,
    help="The engine whose steps are compared: the interpreter, or compiled kernels.",
)
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Compare the first N source states of each.")
@json_option
@debug_option
@click.pass_context
def conform(
    context: click.Context, /, spec: str, corpora: tuple[str, ...], engine: str, limit: int | None, as_json: bool
) -> int:
    """Compare SPEC with the TLA+ spec that it mirrors, on the states in each CORPUS.

    A corpus holds states and, for each, all its successors as TLC computed them, with their actions and how often each
    is generated. With the corpus's constants, the spec must give the same successors with the same multiplicities, on
    either engine. A corpus holds its source states in random order, so --limit gives a fair sample.

    SPEC may be a TLA+ module. Its .cfg file may stand before the first CORPUS, and a CORPUS may be the state graph that
    TLC wrote with -dump dot,actionlabels FILE.
    """
    reports: list[ConformanceReport] = []
    try:
        if is_module(spec):
            refuse_other_options(context, CONFORM_OPTIONS)
            compared = _of_module(spec, corpora, limit)
        else:
            compared = _of_spec(spec, corpora, engine, limit)
        reports.extend(compared)
    except KmcError as error:
        if as_json:
            say(json.dumps(_object(engine, reports, error), indent=2))
        raise
    conforms = all(report.conforms for report in reports)
    if as_json:
        say(json.dumps(_object(engine, reports, None), indent=2))
    else:
        for report in reports:
            show(_report_lines(spec, engine, report))
    return ExitStatus.OK if conforms else ExitStatus.SAFETY


def _engine(name: str) -> Callable[[Spec], StepsOf]:
    if name == "python":
        return interpreted_steps
    # Imported here: LLVM and numpy take a quarter of a second, and the interpreter does not need them.
    from kmc.engine.kernel_steps import compiled_steps

    return compiled_steps


def _of_spec(spec: str, corpora: Sequence[str], engine: str, limit: int | None) -> Iterator[ConformanceReport]:
    """Compare a spec with each corpus."""
    root = find_spec_root(spec)
    steps_of = _engine(engine)
    for corpus in map(Path, corpora):
        with _progress(corpus) as progress:
            report = compare(root, corpus, limit=limit, progress=progress, engine=steps_of)
        yield report


def _of_module(spec: str, corpora: Sequence[str], limit: int | None) -> Iterator[ConformanceReport]:
    """Compare a TLA+ module with each corpus."""
    # Imported here, because the comparison of a spec in Python does not need the layer of TLA+.
    from kmc.checking.modules.check_module import ModuleRequest, load_module
    from kmc.checking.modules.module_conformance import module_conforms

    model = corpora[0] if corpora[0].endswith(".cfg") else None
    named = corpora if model is None else corpora[1:]
    if not named:
        raise click.UsageError("Missing argument 'CORPUS...'.")
    request = ModuleRequest(Path(spec), configuration_of(spec, model))
    for corpus in map(Path, named):
        with _progress(corpus) as progress:
            report = module_conforms(partial(load_module, request), corpus, limit=limit, progress=progress)
        yield report


@contextmanager
def _progress(corpus: Path) -> Iterator[Callable[[int, int], None]]:
    with StatusLine(stderr()) as line:

        def progress(done: int, total: int) -> None:
            if line.is_due():
                line.update(f"{corpus.name}: {done:,} of {total:,} source states compared.")

        yield progress


def _report_lines(spec: str, engine: str, report: ConformanceReport) -> Iterator[Text | str]:
    constants = f" ({report.constants})" if report.constants else ""
    yield f"{spec} against {shown_path(report.corpus)}{constants}, engine {engine}"
    header = ("action", "sources", "edges", "generated")
    rows = [
        (count.action, f"{count.sources:,}", f"{count.edges:,}", f"{count.generated:,}") for count in report.actions
    ]
    yield from table([header, *rows], right=frozenset({1, 2, 3}))
    compared = (
        f"{report.sources:,} of {report.sources_total:,} source states, {report.edges:,} different steps, "
        f"{report.generated:,} steps generated"
    )
    if report.conforms:
        yield Text(f"No difference: {compared}.", "green")
        yield ""
        return
    yield from (Text(f"Error: The spec has no action {title}.", _BAD) for title in report.missing_actions)
    yield from (Text(f"Error: TLA+ has no action {title}.", _BAD) for title in report.extra_actions)
    yield from _difference_lines(report)
    yield Text(f"Error: {len(report.differences):,} differences in {compared}.", _BAD)
    yield ""


def _difference_lines(report: ConformanceReport) -> Iterator[Text | str]:
    """The differences of the first source states that have any, with each state in full."""
    by_source = [
        (number, list(group)) for number, group in groupby(report.differences, lambda difference: difference.source)
    ]
    if not by_source:
        return
    corpus = report.read
    for number, differences in by_source[:SHOWN_SOURCES_MAX]:
        yield Text(f"State {number} of the corpus:", "bold")
        yield from state_lines(corpus.variables, corpus.variables_of(number))
        for difference in differences:
            yield Text(f"  {_claim(difference)}", _BAD)
            yield from _part_lines(difference)
        yield ""
    hidden = len(by_source) - SHOWN_SOURCES_MAX
    if hidden > 0:
        yield f"{hidden:,} more states with differences are not shown; --json lists all differences."


def state_lines(variables: tuple[str, ...], values: Any) -> list[str]:
    """A state in TLC's style."""
    file = TraceFile(variables, (FileStep(values),))
    return [line.text for line in render(file, changed_only=False)[1:]]


def _claim(difference: Difference) -> str:
    match difference.kind:
        case DifferenceKind.MISSING:
            return f"{difference.label}: TLA+ has a successor that the spec does not give"
        case DifferenceKind.EXTRA:
            return f"{difference.label}: the spec gives a successor that TLA+ does not have"
        case DifferenceKind.TIMES:
            return (
                f"{difference.label}: TLA+ generates a successor {difference.tlc_times} times, "
                f"the spec {difference.kmc_times} times"
            )


def _part_lines(difference: Difference) -> Iterable[str]:
    if difference.kind is DifferenceKind.TIMES:
        return []
    left, right = "TLA+", "spec"
    if difference.against_source:
        missing = difference.kind is DifferenceKind.MISSING
        left, right = ("TLA+", "this state") if missing else ("this state", "spec")
    header = ("", left, right)
    return table([header, *(_part_row(part) for part in difference.parts)], indent=4)


def _part_row(part: Part) -> tuple[str, str, str]:
    return part.path, part.left or "-", part.right or "-"


def _object(engine: str, reports: Sequence[ConformanceReport], error: KmcError | None) -> dict[str, Any]:
    """The object of `--json`; an error leaves open whether the spec conforms, and the corpora compared before it."""
    conforms = all(report.conforms for report in reports)
    status = ExitStatus.OK if conforms else ExitStatus.SAFETY
    return {
        "conforms": conforms if error is None else None,
        "engine": engine,
        "corpora": [_report_json(report) for report in reports],
        "error": None if error is None else error_json(error),
        "exit_status": int(status if error is None else error.exit_status),
    }


def _report_json(report: ConformanceReport) -> dict[str, Any]:
    return {
        "corpus": str(report.corpus),
        "model": report.model,
        "constants": report.constants,
        "conforms": report.conforms,
        "sources": report.sources,
        "sources_total": report.sources_total,
        "edges": report.edges,
        "generated": report.generated,
        "actions": [asdict(count) for count in report.actions],
        "missing_actions": list(report.missing_actions),
        "extra_actions": list(report.extra_actions),
        "differences": [_difference_json(difference) for difference in report.differences],
    }


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "source": difference.source,
        "action": difference.label,
        "kind": difference.kind.value,
        "tlc_times": difference.tlc_times,
        "kmc_times": difference.kmc_times,
        "compared_with_source": difference.against_source,
        "parts": [asdict(part) for part in difference.parts],
    }
