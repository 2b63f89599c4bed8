"""The files that a command saves of a counterexample, by their names in the folder of a run."""

from __future__ import annotations

from kmc.checking.explained_trace import ExplainedTrace
from kmc.cli.saved.saved_runs import ITF_NAME, PAGE_NAME, TLC_JSON_NAME, UNEXPLAINED_NAME
from kmc.trace.files import TraceFile
from kmc.trace.itf import itf_text
from kmc.trace.tlc_json import tlc_json_text


def trace_files(file: TraceFile) -> dict[str, str]:
    """The trace in both formats, by the name of its file."""
    return {ITF_NAME: itf_text(file), TLC_JSON_NAME: tlc_json_text(file)}


def explanation_files(explanation: ExplainedTrace) -> dict[str, str]:
    """The files that explain a trace, by name: the page, or the traceback of the mistake."""
    if explanation.failure is not None:
        return {UNEXPLAINED_NAME: explanation.failure.text}
    return {PAGE_NAME: explanation.page} if explanation.page is not None else {}
