"""Building an expression keeps its meaning: constants fold to what code computes, and neutral operands vanish."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from support.drawing.ir_programs import EDGES, expression_module

from kmc.compiler.ir import build
from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import LANES, Bin, BinaryOp, Const, Expr, Select, Var

WORD = 1 << 64
X, Y = Var("x"), Var("y")
OPERATIONS: tuple[BinaryOp, ...] = get_args(BinaryOp)


def signed(word: int) -> int:
    """The lowest 64 bits of a number, as a number from -2**63 on."""
    return (word + WORD // 2) % WORD - WORD // 2


VALUES = sorted({signed(edge) for edge in (*EDGES, 0, 1, 2, 3, 63, 64, 65, -1, -2)})

NEUTRAL: list[tuple[BinaryOp, Expr, Expr, Expr]] = [
    *((op, X, Const(0), X) for op in ("add", "sub", "or", "xor", "shl", "lshr")),
    *((op, Const(0), X, X) for op in ("add", "or", "xor")),
    *((op, left, right, Const(0)) for op in ("mul", "and") for left, right in ((X, Const(0)), (Const(0), X))),
    ("mul", X, Const(1), X),
    ("mul", Const(1), X, X),
    ("udiv", X, Const(1), X),
    ("and", X, Const(-1), X),
    *((op, X, X, Const(1)) for op in ("eq", "sle")),
    *((op, X, X, Const(0)) for op in ("ne", "slt", "ult")),
]
"""An operation, its operands, and what it is built as."""


def value_of(expr: Expr, x: int, y: int = 0) -> int:
    """What code computes."""
    return signed(emit_python(expression_module(expr)).call("main", [], [x % WORD, y % WORD]))


@pytest.mark.parametrize("value", [0, 1, -1, WORD // 2 - 1, WORD // 2, -WORD // 2, WORD - 1, WORD, 3 * WORD + 5])
def test_a_word_is_read_as_a_number_with_a_sign(value: int) -> None:
    assert build.signed(value) == signed(value)


@pytest.mark.parametrize("op", OPERATIONS)
def test_constants_fold_to_what_code_computes(op: BinaryOp) -> None:
    code = emit_python(expression_module(Bin(op, X, Y)))
    for left, right in product(VALUES, VALUES):
        computed = signed(code.call("main", [], [left % WORD, right % WORD]))
        assert build.binary(op, Const(left), Const(right)) == Const(computed), (left, right)


@pytest.mark.parametrize(("op", "left", "right", "built"), NEUTRAL)
def test_a_neutral_operand_vanishes(op: BinaryOp, left: Expr, right: Expr, built: Expr) -> None:
    assert build.binary(op, left, right) == built


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation_on_a_variable_keeps_its_meaning(op: BinaryOp) -> None:
    consts = [Const(value) for value in VALUES]
    sides: list[tuple[Expr, Expr]] = [(X, X), *((X, const) for const in consts), *((const, X) for const in consts)]
    for left, right in sides:
        built, plain = build.binary(op, left, right), Bin(op, left, right)
        if built != plain:
            for x in VALUES:
                assert value_of(built, x) == value_of(plain, x), (left, right, x)


TRUTHS: tuple[Const | Var, ...] = (Const(0), Const(1), X)


@pytest.mark.parametrize("left", TRUTHS, ids=str)
@pytest.mark.parametrize("right", TRUTHS, ids=str)
@pytest.mark.parametrize("x", [0, 1])
def test_truths_combine(left: Const | Var, right: Const | Var, x: int) -> None:
    a, b = (part.value if isinstance(part, Const) else x for part in (left, right))
    assert value_of(build.both(left, right), x) == min(a, b)
    assert value_of(build.either(left, right), x) == max(a, b)
    assert value_of(build.negate(left), x) == 1 - a
    assert value_of(build.select(left, right, Const(7)), x) == (b if a else 7)


def test_a_selection_of_alike_values_is_the_value() -> None:
    assert build.select(X, Y, Y) == Y
    assert build.select(X, Y, Const(2)) == Select(X, Y, Const(2))


@pytest.mark.parametrize("bits", [0, 1, 5, 63, 64])
@pytest.mark.parametrize("bit", [0, 1, 7, 59, 63])
@pytest.mark.parametrize("fixed", [True, False])
def test_parts_of_words_are_read_and_replaced(bit: int, bits: int, fixed: bool) -> None:
    if bit + bits > 64:
        return
    at: Expr | int = bit if fixed else Y
    mask = (1 << bits) - 1
    for word in VALUES:
        assert value_of(build.extract(X, at, bits), word, bit) == signed(word >> bit & mask)
        replaced = word & ~(mask << bit) | (mask & 0b10110) << bit
        assert value_of(build.replace(X, at, bits, Const(mask & 0b10110)), word, bit) == signed(replaced)
    assert build.low_mask(bits) == Const(signed(mask))
    assert build.place_at(Const(3), bit) == Const(signed(3 << bit))


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES])
def test_lanes_below_a_count_are_a_mask_of_so_many(count: int) -> None:
    for lanes in (LANES // 2, LANES):
        assert value_of(build.lanes_below(X, lanes), count) == (1 << min(count, lanes)) - 1
        assert build.lanes_below(Const(count), lanes) == Const((1 << min(count, lanes)) - 1)
