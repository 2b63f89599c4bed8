"""The width of fingerprints: its option, and the warning when 64 bits begin to be few, with what to type instead."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any

import click

from kmc.result import Result

ODDS_MAX = 1e-3
_Command = Callable[..., Any]


def fingerprint_option(command: _Command) -> _Command:
    """Add --fingerprint-bits."""
    return click.option(
        "--fingerprint-bits",
        type=click.Choice(["64", "128"]),
        default="64",
        show_default=True,
        help="Width of the native engine's fingerprints; 128 bits take twice the table, and no state is ever missed.",
    )(command)


def fingerprint_warnings(result: Result, words: Sequence[str]) -> tuple[str, ...]:
    """A warning if states may have been missed for want of bits; `words` is what was typed after `kmc`."""
    if result.fingerprint_bits != 64 or result.collision_bound <= ODDS_MAX:
        return ()
    odds = "1 in " + format(round(1 / result.collision_bound), ",") if result.collision_bound < 1 else "1 in 1"
    command = shlex.join(["kmc", *words, "--fingerprint-bits", "128"])
    return (
        f"two states may have had the same 64-bit fingerprint, and one of them was missed then: the odds are at most "
        f"{odds}. To leave no such doubt: {command}",
    )
