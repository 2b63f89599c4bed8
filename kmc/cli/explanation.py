"""A counterexample as finished texts for a person, made inside the boundary of `kmc.unexplained`.

Verdict, counts, exit status and the trace are known, and saved, before a function of `kmc.story` or `kmc.views` is
called, and only `kmc.unexplained.try_explaining` calls those. Invariant: an error of an explanation costs the
explanation and nothing else, and a command shows finished texts only.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
from rich.text import Text

from kmc.errors import InternalError, KmcError
from kmc.unexplained import Unexplained, reason_text, try_explaining

_NOTE = "yellow"

_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class ToldTrace:
    """A counterexample as finished texts: told from its story, or plain if that failed.

    `lines` are for a terminal, `report` for a report without colours, and `explanation` are keys of the JSON object.
    A plain trace has a `failure` and a `warning` that says so; its explanation is null, and it has no `page`.
    """

    lines: tuple[Text | str, ...]
    report: tuple[str, ...]
    explanation: Mapping[str, Any]
    page: str | None
    failure: Unexplained | None = None
    warning: str | None = None

    def with_report(self, how: str) -> ToldTrace:
        """Return the same trace; a plain one ends with how to report the mistake: "it with FILE"."""
        if self.failure is None:
            return self
        warning = self.failure.warning(how)
        lines = (*self.lines, Text(f"Warning: {warning}", _NOTE))
        return replace(self, lines=lines, report=(*self.report, f"Warning: {warning}"), warning=warning)


def draw_requested_view(what: str, draw: Callable[[], _Told], advice: str) -> _Told:
    """Draw a view that a person asked for by name.

    Raises InternalError KMC936 with `advice` for what else shows the trace, and the KmcErrors that `draw` raises.
    """
    drawn = try_explaining(draw, passing=(KmcError,))
    if not isinstance(drawn, Unexplained):
        return drawn
    raise InternalError(
        "KMC936",
        f"{what} cannot be made of this trace: {reason_text(drawn.error)}",
        help=advice,
        notes=(f"this is a mistake in kmc, not in your spec; please report {report_with_debug()}",),
    ) from drawn.error


def report_with_debug() -> str:
    """Return how to report a mistake that the same command shows again with `--debug`."""
    context = click.get_current_context(silent=True)
    words = [word for word in (context.find_root().obj if context is not None else ()) if word != "--debug"]
    return f"it with what this shows: {shlex.join(['kmc', *words, '--debug'])}"
