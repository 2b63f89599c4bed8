"""Edge corpora: source states, and for each all the steps that TLC computes from it.

A corpus is JSON, gzip'ed or plain: the constants of the model, `states` (each variable a value) and `sources` (a state
and its complete list of successors, each with action, parameters and how often TLC generates it). Invariant: equal
values have equal text, because sets and maps are sorted by the text of their elements and keys; so a value that is
decoded and encoded again must give the text of the file.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, assert_never

from kmc.errors import ModelError, Span, TraceError
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, shortened
from kmc.model_files.model_file import Assignment
from kmc.model_files.raw_values import ModelValue, Raw, RawSet

_GZIP_MAGIC = b"\x1f\x8b"


Parameters: TypeAlias = tuple[tuple[str, str], ...]
"""The parameters of an action by name, each with the canonical text of its value; sorted by name."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One successor of a source: its action, the number of its state, how often TLC generates it."""

    action: str
    parameters: Parameters
    state: int
    times: int


@dataclass(frozen=True, slots=True)
class SourceState:
    """A state, by number, with all its successors."""

    state: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as read; `states` are undecoded. Actions are those of the TLA+ spec, also those that never fire.

    A dump of TLC (`is_dump`) names no constants, has the steps within the constraints only, and numbers its parameters;
    an old one has none.
    """

    path: Path
    model: str
    constants: tuple[Assignment, ...]
    variables: tuple[str, ...]
    actions: tuple[str, ...]
    states: tuple[Mapping[str, Any], ...]
    sources: tuple[SourceState, ...]
    is_dump: bool = False
    has_parameters: bool = True

    def variables_of(self, index: int) -> dict[str, Tla]:
        """The TLA+ variables of state `index`; TraceError for an invalid value."""
        try:
            return {name: value_of(raw) for name, raw in self.states[index].items()}
        except TraceError as error:
            raise error.noting(f"in state {index} of {self.path}") from None


def read_corpus(path: Path) -> Corpus:
    """Read a corpus. Raises TraceError: KMC431 when it cannot be read, KMC432 when it is not a corpus."""
    document = _read_json(path)
    return _Reader(path).corpus(document)


def canonical_text(tree: Tla) -> str:
    """The text of a value in a corpus: JSON without blanks, with sets, maps and records sorted."""
    match tree:
        case str():
            return _quoted(tree)
        case bool():
            return "true" if tree else "false"
        case int():
            return str(tree)
        case TlaSet(elements):
            return '{"#set":[' + ",".join(sorted(map(canonical_text, elements))) + "]}"
        case TlaSeq(elements):
            return '{"#tup":[' + ",".join(map(canonical_text, elements)) + "]}"
        case TlaMap(pairs):
            texts = sorted((canonical_text(key), canonical_text(value)) for key, value in pairs)
            return '{"#map":[' + ",".join(f"[{key},{value}]" for key, value in texts) + "]}"
        case TlaRecord(fields):
            return "{" + ",".join(f"{_quoted(name)}:{canonical_text(value)}" for name, value in sorted(fields)) + "}"
        case _:
            assert_never(tree)


@lru_cache(maxsize=4096)  # few names, each in most values
def _quoted(name: str) -> str:
    return json.dumps(name)


def raw_text(raw: Any) -> str:
    """The text of a value as in the file."""
    return json.dumps(raw, separators=(",", ":"), sort_keys=True)


def value_of(raw: Any) -> Tla:
    """The value that JSON `raw` represents; TraceError KMC433 if `raw` is not a value."""
    match raw:
        case bool() | int() | str():
            return raw
        case {"#set": [*elements], **others} if not others:
            return TlaSet(tuple(map(value_of, elements)))
        case {"#tup": [*elements], **others} if not others:
            return TlaSeq(tuple(map(value_of, elements)))
        case {"#map": [*pairs], **others} if not others:
            return TlaMap(tuple(_pair(pair) for pair in pairs))
        case dict() if not any(name.startswith("#") for name in raw):
            return TlaRecord(tuple((name, value_of(item)) for name, item in raw.items()))
    _refuse_value(raw)


def _parameters(raw: Mapping[str, Any]) -> Parameters:
    return tuple(sorted((name, canonical_text(value_of(value))) for name, value in raw.items()))


def _pair(raw: Any) -> tuple[Tla, Tla]:
    match raw:
        case [key, value]:
            return value_of(key), value_of(value)
    _refuse_value(raw)


def _refuse_value(raw: Any) -> NoReturn:
    raise TraceError(
        "KMC433",
        f"{shortened(raw_text(raw))} is not a value",
        help='values are integers, booleans, strings, records, {"#set": [...]}, {"#tup": [...]} and {"#map": [...]}',
    )


def _read_json(path: Path) -> Any:
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP_MAGIC):
            data = gzip.decompress(data)
        return json.loads(data)
    # A damaged gzip stream raises EOFError or zlib.error, bad text a ValueError, a hostile file RecursionError.
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise TraceError(
            "KMC431", f"the corpus {path} cannot be read: {reason}", help="give a corpus: JSON, gzip'ed or plain"
        ) from None


class _Reader:
    """Checks the shape of a document, saying where it is wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def corpus(self, document: Any) -> Corpus:
        self._require(isinstance(document, dict), "it is not a JSON object")
        states = self._list(document, "states")
        for index, state in enumerate(states):
            self._require(isinstance(state, dict), f"state {index} is not an object")
        sources = self._list(document, "sources")
        return Corpus(
            path=self._path,
            model=str(document.get("model", self._path.name)),
            constants=tuple(self._constants(document.get("constants"))),
            variables=self._names(document, "variables"),
            actions=self._names(document, "actions"),
            states=tuple(states),
            sources=tuple(self._source(at, raw, len(states)) for at, raw in enumerate(sources)),
        )

    def _require(self, condition: bool, what: str) -> None:
        if not condition:
            self._refuse(what)

    def _refuse(self, what: str) -> NoReturn:
        raise TraceError(
            "KMC432",
            f"{self._path} is not a corpus: {what}",
            help="a corpus has constants, variables, actions, states and sources",
        )

    def _list(self, document: dict[str, Any], key: str) -> list[Any]:
        entries = document.get(key)
        if not isinstance(entries, list):
            self._refuse(f"'{key}' is not a list")
        return entries

    def _names(self, document: dict[str, Any], key: str) -> tuple[str, ...]:
        names = self._list(document, key)
        self._require(all(isinstance(name, str) for name in names), f"'{key}' holds something that is not a name")
        return tuple(names)

    def _constants(self, constants: Any) -> Iterator[Assignment]:
        if not isinstance(constants, dict):
            self._refuse("'constants' is not an object")
        for name, raw in constants.items():
            yield Assignment(name, self._constant(name, raw), Span(str(self._path), 1))

    def _constant(self, name: str, raw: Any) -> Raw:
        match raw:
            case bool() | int():
                return raw
            case str():
                return ModelValue(raw)
            case list():
                try:
                    return RawSet(tuple(self._constant(name, member) for member in raw))
                except ModelError as error:
                    self._refuse(f"constant '{name}': {error.message}")
        self._refuse(f"constant '{name}' is {raw_text(raw)}")

    def _source(self, at: int, raw: Any, states: int) -> SourceState:
        match raw:
            case {"state": int(number), "successors": [*successors]} if 0 <= number < states:
                return SourceState(number, tuple(self._edge(at, successor, states) for successor in successors))
        self._refuse(f"source {at} is not a state's number with its successors")

    def _edge(self, at: int, raw: Any, states: int) -> Edge:
        match raw:
            case [str(action), int(state), int(times), (dict() | None) as parameters] if (
                0 <= state < states and times >= 1
            ):
                return Edge(action, _parameters(parameters or {}), state, times)
        self._refuse(f"source {at} has the successor {raw_text(raw)}, not [action, state, times, parameters]")
