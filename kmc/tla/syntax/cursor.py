r"""A cursor over the tokens of a module: what is seen, what is expected, and the error where it is not there.

Invariant: while an item of a list of `/\` or `\/` is read, tokens that are not right of the list's column are hidden.
This one rule is TLA+'s alignment: a list ends at the first token that is not right of its column.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from kmc.errors import Span, SpecError, TextSpan
from kmc.tla.syntax.advice import advice
from kmc.tla.syntax.tokens import ModuleToken, TokenizedText
from kmc.tla.syntax.tree import NameSyntax

NESTING_MAX = 400
"""The levels of a tree: so no reader of a tree runs out of stack."""

_RECURSION_LIMIT = 20_000

_T = TypeVar("_T")


@contextmanager
def room_for_nesting() -> Iterator[None]:
    """Let functions recurse over a tree of NESTING_MAX levels, whatever depth the caller has."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class TokenCursor:
    """The tokens of one text, read from left to right.

    `text` is the text itself if it is not the content of the file `path`.
    """

    def __init__(self, tokenized: TokenizedText, path: str, text: str | None = None) -> None:
        self.comments = tokenized.comments
        self._tokens = tokenized.tokens
        self._path = path
        self._source = text
        self._at = 0
        self._limit = 0
        self._depth = 0
        last = self._tokens[-1]
        self._hidden = ModuleToken("end", "", "", last.line, last.column, last.indent)

    def peek(self, ahead: int = 0) -> ModuleToken:
        """Return the next token, or the one so many behind it; of kind "end" if it is hidden."""
        token = self._tokens[min(self._at + ahead, len(self._tokens) - 1)]
        return token if token.indent > self._limit else self._hidden

    def take(self) -> ModuleToken:
        """Return the next token and pass it over."""
        token = self.peek()
        if token.kind != "end":
            self._at += 1
        return token

    def previous(self) -> ModuleToken:
        """Return the token that was passed over last."""
        return self._tokens[max(self._at - 1, 0)]

    def is_symbol(self, *texts: str) -> bool:
        """Return whether the next token is one of these symbols."""
        token = self.peek()
        return token.kind == "symbol" and token.text in texts

    def is_keyword(self, *words: str) -> bool:
        """Return whether the next token is one of these reserved words."""
        token = self.peek()
        return token.kind == "keyword" and token.text in words

    def accept(self, text: str) -> bool:
        """Pass over the next token if it is this symbol or reserved word, and return whether it was."""
        token = self.peek()
        if token.kind in ("symbol", "keyword") and token.text == text:
            self._at += 1
            return True
        return False

    def expect(self, text: str, to: str = "") -> ModuleToken:
        """Pass over a symbol or a reserved word, or raise KMC001; `to` says what it is needed for."""
        token = self.peek()
        if token.kind not in ("symbol", "keyword") or token.text != text:
            raise self.mistake(f"'{text}'{to and ' ' + to}")
        self._at += 1
        return token

    def name(self, what: str = "a name") -> NameSyntax:
        """Pass over a name, or raise KMC001."""
        token = self.peek()
        if token.kind != "name":
            raise self.mistake(what)
        self._at += 1
        return NameSyntax(token.text, place=self.place_of(token))

    def field_name(self) -> NameSyntax:
        """Pass over the name of a field, which may be a reserved word as in `message.NEW`; KMC001 for others."""
        if not names_field(self.peek()):
            return self.name("the name of a field")
        token = self.take()
        return NameSyntax(token.text, place=self.place_of(token))

    def separated(self, read: Callable[[], _T]) -> tuple[_T, ...]:
        """Read one or more parts with commas between them."""
        parts = [read()]
        while self.accept(","):
            parts.append(read())
        return tuple(parts)

    def mistake(self, expected: str) -> SpecError:
        """Return the error at the next token, which is not what is expected."""
        token = self._tokens[self._at]
        help_line = None
        if 0 < token.indent <= self._limit and token.kind != "end":
            help_line = "a list ends at a token that is not right of its signs: indent this one, or end the item first"
        elif token.kind == "keyword" and "name" in expected:
            help_line = f"{token.text} is a reserved word of TLA+"
        else:
            behind = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
            help_line = advice(expected, token, self.previous(), behind)
        message = f"expected {expected}, found {token.shown()}"
        return SpecError("KMC001", message, self.place_of(token), help_line)

    def place_of(self, token: ModuleToken) -> Span:
        """Return the place of a token."""
        return self._span(token.line, token.column, token.line, token.end_column)

    def place_from(self, start: ModuleToken) -> Span:
        """Return the place from a token to the token that was passed over last."""
        last = self.previous()
        return self._span(start.line, start.column, last.line, last.end_column)

    def place_between(self, start: Span) -> Span:
        """Return the place from the beginning of `start` to the token that was passed over last."""
        last = self.previous()
        return self._span(start.line, start.column, last.line, last.end_column)

    def _span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        span = Span(self._path, line, column, end_line, end_column)
        return span if self._source is None else TextSpan.of(span, self._source)

    def nest(self, levels: int = 1) -> None:
        """Count levels of nesting, or raise KMC003; the caller takes them back with a negative count."""
        self._depth += levels
        if self._depth > NESTING_MAX:
            message = f"this expression is nested more than {NESTING_MAX} levels deep"
            help_line = "define parts of it by names, or write a long chain as an aligned list of /\\ or \\/"
            raise SpecError("KMC003", message, self.place_of(self._tokens[self._at]), help_line)


def names_field(token: ModuleToken) -> bool:
    """Return whether a token can be the name of a field: a name, or a reserved word, `WF_` and `SF_` too."""
    return token.kind in ("name", "keyword") or (token.kind == "symbol" and token.text in ("WF_", "SF_"))
