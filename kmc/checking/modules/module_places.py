"""Places of a module, and the text of the formulas there, as a person reads them."""

from __future__ import annotations

from pathlib import Path

from kmc.errors import Span
from kmc.frontend.shipped import is_there

_TEXT_MAX = 160


def shown_place(place: Span) -> str:
    """Return a place as the name of the module's file and the line: `Lease.tla:25`."""
    return f"{Path(place.path).name}:{place.line}"


def text_at(place: Span) -> str:
    """Return the formula at a place in one line, cut if it is long; empty if its text is not in a file."""
    path = Path(place.path)
    if not is_there(path.is_file):
        return ""
    lines = path.read_text(encoding="utf-8").splitlines()
    chosen = lines[place.line - 1 : place.end_line or place.line]
    if not chosen:
        return ""
    if place.end_column is not None:
        chosen[-1] = chosen[-1][: place.end_column - 1]
    chosen[0] = chosen[0][place.column - 1 :]
    return cut(" ".join(" ".join(without_comment(line) for line in chosen).split()))


def without_comment(line: str) -> str:
    r"""Return a line of a module without a comment that begins with `\*`."""
    return line.partition("\\*")[0]


def cut(text: str) -> str:
    """Return a text, cut if it is long."""
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…"
