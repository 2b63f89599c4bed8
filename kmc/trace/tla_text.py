"""One-line TLA+ values, as TLC writes them into the keys of its JSON: the inverse of `kmc.trace.trees.one_line`.

Model values and strings both become names: the spec language has no strings.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from kmc.errors import TraceError
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText
from kmc.trace.strict_json import DEPTH_MAX, checked_integer, first_repeated
from kmc.trace.trees import identity

_TOKEN = re.compile(
    r"""\s*(?:(?P<integer>-?\d+(?![A-Za-z_0-9]))|(?P<name>[A-Za-z0-9_]+)|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<mark><<|>>|\|->|:>|@@|[\[\]{}(),]))""",
    re.ASCII,
)
NAME = re.compile(r"(?!(?:TRUE|FALSE)$)[0-9_]*[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def parse_value(text: str) -> Tla:
    """The value that `text` denotes; TraceError KMC423 when it does not denote one."""
    reader = _Reader(text)
    value = reader.value(0)
    if reader.kind != "end":
        reader.refuse()
    return value


class _Reader:
    """Reads a value token by token; `kind` and `token` are the next one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.kind = ""
        self.token = ""
        self._advance()

    def refuse(self) -> NoReturn:
        """Raise TraceError at the next token."""
        shown = self._text if len(self._text) <= 60 else self._text[:57] + "..."
        found = f"'{self.token}'" if self.token else "the end"
        raise TraceError(
            "KMC423",
            f"{json.dumps(shown)} is not a TLA+ value: {found} is unexpected",
            help="values are names, numbers, {a}, <<a>>, [f |-> a] and (k :> a)",
        )

    def value(self, depth: int) -> Tla:
        """The value that starts at the next token."""
        if depth > DEPTH_MAX:
            self.refuse()
        kind, token = self.kind, self.token
        if kind not in ("integer", "name", "string") and token not in ("{", "<<", "[", "("):
            self.refuse()
        self._advance()
        match kind, token:
            case "integer", _:
                return checked_integer(token)
            case "name", ("TRUE" | "FALSE"):
                return token == "TRUE"
            case "name", _:
                return token
            case "string", _:
                return TlaText(re.sub(r"\\(.)", r"\1", token[1:-1]))
            case _, "{":
                return TlaSet(self._elements("}", depth))
            case _, "<<":
                return TlaSeq(self._elements(">>", depth))
            case _, "[":
                return self._record(depth)
            case _:
                return self._function(depth)

    def _elements(self, closing: str, depth: int) -> tuple[Tla, ...]:
        elements: list[Tla] = []
        while self.token != closing:
            if elements:
                self._take(",")
            elements.append(self.value(depth + 1))
        self._advance()
        return tuple(elements)

    def _record(self, depth: int) -> TlaRecord:
        fields: dict[str, Tla] = {}
        while self.token != "]":
            if fields:
                self._take(",")
            name = self.token
            if self.kind != "name" or name in fields:
                self.refuse()
            self._advance()
            self._take("|->")
            fields[name] = self.value(depth + 1)
        self._advance()
        return TlaRecord(tuple(fields.items()))

    def _function(self, depth: int) -> TlaMap:
        pairs: list[tuple[Tla, Tla]] = []
        while not pairs or self.token != ")":
            if pairs:
                self._take("@@")
            key = self.value(depth + 1)
            self._take(":>")
            pairs.append((key, self.value(depth + 1)))
        if first_repeated(identity(key) for key, _ in pairs) is not None:
            self.refuse()
        self._advance()
        return TlaMap(tuple(pairs))

    def _take(self, mark: str) -> None:
        if self.kind != "mark" or self.token != mark:
            self.refuse()
        self._advance()

    def _advance(self) -> None:
        if not self._text[self._at :].strip():
            self.kind, self.token = "end", ""
            return
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self.kind, self.token = "stray", self._text[self._at :].lstrip()[0]
            return
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self._at = match.end()
