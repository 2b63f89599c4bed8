"""The output of a counterexample: replayed, saved as ITF and TLC JSON, shown in TLC's style.

Invariant: no trace is shown or saved that the interpreter has not replayed step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from kmc.cli.saved_runs import ITF_NAME, TLC_JSON_NAME, RunFolder
from kmc.liveness.problem import TemporalProblem
from kmc.reference.lasso_replay import check_refutation
from kmc.reference.replay import check_violation
from kmc.result import Violation
from kmc.spec.model import Model
from kmc.trace.files import TraceFile, trace_file
from kmc.trace.itf import itf_text
from kmc.trace.text import render
from kmc.trace.tlc_json import tlc_json_text

_CHANGED = "bold yellow"
_HEAD = "bold"


def replayed_trace(model: Model, violation: Violation, start: Any, problem: TemporalProblem | None = None) -> TraceFile:
    """The trace as a neutral file, after a replay that shows the violation; else InternalError (exit 255)."""
    status = violation.verdict.value
    if violation.refutation is None:
        check_violation(model, violation, start)
        return trace_file(violation.trace, model, status, violated=violation.name)
    assert problem is not None, "there is a temporal property"
    check_refutation(model, problem, violation, start)
    cycle = violation.refutation.cycle
    loop, closing = (cycle.back_to - 1, cycle.closing) if cycle is not None else (None, None)
    return trace_file(violation.trace, model, status, violated=violation.name, loop=loop, closing=closing)


def trace_files(file: TraceFile) -> dict[str, str]:
    """The trace in both formats, by the name of its file."""
    return {ITF_NAME: itf_text(file), TLC_JSON_NAME: tlc_json_text(file)}


def save_trace(folder: RunFolder, file: TraceFile) -> None:
    """Write the trace in both formats. Raises SystemFault KMC502 or KMC556."""
    for name, text in trace_files(file).items():
        folder.write(name, text)


def trace_lines(file: TraceFile, *, changed_only: bool) -> Iterator[Text]:
    """The trace in TLC's style, in full or only the changes; changes are marked and coloured."""
    for line in render(file, changed_only=changed_only):
        is_heading = line.text.startswith(("State ", "Back to state "))
        yield Text(line.text, _CHANGED if line.changed else _HEAD if is_heading else "")
