"""The option for the width of fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_Command = Callable[..., Any]


def fingerprint_option(command: _Command) -> _Command:
    """Add --fingerprint-bits."""
    return click.option(
        "--fingerprint-bits",
        type=click.Choice(["64", "128"]),
        default="64",
        show_default=True,
        help="Width of the native engine's fingerprints; 128 bits take twice the table, and make the odds of a missed "
        "state negligible.",
    )(command)
