"""Formulas as their author wrote them, with the values of quantified names put in: `PassToken(1)`, `pc[p1] = "cs"`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kmc.errors import Span
from kmc.tla.resolved.nodes import ApplyExpr, Argument, BoundExpr, Node, OperatorReferenceExpr
from kmc.tla.temporal.names_used import nodes_inside
from kmc.tla.temporal.scopes import GivenArgument, GivenValue, Meaning, TemporalScope
from kmc.tla.values.texts import text_of

_LENGTH_MAX = 160


class SourceTexts:
    """Reads the texts of expressions from the files of their module; each file once."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def text(self, expression: Argument, scope: TemporalScope) -> str:
        """The text of an expression in one line, cut if it is long; names of the scope are replaced."""
        if isinstance(expression, BoundExpr) and isinstance(
            given := scope.meanings.get(expression.binding), GivenArgument
        ):
            return self.text(given.argument, given.scope)
        line = " ".join(self._spliced(expression, scope).split())
        return line if len(line) <= _LENGTH_MAX else line[: _LENGTH_MAX - 3] + "..."

    def _spliced(self, expression: Argument, scope: TemporalScope) -> str:
        """The source of an expression with the meanings of names in it."""
        own = self._between(expression.place)
        if own is None:
            return _named(expression)
        text, begin = own
        pieces: list[str] = []
        end = begin
        for node in _names_of_scope(expression, scope):
            first, last = self._offset(node.place, ends=False), self._offset(node.place, ends=True)
            if end <= first and last <= begin + len(text):
                pieces += [text[end - begin : first - begin], self._meant(scope.meanings[node.binding])]
                end = last
        return "".join([*pieces, text[end - begin :]])

    def _meant(self, meaning: Meaning) -> str:
        if isinstance(meaning, GivenValue):
            return text_of(meaning.value)
        text = self._spliced(meaning.argument, meaning.scope)
        return text if isinstance(meaning.argument, BoundExpr) or text.replace("_", "").isalnum() else f"({text})"

    def _between(self, place: Span) -> tuple[str, int] | None:
        """The text of a place, and where in its file it begins; None if there is no such file."""
        lines = self._lines_of(place.path)
        if place.end_line is None or place.end_column is None or not 0 < place.end_line <= len(lines):
            return None
        begin, end = self._offset(place, ends=False), self._offset(place, ends=True)
        return "".join(lines)[begin:end], begin

    def _offset(self, place: Span, *, ends: bool) -> int:
        line, column = place.line, place.column
        if ends:
            line, column = place.end_line or line, place.end_column or column
        return sum(map(len, self._lines_of(place.path)[: line - 1])) + column - 1

    def _lines_of(self, path: str) -> list[str]:
        if path not in self._lines:
            try:
                self._lines[path] = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
            except (OSError, UnicodeDecodeError):
                self._lines[path] = []
        return self._lines[path]


def _names_of_scope(expression: Argument, scope: TemporalScope) -> Iterator[BoundExpr]:
    """The uses of names of a scope in an expression, from left to right, as far as they are in its own text."""
    found = [
        node for node in _nodes_below(expression) if isinstance(node, BoundExpr) and node.binding in scope.meanings
    ]
    yield from sorted(found, key=lambda node: (node.place.line, node.place.column))


def _nodes_below(node: Node) -> Iterator[Node]:
    yield node
    for part in nodes_inside(node):
        if part.place.path == node.place.path:
            yield from _nodes_below(part)


def _named(expression: Argument) -> str:
    """The name of an expression whose text cannot be read."""
    match expression:
        case ApplyExpr(operator=operator):
            return operator.name
        case OperatorReferenceExpr(operator=str() as name):
            return name
    return "a formula"
