"""Amounts for a person: bytes, sizes of files, ages, durations and large numbers in words."""

from __future__ import annotations

import math
from collections.abc import Sequence


def bytes_in_words(count: int) -> str:
    """A number of bytes for a person: `512 MB`, `1.5 GB`, by powers of 1024."""
    size = count / 1024**2
    return f"{size:,.0f} MB" if size < 1024 else f"{size / 1024:,.1f} GB"


def size_in_words(count: int) -> str:
    """The size of files for a person: `12 KB`, `512 MB`, `1.5 GB`, by powers of 1024, rounded up to a kilobyte."""
    return f"{math.ceil(count / 1024):,} KB" if count < 1024**2 else bytes_in_words(count)


def age_in_words(seconds: float) -> str:
    """The time since something, in its largest unit: `12 s`, `5 min`, `3 h`, `12 d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size):,} {unit}"
    return f"{max(0, int(seconds))} s"


def count_in_words(count: int) -> str:
    """A large number for a person: `987`, `12.3 K`, `54.8 M`, `1.2 G`."""
    size = float(count)
    for unit in ("", " K", " M"):
        if size < 1000:
            return f"{size:.1f}{unit}" if unit else f"{count}"
        size /= 1000
    return f"{size:,.1f} G"


def seconds_in_words(seconds: float) -> str:
    """A duration for a person: `0.42 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if seconds < 10:
        return f"{seconds:.2f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_RANGES_MAX = 4


def ranges_in_words(numbers: Sequence[int]) -> str:
    """Rising numbers for a person: `3, 7 to 12`; of many separate ranges, only where they lie: `between 3 and 80`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    if len(ranges) > _RANGES_MAX:
        return f"between {numbers[0]:,} and {numbers[-1]:,}"
    return ", ".join(f"{first:,} to {last:,}" if first < last else f"{first:,}" for first, last in ranges)
