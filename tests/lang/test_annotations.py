"""What an annotation means, and what is not one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.drawing.values import (
    Ask,
    Base,
    FetchOk,
    FetchResponse,
    Role,
    Server,
    Value,
    VoteRequest,
    VoteResponse,
    record_class,
)

from kmc.errors import SpecError
from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, Pair, PartialMap, Seq, Set
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
    as_type,
)

SERVER, VALUE, ROLE = IdentType(Server), IdentType(Value), EnumType(Role)
Node: Any = record_class({"epoch": Int(0, 3)}, name="Node")
Entry: Any = record_class({"mark": Int(0, 3)}, name="Entry")
REQUEST, RESPONSE = RecordType(VoteRequest), RecordType(VoteResponse)
Annotation = Callable[[], Any]

MEANINGS: list[tuple[Annotation, Type]] = [
    (lambda: Bool, BoolType()),
    (lambda: Int(-1, 4), IntType(-1, 4)),
    (lambda: Int(4, 4), IntType(4, 4)),
    (lambda: Server, SERVER),
    (lambda: Role, ROLE),
    (lambda: Node, RecordType(Node)),
    (lambda: Set[Server], SetType(SERVER)),
    (lambda: Seq[Bool, 0], SeqType(BoolType(), 0)),
    (lambda: Seq[Bool, 1], SeqType(BoolType(), 1)),
    (lambda: Map[Server, Bool], MapType(SERVER, BoolType(), True)),
    (lambda: Map[Role, Bool], MapType(ROLE, BoolType(), True)),
    (lambda: Map[Int(0, 1), Bool], MapType(IntType(0, 1), BoolType(), True)),
    (lambda: PartialMap[Pair[Server], Bool], MapType(PairType(SERVER), BoolType(), False)),
    (lambda: Opt[Server], UnionType((SERVER,), True)),
    (lambda: Server | None, UnionType((SERVER,), True)),
    (lambda: None | Server, UnionType((SERVER,), True)),
    (lambda: Server | Value, UnionType((SERVER, VALUE), False)),
    (lambda: Server | Value | Server, UnionType((SERVER, VALUE), False)),
    (lambda: (Server | None) | Value, UnionType((SERVER, VALUE), True)),
    (lambda: Value | (None | Server), UnionType((VALUE, SERVER), True)),
    (lambda: Opt[Server | Value], UnionType((SERVER, VALUE), True)),
    (lambda: Server | Bool, UnionType((SERVER, BoolType()), False)),
    (lambda: Server | Int(0, 1) | Node, UnionType((SERVER, IntType(0, 1), RecordType(Node)), False)),
    (lambda: Opt[Set[Server]], UnionType((SetType(SERVER),), True)),
    (lambda: Opt[Seq[Server, 2]], UnionType((SeqType(SERVER, 2),), True)),
    (lambda: Node | Entry, UnionType((RecordType(Node), RecordType(Entry)), False)),
    (lambda: FetchOk | FetchResponse, UnionType((RecordType(FetchResponse),), False)),
    (lambda: Server | Base | Ask, UnionType((SERVER, RecordType(Base)), False)),
    (lambda: MessageSet[VoteRequest], MessageSetType((REQUEST,), 4096)),
    (lambda: MessageSet[VoteRequest | VoteResponse, 1], MessageSetType((REQUEST, RESPONSE), 1)),
    (lambda: MessageBag[VoteRequest], MessageBagType((REQUEST,), 4096, 255)),
    (lambda: MessageBag[VoteRequest, 1], MessageBagType((REQUEST,), 1, 255)),
    (lambda: MessageBag[VoteRequest | VoteResponse, 2, 1], MessageBagType((REQUEST, RESPONSE), 2, 1)),
]


@pytest.mark.parametrize(("annotation", "meaning"), MEANINGS)
def test_an_annotation_means_a_type(annotation: Annotation, meaning: Type) -> None:
    assert as_type(annotation(), "here") == meaning


MISTAKES: list[tuple[Annotation, str, str]] = [
    (lambda: Int(2, 1), "KMC142", "Int(least, greatest)"),
    (lambda: Int(0, True), "KMC141", "Int(least, greatest)"),
    (lambda: Int("0", 1), "KMC141", "Int(least, greatest)"),  # type: ignore[arg-type]  # what is refused
    (lambda: Set(Server), "KMC143", "write Set[...] in an annotation"),
    (lambda: Seq[Bool, -1], "KMC144", "Seq[Entry, 4]"),
    (lambda: Seq[Bool, True], "KMC144", "Seq[Entry, 4]"),
    (lambda: Seq[Bool], "KMC144", "Seq[Entry, 4]"),
    (lambda: Seq[Bool, 1, 2], "KMC144", "Seq[Entry, 4]"),
    (lambda: Map[Server], "KMC145", "Map[Server, Node]"),
    (lambda: PartialMap[Server, Bool, Bool], "KMC145", "PartialMap[Server, Node]"),
    (lambda: Map[MessageSet[VoteRequest], Bool], "KMC146", "keys: values of any other type"),
    (lambda: PartialMap[MessageBag[VoteRequest], Bool], "KMC146", "keys: values of any other type"),
    (lambda: Pair[Role], "KMC147", "Pair[Server]"),
    (lambda: MessageSet[VoteRequest, 0], "KMC148", "write MessageSet[Vote, capacity]"),
    (lambda: MessageSet[VoteRequest, True], "KMC148", "write MessageSet[Vote, capacity]"),
    (lambda: MessageSet[VoteRequest, 1, 1], "KMC148", "write MessageSet[Vote, capacity]"),
    (lambda: MessageBag[VoteRequest, 1, 0], "KMC148", "write MessageBag[Vote, capacity, largest count]"),
    (lambda: MessageBag[VoteRequest, 1, 1, 1], "KMC148", "write MessageBag[Vote, capacity, largest count]"),
    (lambda: MessageSet[Server], "KMC149", "MessageSet[VoteRequest | VoteResponse]"),
    (lambda: MessageBag[VoteRequest | Server], "KMC149", "MessageBag[VoteRequest | VoteResponse]"),
    (lambda: "Server", "KMC151", "quotes"),
    (lambda: bool, "KMC152", "write Bool"),
    (lambda: Int, "KMC152", "write Int(least, greatest)"),
    (lambda: Set, "KMC152", "write Set[...]"),
    (lambda: dict, "KMC152", "write Map[...] or PartialMap[...]"),
    (lambda: 3, "KMC152", ""),
    (lambda: Opt[None], "KMC153", "Opt[Server]"),
    (lambda: Server | Bool | Int(0, 1), "KMC154", "at most one of Bool and Int"),
    (lambda: Server | Int(0, 1) | Int(0, 2), "KMC154", "at most one of Bool and Int"),
    (lambda: Server | int | Int(0, 2), "KMC154", "at most one of Bool and Int"),
    (lambda: Set[Value] | Set[Server], "KMC154", "one of Set and Pair"),
    (lambda: Pair[Server] | Set[Server], "KMC154", "one of Set and Pair"),
    (lambda: Seq[Server, 2] | Map[Server, Bool], "KMC154", "one of Seq and maps"),
]


@pytest.mark.parametrize(("annotation", "code", "advice"), MISTAKES)
def test_what_is_not_a_type_is_refused_with_what_to_write(annotation: Annotation, code: str, advice: str) -> None:
    with pytest.raises(SpecError) as caught:
        as_type(annotation(), "field 'x' of Node")
    assert caught.value.code == code
    assert advice in (caught.value.help or "")
    if code in ("KMC151", "KMC152"):
        assert caught.value.message.startswith("field 'x' of Node ")
