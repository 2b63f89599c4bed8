"""Text views on a terminal: the tones of their pieces as colours, and the width of the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from rich.text import Text

from kmc.text_lines import TextLine

WIDTH_ELSEWHERE = 100
"""The width where output does not go to a terminal and COLUMNS does not say one."""

_STYLES = {
    "head": "bold",
    "dim": "dim",
    "old": "red",
    "new": "green",
    "bad": "bold red",
    "note": "yellow",
    "good": "green",
    "frame": "bold blue",
    "changed": "bold yellow",
}
# Neither red nor green, which mean old and new.
_LANES = ("cyan", "magenta", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_blue")


# A path begins where a word begins: a search from each letter of a long word would take the square of its length.
_PLACE = re.compile(r"(?<![^\s()])(?P<path>[^\s()]+\.py):(?P<line>\d+)")


def styled(lines: Iterable[TextLine]) -> Iterator[Text]:
    """The lines in colours."""
    for line in lines:
        text = Text()
        for run, tone in _runs(line):
            text.append(run, _style(tone))
        text.rstrip()
        _link_places(text)
        yield text


def _link_places(text: Text) -> None:
    """Make each `path.py:line` a link, which a terminal that knows OSC 8 opens."""
    matches = list(_PLACE.finditer(text.plain))
    if not matches:
        return
    # Imported here, because the front end takes a tenth of a second, and help needs none of it.
    from kmc.frontend.source_place import opened_path

    for match in matches:
        path = opened_path(match["path"])
        if path is not None:
            text.stylize(f"link {path.as_uri()}#{match['line']}", *match.span())


def _runs(line: TextLine) -> Iterator[tuple[str, str]]:
    """The text of a line in runs of one tone. Blanks have none of their own, so those within a run belong to it."""
    run, tone, blanks = "", "", ""
    for piece in line.pieces:
        if piece.text.isspace():
            blanks += piece.text
        elif piece.tone == tone:
            run, blanks = run + blanks + piece.text, ""
        else:
            yield run, tone
            yield blanks, ""
            run, tone, blanks = piece.text, piece.tone, ""
    yield run, tone


def _style(tone: str) -> str:
    if tone.startswith("lane"):
        return _LANES[int(tone.removeprefix("lane")) % len(_LANES)]
    return _STYLES.get(tone, "")


def text_width(given: int | None = None) -> int:
    """The columns of a line: those of the option, of COLUMNS, of the terminal, else 100."""
    if given is not None:
        return given
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    # These are raised if there is no terminal, or no stream at all.
    with suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH_ELSEWHERE
    return WIDTH_ELSEWHERE
