"""The levels of a search as a small table with bars: how the state space widened, and whether it grew narrower."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

ROWS_MAX = 12
_BARS_MAX = 48
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def level_lines(levels: Sequence[int], width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """A title, and a row for each level, or for several where they are many; no line is wider than `width`."""
    share = math.ceil(len(levels) / ROWS_MAX)
    widest = max(levels, default=0)
    each = f", {share} to a row" if share > 1 else ""
    depth = levels.index(widest) + 1 if widest else 0
    counted = f"Levels: {len(levels):,}{each}"
    titles = [
        f"{counted}, the widest is {depth:,} with {widest:,} states.",
        f"{counted}, the widest is {depth:,}.",
        counted,
    ]
    yield _cut(next((title for title in titles if len(title) <= width), titles[-1]), width)
    rows = [
        (_range(first + 1, min(first + share, len(levels))), sum(levels[first : first + share]))
        for first in range(0, len(levels), share)
    ]
    most = max(states for _, states in rows)
    name_width = max(len(name) for name, _ in rows)
    states_width = len(f"{most:,}")
    room = min(_BARS_MAX, width - (name_width + states_width + 6))
    for name, states in rows:
        bar = _bar(states / most, room, ascii_only=ascii_only)
        yield _cut(f"  {name:>{name_width}}  {states:>{states_width},}  {bar}".rstrip(), width)


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}-{last:,}"


def _bar(share: float, width: int, *, ascii_only: bool) -> str:
    """A bar that is visible for every value above 0."""
    if width <= 0:
        return ""
    if ascii_only:
        return "#" * max(1, round(share * width))
    eighths = max(1, round(share * width * 8))
    return _EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _cut(line: str, width: int) -> str:
    return line[: max(1, width)]
