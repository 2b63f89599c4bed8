"""Durations and sizes as a person types them: `90s`, `10m`, `512M`; they are read, and written so again."""

from __future__ import annotations

import re

import click

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_SECONDS_MAX = 10**9
_SIZE_MAX = 2**63 - 1
_BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def duration_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """An option's value in seconds: `90`, `90s`, `10m`, `1.5h`, `2d`; click.BadParameter for anything else."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", value.strip().lower())
    seconds = float(match[1]) * _SECONDS.get(match[2], 0) if match is not None else 0
    if not 0 < seconds <= _SECONDS_MAX:
        raise click.BadParameter(f"'{value}' is not a duration; write seconds, or 90s, 10m, 1h", ctx, param)
    return seconds


def size_bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """An option's value in bytes: `512M`, `8G`, `8GB`, by powers of 1024; click.BadParameter for anything else."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?", value.strip().lower())
    size = float(match[1]) * _BYTES[match[2]] if match is not None else 0
    if not 0 < size <= _SIZE_MAX:
        raise click.BadParameter(f"'{value}' is not a size; write 512M or 8G", ctx, param)
    return int(size)


def size_text(count: int) -> str:
    """A size as it is typed: `8G`, `512M`, and its bytes where it is not a multiple of a unit."""
    units = (letter for letter in "tgmk" if count % _BYTES[letter] == 0)
    return next((f"{count // _BYTES[letter]}{letter.upper()}" for letter in units), str(count))


def duration_text(seconds: float) -> str:
    """A duration as it is typed, rounded down: `10m`, `90s`, `1186s`, and `0.5s` for one below ten seconds."""
    if seconds < 10:
        return f"{max(1, int(10 * seconds)) / 10:g}s"
    whole = int(seconds)
    unit = next(unit for unit in ("d", "h", "m", "s") if whole % _SECONDS[unit] == 0)
    return f"{whole // _SECONDS[unit]}{unit}"


def pause_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """`duration_seconds`, and 0 for no pause at all."""
    return 0.0 if value is not None and value.strip() in ("0", "0s") else duration_seconds(ctx, param, value)
