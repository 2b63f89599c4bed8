"""The end of a check's output: the states and properties that were proved, or why nothing was, and the next command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from kmc.amounts import size_in_words
from kmc.checking.memory_need import need_lines
from kmc.checking.proof import endless_lines, proof_lines
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.saved.saved_runs import ITF_NAME, PAGE_NAME, disk_bytes
from kmc.error_text import shown_path
from kmc.process import available_bytes, memory_bytes


def conclusion(report: CheckReport) -> Iterator[str]:
    """The lines on what was proved, where the run was saved, and for a failure the command that reproduces it."""
    outcome, words = report.outcome, report.options.words
    yield from proof_lines(outcome)
    yield from saved_line(report)
    yield from endless_lines(outcome)
    if outcome.memory_need is not None:
        anew = tuple(_without_outputs(words, "--memory"))
        yield from need_lines(outcome.memory_need, outcome.result.levels, memory_bytes() + available_bytes(), anew)
        if report.resume is None:
            yield f"Begin again: {shlex.join(['kmc', *anew, '--memory', outcome.memory_need.size])}"
    if report.resume is not None:
        yield f"Resume: {report.resume}"
    if outcome.result.violation is not None:
        if report.trace_path is not None:
            yield from trace_hints(report.trace_path, has_page=not outcome.explanation_warnings)
            yield f"Walk on from it: {explore_command(report.options.spec, report.trace_path)}"
        yield reproduce_line(report)


def reproduce_line(report: CheckReport) -> str:
    """The command that gives this result again."""
    return f"Reproduce: {command_again(report.options.words)}"


def command_again(words: Sequence[str]) -> str:
    """The command line of a check or a simulation, without where and how its result was written."""
    return shlex.join(["kmc", *_without_outputs(words)])


def explore_command(spec: str | None, trace: Path) -> str:
    """The command that walks on from a saved trace of this spec."""
    return shlex.join(filter(None, ["kmc", "explore", spec, "--from", shown_path(trace)]))


def saved_line(report: CheckReport) -> Iterator[str]:
    """The line with the folder of the run, if it was saved."""
    if report.folder is not None:
        yield f"Saved: {shown_path(report.folder)}{_size_clause(report)}"


def _size_clause(report: CheckReport) -> str:
    """The disk space of a run that can be resumed: ` (84 MB on disk)`; files in a storage are not counted."""
    if report.resume is None or report.folder is None or report.options.storage is not None:
        return ""
    size = disk_bytes(report.folder)
    return f" ({size_in_words(size)} on disk)" if size else ""


def _without_outputs(words: Sequence[str], *options: str) -> Iterator[str]:
    """The words without these options, and without those that say where and how the result is written."""
    valued = ("--junit", "--format", *options)
    before = ""
    for word in words:
        is_left_out = before in valued or word.partition("=")[0] in ("--json", "--quiet", "--debug", *valued)
        if not is_left_out:
            yield word
        before = word


def trace_hints(path: Path, *, has_page: bool) -> Iterator[str]:
    """The commands and the page that show more of a saved trace."""
    where = path.parent if path.name == ITF_NAME else path
    yield f"Show the trace: {shlex.join(['kmc', 'trace', shown_path(where)])}"
    yield "  with --changes, --step N, --table, --chart or --full for more of it"
    if has_page:
        yield f"Open in a browser: {shown_path(path.with_name(PAGE_NAME))}"
