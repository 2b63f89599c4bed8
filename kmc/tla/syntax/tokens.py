r"""The tokens of a TLA+ module, with their places and comments.

Invariant: no text is refused here. What is not a token of TLA+ becomes a token of kind "junk", and the parser refuses
it when it reaches it, since proofs and the prose around a module may hold anything. A file is read from its first
`---- MODULE` to the `====` that closes this module.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kmc.tla.syntax.operators import NAME_SIGNS, SPELLINGS, SYMBOLS

TAB_WIDTH = 8
"""The columns between two tab stops: alignment counts as SANY counts."""

_WORDS = """
ACTION ACTIONS ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE
ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER
PICK PROOF PROPOSITION PROVE QED RECURSIVE STATE SUBSET SUFFICES TAKE TEMPORAL TEMPORALS THEN THEOREM TRUE UNCHANGED
UNION USE VARIABLE VARIABLES WITH WITNESS
"""

KEYWORDS = frozenset(_WORDS.split())
"""The reserved words of TLA+."""

TokenKind: TypeAlias = Literal["name", "keyword", "number", "string", "symbol", "step", "line", "close", "junk", "end"]
"""The kinds of tokens: `step` is `<1>2.` of a proof, `line` is `----`, `close` is `====`, and `end` is behind all."""


@dataclass(slots=True)
class ModuleToken:
    """A token; `text` is canonical and `raw` as written. `indent` is its column with tabs expanded, from 1."""

    kind: TokenKind
    text: str
    raw: str
    line: int
    column: int
    indent: int

    @property
    def end_column(self) -> int:
        """The column behind the token; no token spans lines."""
        return self.column + len(self.raw)

    def shown(self) -> str:
        """The token as an error names it."""
        match self.kind:
            case "end":
                return "the end of the text"
            case "junk" if self.raw == '"':
                return "a string that is not closed on its line"
            case "junk" if self.raw == "(*":
                return "a comment that is not closed"
            case _:
                return f"'{self.raw}'"


@dataclass(frozen=True, slots=True)
class TextComment:
    """A comment without its delimiters, its first and last line, and whether its first line begins with it."""

    first_line: int
    last_line: int
    text: str
    begins_line: bool


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The tokens of a module, the last of kind "end", and its comments in order."""

    tokens: list[ModuleToken]
    comments: list[TextComment]


_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\f\n\ufeff]+)|(?P<linecomment>\\\*[^\n]*)|(?P<comment>\(\*)"
    r'|(?P<string>"(?:[^"\\\n\r]|\\[ntrf\\"])*")'
    r"|(?P<number>\\[bB][01]+|\\[oO][0-7]+|\\[hH][0-9a-fA-F]+|[0-9]+\.[0-9]+(?![0-9A-Za-z_.])|[0-9]+(?![0-9]*[A-Za-z_]))"
    r"|(?P<step><(?:[0-9]+|[+*])>[A-Za-z0-9_]*\.*)"
    r"|(?P<line>-{4,})|(?P<close>={4,})"
    r"|(?P<fairness>[WS]F_)|(?P<name>(?=[0-9_]*[A-Za-z])[A-Za-z0-9_]+)|(?P<sign>[ℕℤℝ])"
    rf"|(?P<symbol>{'|'.join(map(re.escape, SYMBOLS))})"
)
_COMMENT_EDGE = re.compile(r"\(\*|\*\)")
_MODULE = re.compile(r"-{4,}[ \t]*MODULE\b")
_FRAME = re.compile(r"^[ \t]*\*+|\*+[ \t]*$", re.MULTILINE)


def tokens_of_module(text: str) -> TokenizedText | None:
    """Return the tokens of the first module in a text, or None if it has none."""
    start = _MODULE.search(text)
    return _Lexer(text, is_module=True).tokens_from(start.start()) if start is not None else None


def tokens_of_expression(text: str) -> TokenizedText:
    """Return the tokens of a text that is an expression."""
    return _Lexer(text, is_module=False).tokens_from(0)


class _Lexer:
    """One pass over a text."""

    def __init__(self, text: str, is_module: bool) -> None:
        self._text = text
        self._is_module = is_module
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens: list[ModuleToken] = []
        self._comments: list[TextComment] = []
        self._open_modules = 0

    def tokens_from(self, at: int) -> TokenizedText:
        """Return the tokens from an offset on."""
        text = self._text
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self._add("junk", text[at], text[at], at)
                at += 1
                continue
            start, at = at, match.end()
            kind = match.lastgroup
            if kind == "comment":
                at = self._comment_from(start)
            elif kind == "linecomment":
                self._add_comment(start, at, match.group()[2:])
            elif kind != "blank":
                self._add_match(str(kind), match.group(), start)
            if kind == "close" and self._is_module and self._open_modules == 0:
                break
        self._add("end", "", "", at)
        return TokenizedText(self._tokens, self._comments)

    def _add_match(self, group: str, raw: str, start: int) -> None:
        match group:
            case "name":
                self._add("keyword" if raw in KEYWORDS else "name", raw, raw, start)
                if raw == "MODULE" and len(self._tokens) > 1 and self._tokens[-2].kind == "line":
                    self._open_modules += 1
            case "fairness":
                self._add("symbol", raw, raw, start)
            case "sign":
                self._add("name", NAME_SIGNS[raw], raw, start)
            case "symbol":
                self._add("symbol", SPELLINGS.get(raw, raw), raw, start)
            case "number":
                self._add("number", raw, raw, start)
            case "string":
                self._add("string", raw, raw, start)
            case "step":
                self._add("step", raw, raw, start)
            case "line":
                self._add("line", raw, raw, start)
            case _:
                self._open_modules -= 1
                self._add("close", raw, raw, start)

    def _add(self, kind: TokenKind, text: str, raw: str, start: int) -> None:
        line = bisect_right(self._starts, start)
        line_start = self._starts[line - 1]
        column = start - line_start + 1
        before = self._text[line_start:start]
        indent = len(before.expandtabs(TAB_WIDTH)) + 1 if "\t" in before else column
        self._tokens.append(ModuleToken(kind, text, raw, line, column, indent))

    def _comment_from(self, start: int) -> int:
        """Read the comment that begins at `start`, nested ones too, and return where it ends."""
        depth = 0
        for edge in _COMMENT_EDGE.finditer(self._text, start):
            depth += 1 if edge.group() == "(*" else -1
            if depth == 0:
                self._add_comment(start, edge.end(), self._text[start + 2 : edge.start()])
                return edge.end()
        self._add("junk", "(*", "(*", start)
        return start + 2

    def _add_comment(self, start: int, end: int, inside: str) -> None:
        first, last = bisect_right(self._starts, start), bisect_right(self._starts, end - 1)
        begins_line = not self._text[self._starts[first - 1] : start].strip()
        self._comments.append(TextComment(first, last, _without_frame(inside), begins_line))


def _without_frame(text: str) -> str:
    """Return the words of a comment without the asterisks that frame its lines, and without blanks around it."""
    lines = [line.strip("()").strip() for line in _FRAME.sub("", text.strip()).splitlines()]
    return "\n".join(lines).strip()


def comment_above(comments: list[TextComment], line: int) -> str:
    """Return the text of the comments right above `line`, without those that end a line of something else."""
    found: list[str] = []
    at = bisect_right(comments, line - 1, key=lambda comment: comment.last_line) - 1
    while at >= 0 and comments[at].last_line == line - 1 and comments[at].begins_line:
        found.append(comments[at].text)
        line = comments[at].first_line
        at -= 1
    return "\n".join(text for text in reversed(found) if text)
