r"""Readers of what views draw: small grammars of Mermaid, DOT, Markdown tables and ShiViz, as far as kmc writes them.

Each raises AssertionError for a text that its reader would misread, and returns what it read.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from kmc.views.shiviz import PARSER

Clock = dict[str, int]


@dataclass(slots=True)
class SequenceDiagram:
    """What a sequence diagram shows: names by id, notes as (ids, text), arrows as (source, kind, dest, text)."""

    names: dict[str, str] = field(default_factory=dict)
    notes: list[tuple[list[str], str]] = field(default_factory=list)
    arrows: list[tuple[str, str, str, str]] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)


_ID = r"[a-z][a-z0-9]*"
_PARTICIPANT = re.compile(rf"participant ({_ID}) as (.+)")
_NOTE = re.compile(rf"Note over ({_ID}(?:,{_ID})?): (.+)")
_ARROW = re.compile(rf"({_ID})(->>|-x)({_ID}): (.+)")
_LOOP = re.compile(r"loop (.+)")
_MERMAID_WORDS = {"end", "loop", "note", "participant", "actor", "alt", "opt", "par", "rect", "box", "as", "over"}


def read_mermaid(text: str) -> SequenceDiagram:
    """A sequence diagram; every id is declared before it is used, and no text ends its statement."""
    head, *lines = text.splitlines()
    assert head == "sequenceDiagram", head
    found, is_open = SequenceDiagram(), False
    for line in (line.strip() for line in lines):
        if match := _PARTICIPANT.fullmatch(line):
            assert match[1] not in found.names, line
            assert match[1] not in _MERMAID_WORDS, line
            found.names[match[1]] = _mermaid_text(match[2])
        elif match := _NOTE.fullmatch(line):
            ids = match[1].split(",")
            assert found.names.keys() >= {*ids}, line
            found.notes.append((ids, _mermaid_text(match[2])))
        elif match := _ARROW.fullmatch(line):
            assert found.names.keys() >= {match[1], match[3]}, line
            found.arrows.append((match[1], match[2], match[3], _mermaid_text(match[4])))
        elif match := _LOOP.fullmatch(line):
            is_open = True
            found.loops.append(_mermaid_text(match[1]))
        else:
            assert line == "end", line
            assert is_open, "end without loop"
            is_open = False
    assert not is_open, "loop without end"
    return found


def _mermaid_text(text: str) -> str:
    """The text that is drawn; Mermaid ends a statement at `;` and `#`, reads `%%` and tags, and decodes entities."""
    bare = re.sub(r"#\d+;|<br/>", "", text)
    assert not re.search(r"[;#<>]|%%", bare), text
    decoded = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text.replace("<br/>", "\n"))
    return decoded.replace(" → ", " -> ")


@dataclass(slots=True)
class DotGraph:
    """A graph: its name, the attributes of its nodes by id, its edges as (source, target, attributes)."""

    name: str
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


_DOT_STRING = r'"(?:[^"\\]|\\.)*"'
_DOT_TOKEN = re.compile(rf"\s*(?:({_DOT_STRING})|(->)|([A-Za-z0-9_.-]+)|([\[\]{{}}=,;]))", re.DOTALL)


def read_dot(text: str) -> DotGraph:
    """A directed graph in DOT; defaults of nodes and edges are left out."""
    tokens, at = [], 0
    while text[at:].strip():
        match = _DOT_TOKEN.match(text, at)
        assert match, text[at : at + 40]
        tokens.append(match[0].strip())
        at = match.end()
    assert tokens[0] == "digraph", text
    assert tokens[2] == "{", text
    assert tokens[-1] == "}", text
    graph = DotGraph(_dot_string(tokens[1]))
    statement: list[str] = []
    for token in tokens[3:-1]:
        if token != ";":
            statement.append(token)
            continue
        _take_statement(graph, statement)
        statement = []
    assert not statement, statement
    return graph


def _take_statement(graph: DotGraph, tokens: list[str]) -> None:
    match tokens:
        case ["rankdir", "=", _] | ["node" | "edge", "[", *_]:
            return
        case [source, "->", target, "[", *rest]:
            assert graph.nodes.keys() >= {source, target}, tokens
            graph.edges.append((source, target, _attributes(rest)))
        case [node, "[", *rest]:
            assert node not in graph.nodes, tokens
            graph.nodes[node] = _attributes(rest)
        case _:
            raise AssertionError(tokens)


def _attributes(tokens: list[str]) -> dict[str, str]:
    assert tokens[-1] == "]", tokens
    found: dict[str, str] = {}
    rest = tokens[:-1]
    while rest:
        key, equals, value, *rest = rest
        assert equals == "=", tokens
        found[key] = _dot_string(value)
        if rest:
            assert rest.pop(0) == ",", tokens
    return found


def _dot_string(token: str) -> str:
    if not token.startswith('"'):
        return token
    return re.sub(r"\\(.)", lambda found: {"l": "\n", "n": "\n"}.get(found[1], found[1]), token[1:-1]).rstrip("\n")


def read_shiviz(text: str) -> list[tuple[str, str, Clock]]:
    """The events of a log as ShiViz reads them: text, host and vector clock, whose rules hold."""
    parser, delimiter, *lines = text.split("\n", 2)
    assert (parser, delimiter) == (PARSER, "")
    rest = "".join(lines)
    named = re.compile(parser.replace("(?<", "(?P<"))
    events = [(m["event"], m["host"], json.loads(m["clock"])) for m in named.finditer(rest)]
    assert rest.count("\n") == 2 * len(events), "each event has two lines"
    last: dict[str, Clock] = {}
    known: dict[tuple[str, int], Clock] = {}
    for event, host, clock in events:
        assert host, event
        before = last.get(host, {})
        assert clock[host] == before.get(host, 0) + 1, event
        assert all(clock.get(other, 0) >= count for other, count in before.items()), event
        # What is known of another host is one of its clocks, whole.
        for other in clock.keys() - {host}:
            assert all(clock.get(third, 0) >= count for third, count in known[other, clock[other]].items()), event
        last[host] = known[host, clock[host]] = clock
    return events


def read_markdown_tables(text: str) -> list[list[list[str]]]:
    """The tables of a report, outside its fenced blocks: every row has as many cells as the first."""
    outside = re.sub(r"(?ms)^\s*(`{3,}).*?^\s*\1$", "", text)
    tables: list[list[list[str]]] = [[]]
    for line in outside.splitlines():
        if not line.startswith("|"):
            tables.append([])
            continue
        assert line.endswith("|"), line
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        tables[-1].append([re.sub(r"\\(.)", r"\1", cell) for cell in cells])
    found = [table for table in tables if table]
    for table in found:
        assert len({len(row) for row in table}) == 1, table
        assert {*table[1]} == {"---"}, table
    return found


class _Page(HTMLParser):
    """Collects the scripts of a page, and whether its elements are closed in order."""

    VOID = ("meta", "link", "input", "br", "img", "hr", "wbr")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.data = ""
        self.text = ""
        self.elements: list[str] = []
        self._is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self._is_data = tag == "script" and ("id", "story") in attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] in ("p", "li") and self.open[-1] != tag:
            self.open.pop()
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data += data
        elif self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def read_page(text: str) -> tuple[dict[str, Any], str]:
    """The data of a page for its scripts, and the text of its document."""
    parser = _Page()
    parser.feed(text)
    parser.close()
    assert parser.open == [], parser.open
    assert parser.elements.count("script") == 2, "a value of the trace opened a script"
    found = read_json(parser.data)
    assert isinstance(found, dict)
    return found, parser.text


def read_json(text: str) -> Any:
    """A JSON document, read strictly: no name twice in an object, no NaN."""

    def pairs(listed: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(listed)) == len(listed), [name for name, _ in listed]
        return dict(listed)

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
