"""The limit of loops inside of each other in generated code: Python allows 20 blocks, and others need room too."""

from __future__ import annotations

from kmc.tla.shapes.refusal import refusal
from kmc.tla.translate.translation import WrittenLine

_LOOPS_MAX = 18


def refuse_deep_loops(lines: list[WrittenLine]) -> None:
    """Refuse more loops inside of each other than Python has room for."""
    around: list[int] = []
    for line in lines:
        while around and line.depth <= around[-1]:
            around.pop()
        if line.text.startswith("for "):
            around.append(line.depth)
        if len(around) > _LOOPS_MAX:
            raise refusal(f"more than {_LOOPS_MAX} choices inside of each other", line.place)
