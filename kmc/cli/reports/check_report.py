"""The outcome of a check with the facts of the command line: its options, and where the run was saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.checking.outcome import Outcome
from kmc.cli.options.check_options import CheckOptions


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A check that has a result, as the command line reports it.

    `folder` is where the run was saved, `trace_path` its trace; `resume` is the command that resumes it, if it was cut
    short.
    """

    options: CheckOptions
    outcome: Outcome
    folder: Path | None = None
    trace_path: Path | None = None
    resume: str | None = None

    @property
    def as_json(self) -> dict[str, Any]:
        """The object of `--json`."""
        return self.outcome.as_json(str(self.trace_path) if self.trace_path else None, self.resume)
