r"""The state graph that TLC dumps (`-dump dot,actionlabels FILE`), as a corpus of edges.

TLC writes a node for each state that it keeps, and an edge for each successor within the constraints, as often as it
generates it. The format of the file is Graphviz's; a state is one string in it, with the variables as TLC prints them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kmc.errors import TraceError
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText
from kmc.reference.conformance.corpus import Corpus, Edge, Parameters, SourceState, canonical_text
from kmc.trace.tla_text import parse_value

_HEAD = "strict digraph"
_NODE = re.compile(r'^(-?\d+) \[label="((?:[^"\\]|\\.)*)"')
_EDGE = re.compile(r'^(-?\d+) -> (-?\d+) \[label="((?:[^"\\]|\\.)*)"')
_VARIABLE = re.compile(r"(?:\A|\n)(?:/\\ )?([A-Za-z_0-9]+) = ")
_HELP = "let TLC write it: -dump dot,actionlabels FILE"


def is_dump(path: Path) -> bool:
    """Return whether a file begins as a graph that TLC dumps."""
    try:
        with path.open("rb") as file:
            return file.read(len(_HEAD)) == _HEAD.encode()
    except OSError:
        return False


def read_dump(path: Path) -> Corpus:
    """Read a dump of TLC; TraceError KMC443 if it is not one with the names of actions."""
    states: dict[str, dict[str, Any]] = {}
    edges: dict[str, Counter[tuple[str, str]]] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            if (edge := _EDGE.match(line)) is not None:
                edges.setdefault(edge[1], Counter())[edge[2], _unescaped(edge[3])] += 1
            elif (node := _NODE.match(line)) is not None and node[1] not in states:
                states[node[1]] = dict(_variables(_unescaped(node[2])))
    except (OSError, UnicodeDecodeError, TraceError) as error:
        raise _refusal(path, getattr(error, "message", str(error))) from None
    places = {name: place for place, name in enumerate(states)}
    labels = {label for found in edges.values() for _, label in found}
    if not states or "" in labels or not {name for found in edges.values() for name, _ in found} <= places.keys():
        raise _refusal(path, "it has no states, or its edges have no actions")
    return Corpus(
        path=path,
        model=path.stem,
        constants=(),
        variables=tuple(next(iter(states.values()))),
        actions=tuple(dict.fromkeys(label.partition("(")[0] for label in sorted(labels))),
        states=tuple(states.values()),
        sources=tuple(
            SourceState(place, tuple(_edges(edges.get(name, Counter()), places))) for name, place in places.items()
        ),
        is_dump=True,
        has_parameters=any("(" in label for label in labels),
    )


def _edges(found: Counter[tuple[str, str]], places: dict[str, int]) -> Iterator[Edge]:
    for (target, label), times in found.items():
        action, _, arguments = label.partition("(")
        yield Edge(action, positional(f"<<{arguments.removesuffix(')')}>>"), places[target], times)


def positional(arguments: str) -> Parameters:
    """Return the elements in the text of a sequence as parameters 1, 2, ...; none if the text is not a value."""
    try:
        values = parse_value(arguments)
    except TraceError:
        return ()
    elements = values.elements if isinstance(values, TlaSeq) else ()
    return tuple((str(place), canonical_text(value)) for place, value in enumerate(elements, start=1))


def _variables(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the variables of a state with their values as in a corpus."""
    _, *parts = _VARIABLE.split(text)
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        yield name, json.loads(canonical_text(_with_records(parse_value(value))))


def _with_records(tree: Tla) -> Tla:
    """Return the tree with functions of strings as records, even if TLC prints a key that is not an identifier."""
    match tree:
        case TlaSet(elements):
            return TlaSet(tuple(map(_with_records, elements)))
        case TlaSeq(elements):
            return TlaSeq(tuple(map(_with_records, elements)))
        case TlaRecord(fields):
            return TlaRecord(tuple((name, _with_records(value)) for name, value in fields))
        case TlaMap(pairs) if all(isinstance(key, TlaText) for key, _ in pairs):
            return TlaRecord(tuple((str(key), _with_records(value)) for key, value in pairs))
        case TlaMap(pairs):
            return TlaMap(tuple((_with_records(key), _with_records(value)) for key, value in pairs))
        case _:
            return tree


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


def _refusal(path: Path, reason: str) -> TraceError:
    return TraceError("KMC443", f"{path} is not a state graph of TLC: {reason}", help=_HELP)
