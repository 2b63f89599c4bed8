"""The reason why a property fails, in a few lines: its docstring, the instance that fails, and the values compared."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.story.parts.story import Why
from kmc.text_lines import BAD, DIM, HEAD, TextLine, TextPiece, line, wrapped
from kmc.views.text_options import ShownStory

_INDENT, _TERM = 2, 12


def why_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The sentence, the step that made it so, the property's docstring, the instance and the values."""
    why = shown.story.why
    if why is None:
        return
    yield from wrapped([TextPiece(why.sentence, BAD)], shown.width)
    if why.step:
        yield from wrapped([TextPiece(why.step)], shown.width)
    for term, text in _terms(why):
        tone = DIM if term == why.property else ""
        yield from wrapped(
            [TextPiece(f"{term}:", HEAD), TextPiece(" " * max(1, _TERM - len(term) - 1)), TextPiece(text, tone)],
            shown.width,
            indent=_INDENT,
            hanging=_INDENT + _TERM,
        )


def _terms(why: Why) -> Iterator[tuple[str, str]]:
    if why.doc:
        doc = " ".join(why.doc.split())
        yield why.property or "property", f"{doc} ({why.place})" if why.place else doc
    if why.instance:
        yield "for", ", ".join(f"{name} = {value}" if name else value for name, value in why.instance)
    compared = [c for c in why.beside_the_sentence() if (c.expression, c.value) not in why.instance]
    if compared:
        yield "where", "; ".join(f"{c.expression} = {c.value}" for c in compared)


def note_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The notes on the story as a whole."""
    for note in shown.story.notes:
        yield from wrapped([TextPiece(f"Note: {note}", DIM)], shown.width, hanging=_INDENT)


def blank() -> TextLine:
    """A line without text."""
    return line()
