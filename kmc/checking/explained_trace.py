"""A counterexample as finished texts for a person, made inside the boundary of `kmc.unexplained`.

Verdict, counts, exit status and the trace are known, and saved, before a function of `kmc.story` or `kmc.views` is
called, and only `kmc.unexplained.try_explaining` calls those. Invariant: an error of an explanation costs the
explanation and nothing else, and a face shows finished texts only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kmc.text_lines import NOTE, TextLine, TextPiece, line
from kmc.unexplained import Unexplained


@dataclass(frozen=True, slots=True)
class ExplainedTrace:
    """A counterexample as finished texts: told from its story, or plain if that failed.

    `lines` are for a terminal, `report` for a report without colours, and `explanation` are keys of the JSON object.
    A plain trace has a `failure` and a `warning` that says so; its explanation is null, and it has no `page`.
    """

    lines: tuple[TextLine, ...]
    report: tuple[str, ...]
    explanation: Mapping[str, Any]
    page: str | None
    failure: Unexplained | None = None
    warning: str | None = None

    def with_report(self, how: str) -> ExplainedTrace:
        """Return the same trace; a plain one ends with how to report the mistake: "it with FILE"."""
        if self.failure is None:
            return self
        warning = self.failure.warning(how)
        lines = (*self.lines, line(TextPiece(f"Warning: {warning}", NOTE)))
        return replace(self, lines=lines, report=(*self.report, f"Warning: {warning}"), warning=warning)
