"""Values of a trace file get the kinds that a spec's types say: sets, sequences, functions and records."""

from __future__ import annotations

from typing import Any

import pytest
from support.drawing.values import Server, Value, VoteRequest, record_class

from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, Pair, PartialMap, Seq, Set
from kmc.lang.naming import lower_camel_case
from kmc.lang.tla import Naming, Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.lang.types import as_type
from kmc.trace.typed import typed

Node = record_class({"some_ids": Set[Server], "epoch": Int(0, 3)}, name="Node")
NAMING = Naming(lower_camel_case, "mtype")
LISTED = TlaSeq(("s1", "s2"))
MESSAGE = TlaRecord((("mtype", "VoteRequest"), ("source", "s1"), ("dest", "s2"), ("epoch", 1)))


def node(ids: Tla, **more: Tla) -> TlaRecord:
    """A record with the names of `Node` in TLA+."""
    return TlaRecord((("someIds", ids), ("epoch", 1), *more.items()))


@pytest.mark.parametrize(
    ("declared", "tree", "expected"),
    [
        (Set[Server], LISTED, TlaSet(("s1", "s2"))),
        (Set[Set[Server]], TlaSet((LISTED,)), TlaSet((TlaSet(("s1", "s2")),))),
        (Pair[Server], LISTED, TlaSet(("s1", "s2"))),
        (Set[Server], "s1", "s1"),
        (Seq[Set[Server], 3], TlaSeq((LISTED,)), TlaSeq((TlaSet(("s1", "s2")),))),
        (Seq[Set[Server], 3], TlaMap(((1, LISTED),)), TlaSeq((TlaSet(("s1", "s2")),))),
        (Seq[Set[Server], 3], TlaMap(((2, LISTED),)), TlaMap(((2, LISTED),))),
        (PartialMap[Server, Bool], TlaSeq(()), TlaMap(())),
        (Map[Int(1, 2), Bool], TlaSeq((True, False)), TlaMap(((1, True), (2, False)))),
        (PartialMap[Server, Set[Value]], TlaRecord((("s1", TlaSeq(("v1",))),)), TlaMap((("s1", TlaSet(("v1",))),))),
        (PartialMap[Pair[Server], Bool], TlaMap(((LISTED, True),)), TlaMap(((TlaSet(("s1", "s2")), True),))),
        (MessageSet[VoteRequest], TlaSeq((MESSAGE,)), TlaSet((MESSAGE,))),
        (MessageBag[VoteRequest], TlaMap(((MESSAGE, 1),)), TlaMap(((MESSAGE, 1),))),
        (Node, node(LISTED), node(TlaSet(("s1", "s2")))),
        (Node, node(LISTED, other=1), node(LISTED, other=1)),
        (VoteRequest, MESSAGE, MESSAGE),
        (Opt[Node], node(LISTED), node(TlaSet(("s1", "s2")))),
        (Opt[Node], "Nil", "Nil"),
        (Server | Node, node(LISTED), node(TlaSet(("s1", "s2")))),
        (Server | Node, node("s1"), node("s1")),
    ],
)
def test_each_value_has_the_kind_of_its_type_as_far_as_it_fits(declared: Any, tree: Tla, expected: Tla) -> None:
    assert typed(tree, as_type(declared, "here"), NAMING) == expected
