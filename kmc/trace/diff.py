"""The difference between a value and its predecessor, entry by entry.

`compare` makes a tree, which `kmc.trace.text` lays out as text. In sets, functions and records, it marks the entries
that changed or were removed. A sequence is compared offset by offset and always shown whole.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.trace.trees import as_sequence, entries, identity, one_line


class Form(Enum):
    """The brackets of a value: what opens it, what separates its parts, what closes it."""

    LEAF = ("", "", "")
    SET = ("{", ", ", "}")
    SEQUENCE = ("<<", ", ", ">>")
    RECORD = ("[", ", ", "]")
    FUNCTION = ("(", " @@ ", ")")


@dataclass(frozen=True, slots=True)
class Compared:
    """A value and its parts. `head` precedes it (`n1 :> `), `text` is a leaf's own.

    `paired` says that the parts were compared with those of an earlier value; `removed` are the texts of the entries
    that only the earlier value has. `listed` functions have the domain 1..n.
    """

    head: str
    form: Form
    changed: bool
    text: str = ""
    parts: tuple[Compared, ...] = ()
    removed: tuple[str, ...] = ()
    paired: bool = False
    listed: bool = False


def compare(head: str, tree: Tla, old: Tla | None, changed: bool) -> Compared:
    """`tree` compared with `old`, if there is such a counterpart; `changed` says whether they differ."""
    if not changed:
        old = None
    match tree:
        case TlaSet(elements):
            return _set(head, elements, old, changed)
        case TlaRecord(fields):
            return _record(head, fields, old, changed)
        case TlaMap(pairs):
            return _function(head, pairs, old, changed)
        case TlaSeq(elements):
            return _sequence(head, elements, old, changed)
        case _:
            return Compared(head, Form.LEAF, changed, one_line(tree))


def _part(head: str, tree: Tla, known: dict[Hashable, Tla] | None, key: Hashable, changed: bool) -> Compared:
    """A part whose counterpart, if any, is `known[key]`."""
    if known is None:
        return compare(head, tree, None, changed)
    old = known.get(key)
    return compare(head, tree, old, old is None or identity(old) != identity(tree))


def _set(head: str, elements: tuple[Tla, ...], old: Tla | None, changed: bool) -> Compared:
    known = {identity(element): element for element in old.elements} if isinstance(old, TlaSet) else None
    present = {identity(element) for element in elements}
    parts = tuple(_part("", element, known, identity(element), changed) for element in elements)
    removed = tuple(one_line(element) for key, element in (known or {}).items() if key not in present)
    return Compared(head, Form.SET, changed, parts=parts, removed=removed, paired=known is not None)


def _record(head: str, fields: tuple[tuple[str, Tla], ...], old: Tla | None, changed: bool) -> Compared:
    known: dict[Hashable, Tla] | None = None
    if isinstance(old, TlaRecord) and {name for name, _ in old.fields} == {name for name, _ in fields}:
        known = dict(old.fields)
    parts = tuple(_part(f"{name} |-> ", value, known, name, changed) for name, value in fields)
    return Compared(head, Form.RECORD, changed, parts=parts, paired=known is not None)


def _function(head: str, pairs: tuple[tuple[Tla, Tla], ...], old: Tla | None, changed: bool) -> Compared:
    listed = as_sequence(pairs)
    if listed is not None:
        pairs = tuple(enumerate(listed, start=1))
    before = entries(old) if old is not None else None
    known = {identity(key): value for key, value in before} if before is not None else None
    present = {identity(key) for key, _ in pairs}
    parts = tuple(_part(f"{one_line(key)} :> ", value, known, identity(key), changed) for key, value in pairs)
    removed = tuple(
        f"{one_line(key)} :> {one_line(value)}" for key, value in before or () if identity(key) not in present
    )
    return Compared(head, Form.FUNCTION, changed, "", parts, removed, before is not None, listed is not None)


def _sequence(head: str, elements: tuple[Tla, ...], old: Tla | None, changed: bool) -> Compared:
    known: dict[Hashable, Tla] | None = dict(enumerate(old.elements)) if isinstance(old, TlaSeq) else None
    parts = tuple(_part("", element, known, index, changed) for index, element in enumerate(elements))
    return Compared(head, Form.SEQUENCE, changed, parts=parts)
