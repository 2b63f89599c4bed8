"""The differences of two states, entry by entry: `log[n1][2].epoch`, on the left 3, on the right 4.

Only the innermost differing parts are listed: arguments of functions, fields of records, positions of sequences, and
elements of sets that only one side has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, text


@dataclass(frozen=True, slots=True)
class Part:
    """A place in a state and its text on the left and on the right; None where that side has nothing."""

    path: str
    left: str | None
    right: str | None


def differing_parts(left: Mapping[str, Tla], right: Mapping[str, Tla]) -> tuple[Part, ...]:
    """The parts in which two states differ, each given by its TLA+ variables; in the order of `left`."""
    return tuple(_entries("", dict(left), dict(right)))


def _parts(path: str, left: Tla, right: Tla) -> Iterator[Part]:
    match left, right:
        case ((TlaMap() | TlaSeq()), (TlaMap() | TlaSeq())):
            yield from _entries(path, _arguments(left), _arguments(right))
        case TlaRecord(fields), TlaRecord(others):
            yield from _entries(path, _fields(fields), _fields(others))
        case TlaSet(elements), TlaSet(others):
            yield from _entries(path, _members(elements), _members(others))
        case _ if text(left) != text(right):
            yield Part(path, text(left), text(right))


def _entries(path: str, left: dict[str, Tla], right: dict[str, Tla]) -> Iterator[Part]:
    """The differences of two collections, with the text behind `path` for each entry."""
    for step in dict.fromkeys([*left, *right]):
        if step not in right:
            yield Part(path + step, text(left[step]), None)
        elif step not in left:
            yield Part(path + step, None, text(right[step]))
        else:
            yield from _parts(path + step, left[step], right[step])


def _arguments(function: TlaMap | TlaSeq) -> dict[str, Tla]:
    pairs = function.pairs if isinstance(function, TlaMap) else enumerate(function.elements, start=1)
    return {f"[{text(key)}]": value for key, value in pairs}


def _fields(fields: Iterable[tuple[str, Tla]]) -> dict[str, Tla]:
    return {f".{name}": value for name, value in fields}


def _members(elements: Iterable[Tla]) -> dict[str, Tla]:
    return {f"{{{text(element)}}}": True for element in elements}
