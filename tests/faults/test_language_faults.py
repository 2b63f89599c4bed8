"""Faults planted in `kmc.lang`, on which both engines stand, are caught by what TLC gave: golden counts and edges.

Comparing the engines with each other would miss a fault that they share. Two kinds of fault show in no figure of TLC's
and are left to the tests of values: a bag that counts past one delivery (no golden case sends a message that is under
way), and a permutation of the members that initial states name (the states are the same up to symmetry).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.specs.golden import golden_cases, outcome

from kmc.errors import KmcError
from kmc.frontend.shipped import find_spec_root
from kmc.lang import constants, enums, guards, permutation
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue, _Network
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.types import IdentMeta, RecordMeta
from kmc.reference.conformance.edges import conform
from kmc.reference.search import Search
from kmc.reference.states import identity
from kmc.result import Limits

EDGES = Path(__file__).parents[1] / "data" / "edges"


def counts_differ(name: str) -> bool:
    """Whether the interpreter counts otherwise than TLC in a golden case; a fault must not make the search endless."""
    case = next(case for spec in ("kraft", "kip_996") for case in golden_cases(spec) if case.id == name)
    result = Search(case.model(), Limits(states=case.expect["distinct"] + 1)).run()
    return outcome(result, case.expect) != case.expect


def edges_differ(corpus: str) -> bool:
    """Whether some steps of KRaft.tla are not those of the spec."""
    return bool(conform(find_spec_root("kraft"), EDGES / f"{corpus}.json.gz", limit=40).differences)


EVIDENCE: dict[str, Callable[[], bool]] = {
    "counts, symmetry": lambda: counts_differ("kraft-2"),
    "counts, sets": lambda: counts_differ("kip996-3"),
    "counts, reconfigurations": lambda: counts_differ("kip996-4"),
    "edges": lambda: edges_differ("kraft-b"),
}
"""What TLC says, of which each piece takes seconds; an error that a fault leads to counts too."""


def is_caught(evidence: str) -> bool:
    """Whether this piece of evidence is against what kmc does now."""
    try:
        return EVIDENCE[evidence]()
    except (KmcError, LookupError, TypeError, ValueError):
        return True


def changed(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method that changes what the original returns."""

    def of(original: Any) -> Any:
        def method(self: Any, *given: Any, **named: Any) -> Any:
            return change(original(self, *given, **named))

        method.__name__ = name
        return method

    return of


def first_only(found: Any) -> Any:
    """Without the last of several."""
    return found[:-1] if len(found) > 1 else found


FAULTS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "append puts the element first": (
        SeqValue, "append", lambda _: lambda self, element: tuple.__new__(type(self), (element, *self))
    ),
    "a prefix is one too long": (
        SeqValue, "upto", lambda was: lambda self, offset: was(self, min(offset + 1, len(self)))
    ),
    "offsets leave out the last": (SeqValue, "offsets", lambda _: lambda self: range(1, len(self))),
    "at gives the last element": (SeqValue, "at", lambda was: lambda self, offset: was(self, max(offset, len(self)))),
    "a map forgets a change": (MapValue, "set", lambda _: lambda self, key, value: self),
    "keys lack one": (MapValue, "keys", changed("keys", lambda keys: frozenset(list(keys)[1:]))),
    "a bag takes nothing": (MessageBagValue, "take", lambda _: lambda self, message: self),
    "a bag forgets what it delivered": (MessageBagValue, "take", lambda was: lambda self, message: (
        MessageBagValue({}, 0, self.domain)._with(
            [(other, count) for other, count in was(self, message).counts() if count]
        )
    )),
    "a set keeps what is discarded": (MessageSetValue, "discard", lambda _: lambda self, message: self),
    "a set sends only one": (
        MessageSetValue, "send_all", lambda was: lambda self, messages: was(self, list(messages)[:1])
    ),
    "some messages are not delivered": (_Network, "deliverable", changed("deliverable", first_only)),
    "a record changes one field only": (
        Record, "set", lambda was: lambda self, **changes: was(self, **dict(list(changes.items())[:1]))
    ),
    "a type lacks a shape": (RecordMeta, "shapes", lambda was: property(lambda cls: first_only(was.fget(cls)))),
    "used identifiers are given again": (IdentMeta, "fresh", lambda _: lambda cls, used: cls.members[0]),
    "a constant is one too large": (constants, "_convert", lambda was: lambda name, domain, raw, span: (
        was(name, domain, raw + 1 if type(raw) is int else raw, span)
    )),
    "an identifier is left out": (constants, "ident_class", lambda was: lambda name, titles, **given: (
        was(name, first_only(titles), **given)
    )),
    "members share a title": (enums, "camel_case", lambda was: lambda name: was(name)[:3]),
    "every way counts once": (guards, "count", lambda was: lambda conditions: min(1, was(conditions))),
    "only neighbours are permuted": (identity, "swaps", changed("swaps", lambda found: found[:2])),
    "maps are not permuted": (permutation, "permute", lambda was: lambda value, swap, memo: (
        value if isinstance(value, MapValue) else was(value, swap, memo)
    )),
    "bags are not permuted": (permutation, "permute", lambda was: lambda value, swap, memo: (
        value if isinstance(value, MessageBagValue) else was(value, swap, memo)
    )),
}  # fmt: skip


LATER = {
    "a set sends only one": "counts, sets",
    "used identifiers are given again": "counts, reconfigurations",
    "append puts the element first": "counts, sets",
    "at gives the last element": "counts, sets",
    "a set keeps what is discarded": "counts, sets",
    "a prefix is one too long": "edges",
    "a type lacks a shape": "edges",
    "members share a title": "edges",
}
"""Faults that the first piece of evidence does not show, and which one does."""


@pytest.mark.slow
@pytest.mark.parametrize("evidence", ["counts, symmetry", "edges"])
def test_without_a_fault_nothing_is_caught(evidence: str) -> None:
    assert not is_caught(evidence)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_language_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, fault = FAULTS[name]
    monkeypatch.setattr(owner, attribute, fault(vars(owner)[attribute]))
    assert is_caught(LATER.get(name, "counts, symmetry"))
