"""The members of the types that can be listed, and every type as an error describes it."""

from __future__ import annotations

from typing import Any

import pytest
from support.drawing.values import (
    Base,
    Father,
    Id,
    Mother,
    Role,
    Server,
    Slip,
    Value,
    VoteRequest,
    VoteResponse,
    record_class,
)

from kmc.errors import DomainError, SpecError
from kmc.lang.admission import admitter
from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, Pair, PartialMap, Seq, Set
from kmc.lang.domains import describe, members, number_of, value_count
from kmc.lang.idents import ident_class
from kmc.lang.maps import map_literal
from kmc.lang.pairs import pair
from kmc.lang.seqs import seq_literal
from kmc.lang.types import as_type

S1, S2, S3 = Server
V1, V2 = Value
Node = record_class({"epoch": Int(0, 3)}, name="Node")


NUMBERED = [
    *[Bool, Int(-1, 2), Role, Pair[Server], Opt[Value | Int(0, 1)], Set[Server], Set[Set[Value]], Slip, Base],
    *[Seq[Opt[Value], 2], Seq[Int(3, 3), 4], Map[Slip, Bool], PartialMap[Opt[Value], Bool]],
    *[Role | Set[Value] | Seq[Value, 1], Mother | Father | None],
]


def servers(count: int) -> Any:
    """A type of so many identifiers."""
    return ident_class("Many", tuple(f"n{number}" for number in range(1, count + 1)), symmetric=True)


@pytest.mark.parametrize(
    ("declared", "listed"),
    [
        (Bool, [False, True]),
        (Int(-1, 2), [-1, 0, 1, 2]),
        (Role, list(Role)),
        (Server, [S1, S2, S3]),
        (Pair[Server], [pair(S1, S2), pair(S1, S3), pair(S2, S3)]),
        (Value | Role, [*Value, *Role]),
        (Opt[Server], [None, S1, S2, S3]),
        (Set[Value], [frozenset(), {V1}, {V2}, {V1, V2}]),
        (Seq[Value, 2], [*map(seq_literal, [(), (V1,), (V2,), (V1, V1), (V1, V2), (V2, V1), (V2, V2)])]),
        (Node | Pair[Value], [*(Node(epoch=n) for n in range(4)), pair(V1, V2)]),
        (Map[Value, Bool], [map_literal([(V1, one), (V2, two)]) for one in (False, True) for two in (False, True)]),
        (PartialMap[Value, Int(7, 7)], [*map(map_literal, [[], [(V2, 7)], [(V1, 7)], [(V1, 7), (V2, 7)]])]),
    ],
)
def test_the_members_of_a_small_type_are_listed_in_order(declared: Any, listed: list[Any]) -> None:
    assert list(members(as_type(declared, "here"))) == listed


@pytest.mark.parametrize("declared", NUMBERED)
def test_the_number_of_a_value_is_its_place_among_as_many_members_as_are_counted(declared: Any) -> None:
    kind = as_type(declared, "here")
    listed = members(kind)
    assert len(set(listed)) == len(listed) == value_count(kind)
    assert [number_of(value, kind) for value in listed] == list(range(len(listed)))
    assert [admitter(kind)(value) for value in listed] == list(listed)


@pytest.mark.parametrize("declared", [Set[Int(1, 99)], Seq[Server, 40], Map[Int(1, 17), Bool], MessageSet[VoteRequest]])
def test_types_of_too_many_values_are_not_listed(declared: Any) -> None:
    with pytest.raises(SpecError) as caught:
        members(as_type(declared, "here"))
    assert caught.value.code == "KMC155"


@pytest.mark.parametrize(
    ("declared", "description"),
    [
        (Bool, "Bool"),
        (Int(-1, 2), "-1..2"),
        (Role, "Role {Follower, Candidate, FencedLeader}"),
        (Id, "Id {1, 2, 3}"),
        (servers(8), "Many {n1, n2, n3, n4, n5, n6, n7, n8}"),
        (servers(9), "Many {n1, n2, n3, n4, n5, n6, n7, n8, ...}"),
        (Pair[Server], "Pair[Server]"),
        (Node, "Node"),
        (Value | Node, "Value {v1, v2} | Node"),
        (Opt[Value], "Value {v1, v2} | None"),
        (Set[Value], "Set[Value {v1, v2}]"),
        (Seq[Bool, 4], "Seq[Bool, 4]"),
        (Map[Value, Bool], "Map[Value {v1, v2}, Bool]"),
        (PartialMap[Value, Bool], "PartialMap[Value {v1, v2}, Bool]"),
        (MessageSet[VoteRequest | VoteResponse, 7], "MessageSet[VoteRequest | VoteResponse, 7]"),
        (MessageBag[VoteRequest, 7, 3], "MessageBag[VoteRequest, 7, 3]"),
    ],
)
def test_a_type_is_described_in_the_words_of_an_annotation(declared: Any, description: str) -> None:
    assert describe(as_type(declared, "here")) == description


KINDS: dict[str, tuple[Any, Any]] = {
    "Bool": (Bool, True),
    "Int": (Int(0, 3), 1),
    "Enum": (Role, Role.FOLLOWER),
    "member": (Server, S1),
    "Pair": (Pair[Server], pair(S1, S2)),
    "record": (Node, Node(epoch=1)),
    "Seq": (Seq[Server, 2], seq_literal([S1])),
    "Map": (PartialMap[Server, Bool], map_literal([(S1, True)])),
    "Set": (Set[Server], frozenset([S1])),
    "union": (Value | Bool, V1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_type_admits_values_of_its_kind_and_refuses_all_others(kind: str) -> None:
    declared, own = KINDS[kind]
    admit = admitter(as_type(declared, "here"))
    assert admit(own) == own
    for other, (_, value) in [*KINDS.items(), ("None", (None, None)), ("text", (None, "x"))]:
        # A pair is the set of its two members.
        if other != kind and (kind, other) not in {("union", "Bool"), ("Set", "Pair")}:
            with pytest.raises(DomainError, match="is not in") as caught:
                admit(value)
            assert caught.value.code == "KMC201"
