"""Views that a person requested by name, and the error for one that cannot be drawn."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TypeVar

import click

from kmc.errors import InternalError, KmcError
from kmc.unexplained import Unexplained, reason_text, try_explaining

_Told = TypeVar("_Told")


def draw_requested_view(what: str, draw: Callable[[], _Told], advice: str) -> _Told:
    """Draw a view that a person requested by name.

    Raises InternalError KMC936 with `advice` on other views of the trace, and the KmcErrors that `draw` raises.
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
