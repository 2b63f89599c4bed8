"""Lines of a text view: pieces of text with a tone, which a terminal shows as a colour.

A tone is the meaning of a piece (`old`, `new`, `dim`, `lane2`), so that a line without colours says the same: every
view is read without them, too. Invariant: no piece holds a line break.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

PLAIN, HEAD, DIM, OLD, NEW, BAD, NOTE = "", "head", "dim", "old", "new", "bad", "note"
GOOD, FRAME, CHANGED = "good", "frame", "changed"

ELLIPSIS = "..."


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A text of one tone: one of the constants above, or that of a lane."""

    text: str
    tone: str = PLAIN


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a view."""

    pieces: tuple[TextPiece, ...] = ()

    @property
    def text(self) -> str:
        """The line without its tones and without blanks at its end."""
        return "".join(piece.text for piece in self.pieces).rstrip()

    def __len__(self) -> int:
        return sum(len(piece.text) for piece in self.pieces)


def line(*pieces: TextPiece | str) -> TextLine:
    """A line of these pieces; a bare text is plain."""
    return TextLine(tuple(TextPiece(piece) if isinstance(piece, str) else piece for piece in pieces))


def lane_tone(index: int) -> str:
    """The tone of a process by its place among the lanes."""
    return f"lane{index}"


def shortened(text: str, room: int) -> str:
    """The text, cut to `room` columns with dots at its end."""
    if len(text) <= room:
        return text
    return text[: max(0, room - len(ELLIPSIS))].rstrip() + ELLIPSIS[: max(0, room)]


def fitted(pieces: Iterable[TextPiece], room: int) -> list[TextPiece]:
    """The pieces, cut to `room` columns with dots at the end."""
    listed = list(pieces)
    if sum(len(piece.text) for piece in listed) <= room:
        return listed
    kept: list[TextPiece] = []
    left = max(0, room - len(ELLIPSIS))
    for piece in listed:
        if len(piece.text) >= left:
            return [*kept, TextPiece(piece.text[:left].rstrip() + ELLIPSIS[:room], piece.tone)]
        kept.append(piece)
        left -= len(piece.text)
    return kept


def wrapped(pieces: Sequence[TextPiece], width: int, *, indent: int = 0, hanging: int = 0) -> Iterator[TextLine]:
    """The pieces in lines of at most `width` columns: the first behind `indent` blanks, the others behind `hanging`.

    Lines break at blanks; a word that is longer than a line is cut into several.
    """
    started = [TextPiece(" " * indent)] if indent else []
    used, is_empty, is_first, held = indent, True, True, ""
    for word in _words(pieces):
        size = sum(len(piece.text) for piece in word)
        if word[0].text.isspace():
            held += word[0].text if is_first or not is_empty else ""
            continue
        if not is_empty and used + len(held) + size > width:
            yield TextLine(tuple(started))
            started, used, is_empty, is_first, held = _blanks(hanging), hanging, True, False, ""
        started += _blanks(len(held))
        used += len(held)
        held = ""
        for piece in word:
            text = piece.text
            while used + len(text) > width and width > max(indent, hanging):
                cut = max(1, width - used)
                yield TextLine((*started, TextPiece(text[:cut], piece.tone)))
                started, used, is_first, text = _blanks(hanging), hanging, False, text[cut:]
            started.append(TextPiece(text, piece.tone))
            used += len(text)
        is_empty = False
    if not is_empty:
        yield TextLine(tuple(started))


def _blanks(count: int) -> list[TextPiece]:
    return [TextPiece(" " * count)] if count else []


def _words(pieces: Iterable[TextPiece]) -> Iterator[list[TextPiece]]:
    """Runs of pieces without a blank, and the blanks between them."""
    word: list[TextPiece] = []
    for piece in pieces:
        for run in re.findall(r"\s+|\S+", piece.text):
            if run.isspace():
                if word:
                    yield word
                word = []
                yield [TextPiece(run)]
            else:
                word.append(TextPiece(run, piece.tone))
    if word:
        yield word


def join_groups(groups: Iterable[Sequence[TextPiece]], separator: str = "; ") -> list[TextPiece]:
    """The groups of pieces, one behind the other."""
    pieces: list[TextPiece] = []
    for group in groups:
        if pieces:
            pieces.append(TextPiece(separator))
        pieces += group
    return pieces
