"""Tokens of a `.cfg` file, and of the text of a value: names, numbers, strings and marks, each with its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from kmc.errors import ModelError, Span
from kmc.model_files.model_file import NAME_PATTERN

_TOKEN_WITHOUT_MARKS = (
    r"(?P<blank>[ \t\r\n\f]+|\\\*[^\n]*)|(?P<comment>\(\*)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<number>-?[0-9]+(?![A-Za-z0-9_]))'
    rf"|(?P<name>{NAME_PATTERN})"
)
_TOKEN = re.compile(rf"{_TOKEN_WITHOUT_MARKS}|(?P<mark><-|<<|>>|\|->|:>|@@|[{{}},=()\[\]])")
_SYMBOL = r"(?:\\[A-Za-z]+|[-+*/^|&%$?~#.:!<>=]+)"
_OPERATOR = rf"(?P<operator>{_SYMBOL}(?=\s*<-)|{_SYMBOL})"
_REPLACED = re.compile(r"\s*<-")
_MODULE_TOKEN = re.compile(rf"{_TOKEN_WITHOUT_MARKS}|(?P<mark><-|[{{}},=\[\]])|{_OPERATOR}")
_COMMENT_EDGE = re.compile(r"\(\*|\*\)")

TokenKind: TypeAlias = Literal["name", "number", "string", "mark", "operator", "end"]
_TOKEN_KINDS: dict[str, TokenKind] = {
    "name": "name",
    "number": "number",
    "string": "string",
    "mark": "mark",
    "operator": "operator",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One token: a mark is one of `{ } , = <- [ ] << >> ( ) |-> :> @@`; "end" is the empty token behind the last.

    An "operator" is a symbol such as `++` that a module's file replaces.
    """

    kind: TokenKind
    text: str
    span: Span

    def shown(self) -> str:
        """The token as an error message names it."""
        return "the end" if self.kind == "end" else f"'{self.text}'"


class Tokens:
    """The tokens of a text, read from left to right; raises ModelError KMC302 where the text has none.

    The file of a TLA+ module has the marks that TLC knows, without those of sequences, records and functions.
    """

    def __init__(self, text: str, path: str, for_module: bool = False) -> None:
        self.for_module = for_module
        self._pattern = _MODULE_TOKEN if for_module else _TOKEN
        self._text = text
        self._path = path
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens = list(self._scan())
        self._at = 0

    def peek(self) -> Token:
        """The next token, left where it is."""
        return self._tokens[self._at]

    def take(self) -> Token:
        """The next token, passed over unless it is the end."""
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def take_mark(self, mark: str) -> Token | None:
        """The next token if it is this mark, passed over; else None."""
        token = self.peek()
        return self.take() if token.kind == "mark" and token.text == mark else None

    def _scan(self) -> Iterator[Token]:
        at = end = 0
        last = ""
        while at < len(self._text):
            match = self._pattern.match(self._text, at)
            if match is None:
                self._refuse_character(at)
            start, at = match.span()
            kind = _TOKEN_KINDS.get(match.lastgroup or "")
            if match.lastgroup == "comment":
                at = self._comment_end(start)
            elif kind is not None:
                # A symbol is a name only where an operator is replaced, or replaces: `++ <- Plus`, `Plus <- +`.
                if kind == "operator" and last != "<-" and _REPLACED.match(self._text, at) is None:
                    self._refuse_character(start)
                last = match.group()
                yield Token(kind, match.group(), self._span(start, at))
                end = at
        yield Token("end", "", self._span(end, end))

    def _span(self, start: int, end: int) -> Span:
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        return Span(self._path, line, column, line, column + end - start)

    def _comment_end(self, start: int) -> int:
        depth = 0
        for match in _COMMENT_EDGE.finditer(self._text, start):
            depth += 1 if match.group() == "(*" else -1
            if depth == 0:
                return match.end()
        span = self._span(start, start + 2)
        raise ModelError("KMC302", "this comment is not closed", span, "close it with '*)', each nested one too")

    def _refuse_character(self, at: int) -> NoReturn:
        character = self._text[at]
        if character == '"':
            line_end = self._text.find("\n", at)
            span = self._span(at, len(self._text) if line_end < 0 else line_end)
            raise ModelError("KMC302", "this string is not closed on its line", span, "close it with '\"'")
        if self._text.startswith("*)", at):
            raise ModelError("KMC302", "'*)' closes no comment", self._span(at, at + 2), "remove it")
        help_line = "names have letters, digits and '_'; values are numbers, strings, TRUE, FALSE, names and { sets }"
        if character == "#":
            help_line = "a comment begins with \\*"
        raise ModelError("KMC302", f"unexpected character {character!r}", self._span(at, at + 1), help_line)
