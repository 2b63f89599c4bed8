"""The results of `kmc check SPEC --all`: lines, a summary, a JUnit report and a JSON object."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from rich.text import Text

from kmc import __version__
from kmc.amounts import seconds_in_words
from kmc.checking.expectation import UNEXPECTED_FIGURE
from kmc.checking.result_warnings import has_warnings
from kmc.checking.selection import KINDS, MANIFEST_KIND, ChosenEntry
from kmc.cli.reports.model_run import ModelRun, State
from kmc.cli.text.console import table
from kmc.cli.text.junit import TestCase, class_name, spec_title, suite_text
from kmc.errors import ExitStatus

_STYLES = {"as expected": "green", "UNEXPECTED": "bold red", "not checked": "yellow", "interrupted": "yellow"}
_WORDS = {
    ExitStatus.OK: "EXPECTED",
    ExitStatus.ASSUMPTION: "UNEXPECTED",
    ExitStatus.BOUND_REACHED: "BOUND",
    ExitStatus.INTERRUPTED: "INTERRUPTED",
}


def run_line(runs: Sequence[ModelRun], chosen: Sequence[ChosenEntry]) -> Iterator[Text]:
    """The line of the last of `runs`, below the title of its kind where it is the first; `chosen` sets the width."""
    run, before = runs[-1], runs[-2].choice if len(runs) > 1 else None
    choice = run.choice
    if before is None or (before.spec, before.kind) != (choice.spec, choice.kind):
        if before is not None:
            yield Text()
        several = len({each.spec for each in chosen}) > 1
        yield Text(f"{choice.spec}, {choice.kind}s" if several else f"{choice.kind.capitalize()}s", "bold")
    width = max(len(each.name) for each in chosen)
    line = Text(f"  {choice.name:<{width}}  ")
    line.append(f"{run.state.words:<11}", _STYLES.get(run.state.words, ""))
    line.append(f"  {run.summary}")
    if run.result is not None:
        line.append(f" ({seconds_in_words(run.seconds)})")
    yield line


def summary_lines(runs: Sequence[ModelRun]) -> Iterator[Text | str]:
    """The unexpected results, each with its trace and the command that repeats it; then the count of each kind."""
    for run in runs:
        if run.state is State.UNEXPECTED:
            yield ""
            yield Text(f"{run.choice.spec} {run.choice.name}: {run.summary}", "bold red")
            yield from (f"  {line}".rstrip() for line in _below(run.summary, run.text.splitlines()))
    yield from _warned_lines([run.choice for run in runs if has_warnings(run.summary)])
    yield ""
    shown = [state for state in State if state in (State.EXPECTED, State.UNEXPECTED) or _count(runs, state)]
    kinds = (*KINDS, MANIFEST_KIND)
    rows = [("", *(state.words for state in shown))]
    rows += [(f"{kind}s", *_counts(of, shown)) for kind in kinds if (of := [r for r in runs if r.choice.kind == kind])]
    yield from table([*rows, ("all", *_counts(runs, shown))], right=frozenset(range(1, len(shown) + 1)), indent=0)


def _warned_lines(warned: Sequence[ChosenEntry]) -> Iterator[str]:
    """The command that shows the warnings that are only counted in the line of a model."""
    if warned:
        more = len(warned) - 1
        others = f", and so for {more} more model{'s' * (more != 1)}" if more else ""
        yield ""
        yield f"Warnings: {shlex.join(['kmc', 'check', warned[0].spec, warned[0].name])} shows them{others}."


def _below(verdict: str, lines: Sequence[str]) -> Sequence[str]:
    """The lines without a first one that only repeats the heading above them."""
    same = bool(lines) and lines[0].removeprefix(UNEXPECTED_FIGURE).removesuffix(".") == verdict
    return lines[1:] if same else lines


def new_warnings(runs: Sequence[ModelRun]) -> list[str]:
    """The warnings of the last of `runs` that none before it gave."""
    *before, last = map(_warnings, runs)
    shown = {text for texts in before for text in texts}
    return [text for text in last if text not in shown]


def _warnings(run: ModelRun) -> list[str]:
    return list(run.result["warnings"] or ()) if run.result is not None else []


def verdict_of_all(typed: str, runs: Sequence[ModelRun], status: ExitStatus) -> str:
    """The verdict in one line, as `kmc.checking.verdict_line` has it for one check."""
    counts = [f"{_count(runs, State.EXPECTED):,} of {len(runs):,} as expected"]
    counts += [
        f"{count:,} {state.value}" for state in State if state is not State.EXPECTED if (count := _count(runs, state))
    ]
    shown = spec_title(typed) if typed == os.curdir else typed
    return f"{_word(runs, status)} {shown}: {', '.join(counts)}"


def _word(runs: Sequence[ModelRun], status: ExitStatus) -> str:
    """The word of the verdict; with --bounded-ok, the status is 0 though the time ran out."""
    is_bounded = status is ExitStatus.OK and _count(runs, State.NOT_CHECKED) > 0
    return _WORDS[ExitStatus.BOUND_REACHED if is_bounded else status]


def junit_of_all(typed: str, runs: Sequence[ModelRun], status: ExitStatus) -> str:
    """One suite with a test case a model; its classes are the specs and the kinds."""
    cases = [_case(run, status) for run in runs]
    return suite_text(class_name(typed), cases, sum(run.seconds for run in runs), verdict_of_all(typed, runs, status))


def json_object(typed: str, runs: Sequence[ModelRun], status: ExitStatus, seconds: float) -> dict[str, Any]:
    """All results as one object; `result` of a model is the object of its own `kmc check --json`."""
    return {
        "result": _word(runs, status).lower(),
        "spec": typed,
        "counts": {state.value: _count(runs, state) for state in State},
        "models": [
            {
                "spec": run.choice.spec,
                "model": run.choice.name,
                "kind": run.choice.kind,
                "state": run.state.value,
                "told": run.summary,
                "seconds": round(run.seconds, 3),
                "result": run.result,
            }
            for run in runs
        ],
        "warnings": list(dict.fromkeys(text for run in runs for text in _warnings(run))),
        "seconds": round(seconds, 3),
        "kmc_version": __version__,
        "exit_status": int(status),
    }


def _case(run: ModelRun, status: ExitStatus) -> TestCase:
    outcome: Literal["failure", "error", "skipped"] | None = None
    match run.state:
        case State.UNEXPECTED:
            outcome = "failure"
        case State.INTERRUPTED:
            outcome = "error"
        case State.LEFT_OUT:
            outcome = "skipped"
        case State.NOT_CHECKED:
            outcome = "failure" if status is ExitStatus.BOUND_REACHED else "skipped"
    message = f"{run.state.value}: {run.summary}" if run.state is State.LEFT_OUT else run.summary
    text = "\n".join(filter(None, (run.summary if outcome is None else "", run.text)))
    of = f"{class_name(run.choice.spec)}.{run.choice.kind}s"
    return TestCase(run.choice.name, outcome, message, text, of, run.seconds)


def _counts(runs: Sequence[ModelRun], shown: Sequence[State]) -> tuple[str, ...]:
    return tuple(f"{_count(runs, state):,}" for state in shown)


def _count(runs: Sequence[ModelRun], state: State) -> int:
    return sum(run.state is state for run in runs)
