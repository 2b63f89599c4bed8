"""Values for people who do not know TLA+: `{epoch: 1, value: v1}`, `[a, b]`, `{n1, n2}`, `true`, `none`.

The empty map is `{:}`, which looks like neither a set nor a list. TLC's notation stays in TLC's own texts
(`kmc.trace.text`).
"""

from __future__ import annotations

from typing import assert_never

from kmc.lang.showing import digits
from kmc.lang.tla import NIL, Tla, TlaMap, TlaRecord, TlaSeq, TlaSet

NOTHING = "none"
"""The text for Nil."""

_TLC_PREFIX, _TLC_TAG = "m", "mtype"
_INDENT = "  "


def in_words(tree: Tla) -> str:
    """The value in one line: records and functions as `{key: value}`, sequences as `[a, b]`, sets as `{a, b}`."""
    match tree:
        case bool():
            return "true" if tree else "false"
        case int():
            return digits(tree)
        case str():
            return NOTHING if tree == NIL else tree
        case TlaSet(elements):
            return "{" + ", ".join(map(in_words, elements)) + "}"
        case TlaSeq(elements):
            return "[" + ", ".join(map(in_words, elements)) + "]"
        case TlaRecord(fields):
            return "{" + ", ".join(f"{name}: {in_words(value)}" for name, value in fields) + "}"
        case TlaMap(pairs):
            return "{" + (", ".join(f"{in_words(key)}: {in_words(value)}" for key, value in pairs) or ":") + "}"
        case _:
            assert_never(tree)


def field_in_words(name: str, tag: str) -> str:
    """The name of a message's field: `epoch` for `mepoch` where the spec, like raft.tla, calls its tag `mtype`."""
    bare = name.removeprefix(_TLC_PREFIX)
    return bare if tag == _TLC_TAG and bare else name


def in_lines(tree: Tla, width: int) -> list[str]:
    """The value in lines of at most `width` columns where that is possible: a longer value has an entry per line."""
    return _lines("", tree, "", width)


def _lines(head: str, tree: Tla, tail: str, width: int) -> list[str]:
    """The lines of `tree` between a head, such as the name of its field, and a tail, such as a comma."""
    line = f"{head}{in_words(tree)}{tail}"
    parts = _parts(tree)
    if len(line) <= width or not parts:
        return [line]
    opening, closing = in_words(tree)[0], in_words(tree)[-1]
    inside = width - len(_INDENT)
    lines = [
        line
        for ordinal, (name, part) in enumerate(parts, start=1)
        for line in _lines(name, part, "," if ordinal < len(parts) else "", inside)
    ]
    return [head + opening, *(_INDENT + line for line in lines), closing + tail]


def _parts(tree: Tla) -> list[tuple[str, Tla]]:
    """The parts of a value, each with its prefix: the name of a field, the key of a map, or nothing."""
    match tree:
        case TlaSet(elements) | TlaSeq(elements):
            return [("", element) for element in elements]
        case TlaRecord(fields):
            return [(f"{name}: ", value) for name, value in fields]
        case TlaMap(pairs):
            return [(f"{in_words(key)}: ", value) for key, value in pairs]
        case _:
            return []
