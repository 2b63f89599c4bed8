"""Refusals: what kmc's language cannot say, with the construct and its place in the module."""

from __future__ import annotations

from kmc.errors import Span, SpecError


def refusal(what: str, place: Span | None) -> SpecError:
    """Return the error of a construct that cannot be translated, at its place if that is known."""
    return SpecError(
        "KMC812",
        f"the native engine has no translation for {what.rstrip(',')}",
        place,
        help="check the module with the interpreter: leave --engine native out",
    )
