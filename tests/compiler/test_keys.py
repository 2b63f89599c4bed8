"""Numbers of keys and members: compiled code gives a value the number of its place among the members of its type."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from support.drawing.values import Base, Father, Mother, Role, Server, Slip, Value, record_class

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Const, Function, Load, Module, Return, Store, Var
from kmc.compiler.values.code import Code
from kmc.compiler.values.keys import key_code, key_value
from kmc.compiler.values.packing import value_words
from kmc.compiler.values.value import Num, Packed
from kmc.lang.domains import members
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.runtime.codec import value_words as words_of
from kmc.runtime.state_layout import layout_of

VALUE, ROLE, PAIR = IdentType(Value), EnumType(Role), PairType(IdentType(Server))
KEYS: dict[str, Type] = {
    "numbers": IntType(-2, 3),
    "pairs": PAIR,
    "scalars or none": UnionType((VALUE, IntType(0, 1), ROLE), True),
    "sets": SetType(PAIR),
    "sets of sets": SetType(SetType(VALUE)),
    "records": RecordType(Slip),
    "records of two shapes": RecordType(Base),
    "records of two classes and of one that derives from both": UnionType(
        (RecordType(Mother), RecordType(Father)), True
    ),
    "records in records": RecordType(record_class({"base": RecordType(Base), "only": IntType(4, 4), "role": ROLE})),
    "records or sets or none": UnionType((RecordType(Slip), SetType(VALUE), BoolType()), True),
    "sequences": SeqType(UnionType((VALUE,), True), 3),
    "sequences of one value": SeqType(IntType(1, 1), 5),
    "partial maps": MapType(ROLE, BoolType(), False),
    "maps": MapType(VALUE, IntType(0, 4), True),
    "sets of sequences": SetType(SeqType(BoolType(), 1)),
}


@pytest.mark.parametrize("title", KEYS)
def test_compiled_code_numbers_values_as_they_are_listed(title: str) -> None:
    declared = KEYS[title]
    module = numbering(declared)
    for number, value in enumerate(members(declared)):
        words = words_of(value, declared)
        assert module.call("number", [(words, 0)], []) == number, value
        out = [7] * len(words)
        module.call("value", [(out, 0)], [number])
        assert out == words, value
        assert constant_words(declared, number) == words


def test_a_constant_key_of_another_domain_has_the_number_0_behind_a_check_that_fails() -> None:
    numbers: Type = IntType(0, 3)
    none = Packed(UnionType((ROLE,), True), (Const(0),))
    keys: list[tuple[Any, Type]] = [(none, ROLE), (Num(Const(-1), -1, -1), numbers), (Num(Const(4), 4, 4), numbers)]
    for key, declared in keys:
        code = Code("number")
        assert key_code(code, key, declared, ast.parse("m[k]").body[0]) == Const(0)
        assert len(code.checks) == 1


def numbering(declared: Type) -> Any:
    """The kernels `number(words)` and `value(words, number)` of a type."""
    one = Code("number")
    words = tuple(Load("words", Const(k)) for k in range(layout_of(declared).words))
    one.emit(Return(key_code(one, Packed(declared, words), declared, ast.Pass())))
    other = Code("value")
    for place, word in enumerate(value_words(key_value(declared, Var("number")))):
        other.emit(Store("out", Const(place), word))
    other.emit(Return(Const(0)))
    functions = (
        Function("number", ("words",), (), one.statements(), frozenset({"words"})),
        Function("value", ("out",), ("number",), other.statements(), frozenset()),
    )
    return emit_python(Module(functions))


def constant_words(declared: Type, number: int) -> list[int]:
    """The words of the value of a constant number, which are constants."""
    words = value_words(key_value(declared, Const(number)))
    return [word.value % (1 << 64) for word in words if isinstance(word, Const)]
