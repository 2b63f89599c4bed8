"""Code that permutes a value gives the words of the permuted value, whatever type holds the identifiers."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some
from support.drawing.values import Role, Server, Value, record_class, types, values

from kmc.compiler.ir.emit_python import PythonModule, emit_python
from kmc.compiler.ir.nodes import Const, Function, Load, Module, Return, Store, Var
from kmc.compiler.symmetry.member_change import MEMBER_BITS
from kmc.compiler.symmetry.permute import permuted
from kmc.compiler.symmetry.signatures import ROW, keys_in_use
from kmc.compiler.values.code import Code
from kmc.errors import SpecError
from kmc.lang.domains import members
from kmc.lang.idents import ident_class
from kmc.lang.maps import map_literal
from kmc.lang.permutation import permute, swaps
from kmc.lang.seqs import seq_literal
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
)
from kmc.runtime.codec import encode_row
from kmc.runtime.state_layout import row_layout

Seat: Any = ident_class("Seat", ("a", "b", "c", "d", "e"), symmetric=True)
SERVER, VALUE, ROLE = IdentType(Server), IdentType(Value), EnumType(Role)
PATH = SeqType(IntType(0, 3), 12)  # 28 bits: an element that shares a word, and three fill more than one


def record(**fields: Type) -> RecordType:
    """A record type."""
    return RecordType(record_class(fields))


def permuting(state_class: Any, classes: tuple[Any, ...]) -> PythonModule:
    """The kernel `permute(row, out, the table of each class)` of states."""
    code = Code("permute")
    words = tuple(Load("row", Const(1 + k)) for k in range(row_layout(state_class).fixed_words))
    tables = {cls: Var(cls.__name__) for cls in classes}
    for place, word in enumerate(permuted(code, words, RecordType(state_class), tables)):
        code.emit(Store("out", Const(place), word))
    code.emit(Return(Const(0)))
    names = tuple(cls.__name__ for cls in classes)
    return emit_python(Module((Function("permute", ("row", "out"), names, code.statements(), frozenset({"row"})),)))


def assert_permuted_as_in_the_interpreter(
    declared: Type, found: list[Any], classes: tuple[Any, ...] = (Server, Value)
) -> None:
    state_class = record_class({"before": IntType(0, 2), "value": declared, "behind": IntType(0, 1)})
    kernel = permuting(state_class, classes)
    for swap in swaps(classes):
        tables = [sum(swap[member].index << MEMBER_BITS * member.index for member in cls.members) for cls in classes]
        for value in found:
            row, image = (
                encode_row(state_class(before=2, value=one, behind=1)) for one in (value, permute(value, swap, {}))
            )
            out = [0] * len(row)
            kernel.call("permute", [(row, 0), (out, 0)], tables)
            assert out[: len(row) - 1] == image[1:], (value, swap)


UNIONS = {
    "members before and behind members of an enum": UnionType((SERVER, ROLE, VALUE), True),
    "members behind members of an enum": UnionType((ROLE, SERVER), True),
    "members behind numbers, never none": UnionType((IntType(0, 5), VALUE, SERVER), False),
}


@pytest.mark.parametrize("title", UNIONS)
def test_every_member_in_a_union_is_permuted(title: str) -> None:
    declared = UNIONS[title]
    everything = [*Server.members, *Value.members, *Role.members, *range(6), None]
    assert_permuted_as_in_the_interpreter(declared, [v for v in everything if _is_in(v, declared)])


def _is_in(value: Any, declared: UnionType) -> bool:
    if value is None:
        return declared.optional
    cls: Any = type(value)
    kind = IntType(0, 5) if isinstance(value, int) else ROLE if isinstance(value, Role) else IdentType(cls)
    return kind in declared.alternatives


HOLDERS: dict[str, Type] = {
    "a sequence": SeqType(SERVER, 3),
    "a sequence of many words": SeqType(record(member=SERVER, path=PATH), 3),
    "a set": SetType(SERVER),
    "a set of pairs": SetType(PairType(SERVER)),
    "a pair": PairType(SERVER),
    "the keys of a map": MapType(SERVER, IntType(0, 5), True),
    "the keys of a map of many words": MapType(PairType(SERVER), PATH, True),
    "the keys of a map of wide entries": MapType(SERVER, SeqType(IntType(0, 255), 20), True),
    "the keys of a partial map": MapType(SERVER, IntType(0, 5), False),
    "the keys of a partial map of many words": MapType(SERVER, PATH, False),
    "the keys of a partial map of wide entries": MapType(SERVER, SeqType(VALUE, 30), False),
    "the entries of a partial map": MapType(ROLE, SERVER, False),
    "the entries of a map": MapType(ROLE, UnionType((SERVER,), True), True),
    "one of two records": UnionType((record(one=SERVER), record(other=VALUE, number=IntType(0, 3))), True),
    "one of two wide records": UnionType((record(one=SeqType(SERVER, 40)), record(other=VALUE)), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", HOLDERS)
def test_members_are_permuted_in(title: str) -> None:
    found: list[Any] = []

    @settings(max_examples=25)
    @given(values(HOLDERS[title]))
    def draw(value: Any) -> None:
        found.append(value)

    draw()
    assert_permuted_as_in_the_interpreter(HOLDERS[title], found)


def test_each_pair_of_five_members_becomes_the_pair_of_their_images() -> None:
    pairs = [*members(PairType(IdentType(Seat)))]
    found = [frozenset([pair]) for pair in pairs]
    assert_permuted_as_in_the_interpreter(SetType(PairType(IdentType(Seat))), found, (Seat,))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(some.data())
def test_a_value_of_any_type_is_permuted(data: some.DataObject) -> None:
    declared = data.draw(types)
    assume(not isinstance(declared, MessageSetType | MessageBagType))
    try:
        row_layout(record_class({"value": declared}))
    except SpecError:
        assume(False)
    assert_permuted_as_in_the_interpreter(declared, [data.draw(values(declared)) for _ in range(3)])


@pytest.mark.parametrize("value", [BoolType(), PATH])
def test_the_keys_in_use_are_those_of_the_map_that_is_named(value: Type) -> None:
    spawned: Any = ident_class("Id", ("1", "2", "3"), symmetric=True, spawned=True, started="used")
    keys = MapType(IdentType(spawned), value, False)
    state_class = record_class({"before": IntType(0, 2), "used": keys, "behind": IntType(0, 1)})
    subject: Any = SimpleNamespace(state_class=state_class, row=row_layout(state_class))
    body = (Return(keys_in_use(subject, spawned)),)
    kernel = emit_python(Module((Function("used", (ROW,), (), body, frozenset({ROW})),)))
    item = False if isinstance(value, BoolType) else seq_literal([])
    for count in range(4):
        for chosen in combinations(spawned.members, count):
            row = encode_row(state_class(before=2, used=map_literal((m, item) for m in chosen), behind=1))
            assert kernel.call("used", [(row, 0)]) == sum(1 << member.index for member in chosen)
