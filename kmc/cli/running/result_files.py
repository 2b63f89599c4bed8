"""The files of a check: in the folder of its run, as a JUnit report, and in a storage.

Invariants: a result never names a trace that is not there, and it is saved before its trace is explained. So the run
has verdict, counts and trace even if the explanation fails. Faults of the disk are collected, since the result is shown
even then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kmc.cli.reports.check_report import CheckReport
from kmc.cli.saved.junit_file import write_junit
from kmc.cli.saved.saved_runs import MODEL_NAME, RESULT_NAME, UNEXPLAINED_NAME, RunFolder
from kmc.cli.saved.trace_files import explanation_files, trace_files
from kmc.cli.text.conclusion import command_again
from kmc.cli.text.junit import junit_text
from kmc.error_text import shown_path
from kmc.errors import SystemFault
from kmc.model_files.model_file import render_cfg

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import ManifestCopy


class ResultFiles:
    """The files that are written of one check; `folder` is None where nothing is saved."""

    def __init__(self, folder: RunFolder | None) -> None:
        self.folder = folder
        self.faults: list[SystemFault] = []
        self._texts: dict[str, str] = {}
        self._has_result = False

    def write_facts(self, report: CheckReport) -> None:
        """Save the facts before anything is explained: the model, the trace, then the result that names the trace."""
        if self.folder is None:
            return
        example = report.outcome.example
        chosen = report.outcome.chosen
        self._write(MODEL_NAME, render_cfg(chosen.model.file) if chosen.text is None else chosen.text)
        lost = [not self._write(*file) for file in (trace_files(example.file) if example is not None else {}).items()]
        self._has_result = self._write(RESULT_NAME, _result_text(report), is_lost=any(lost))

    def write_explanation(self, report: CheckReport) -> None:
        """Save the explanation: the result anew, and the page or why there is none."""
        explanation = report.outcome.explained
        if self.folder is None or explanation is None:
            return
        self._write(RESULT_NAME, _result_text(report), is_lost=not self._has_result)
        for name, text in explanation_files(explanation).items():
            self._write(name, text)

    def how_to_report(self, words: Sequence[str]) -> str:
        """Return how to report an explanation that failed: "it with FILE"."""
        if self.folder is None:
            return f"it with what this shows: {command_again(words)} --debug"
        return f"it with {shown_path(self.folder.path / UNEXPLAINED_NAME)}"

    def publish(self, report: CheckReport, copy: ManifestCopy | None) -> None:
        """Write the report, and put the files into the storage; all written files are on disk afterwards."""
        try:
            if self.folder is not None:
                self.folder.sync_name()
            if report.options.junit is not None:
                write_junit(report.options.junit, junit_text(report))
            if copy is not None:
                copy.publish(self._texts)
        except SystemFault as fault:
            self.faults.append(fault)

    def _write(self, name: str, text: str, *, is_lost: bool = False) -> bool:
        """Write a file; return whether it is there. A lost one is not written here, but still published."""
        assert self.folder is not None, "there is a place for files"
        self._texts[name] = text
        if is_lost:
            return False
        try:
            self.folder.write(name, text)
        except SystemFault as fault:
            self.faults.append(fault)
            return False
        return True


def _result_text(report: CheckReport) -> str:
    return json.dumps(report.as_json, indent=2)
