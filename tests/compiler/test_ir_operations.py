"""Each operation of the IR at the values where it changes its behaviour, against arithmetic on plain integers."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import product

import pytest
from support.drawing.ir_programs import EDGES, binary, expression_module
from support.kernels.load_module import compile_module

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import (
    COPY_STEP,
    LANES,
    Bin,
    BinaryOp,
    CallKernel,
    Const,
    Copy,
    Expr,
    Function,
    Intrinsic,
    Let,
    Matches,
    Module,
    Return,
    Select,
    Var,
)

WORD = 1 << 64
X, Y = Var("x"), Var("y")
PAIRS = list(product(EDGES, EDGES))


def signed(word: int) -> int:
    """A word as a number from -2**63 on."""
    return word - WORD if word >= WORD // 2 else word


MEANING: dict[BinaryOp, Callable[[int, int], int]] = {
    "add": lambda x, y: (x + y) % WORD,
    "sub": lambda x, y: (x - y) % WORD,
    "mul": lambda x, y: (x * y) % WORD,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: x * 2 ** (y % 64) % WORD,
    "lshr": lambda x, y: x // 2 ** (y % 64),
    "eq": lambda x, y: 1 if x == y else 0,
    "ne": lambda x, y: 1 if x != y else 0,
    "slt": lambda x, y: 1 if signed(x) < signed(y) else 0,
    "sle": lambda x, y: 1 if signed(x) <= signed(y) else 0,
    "ult": lambda x, y: 1 if x < y else 0,
    "udiv": lambda x, y: x if y == 0 else x // y,
    "urem": lambda x, y: 0 if y == 0 else x % y,
}


def both(expr: Expr, arguments: tuple[int, int]) -> tuple[int, int]:
    """The value of an expression as machine code and as Python."""
    module = expression_module(expr)
    return compile_module(module).call("main", [], arguments), emit_python(module).call("main", [], arguments)


@pytest.mark.parametrize("op", MEANING)
def test_machine_code_computes_the_operation(op: BinaryOp) -> None:
    native = compile_module(expression_module(Bin(op, X, Y)))
    assert [native.call("main", [], pair) for pair in PAIRS] == [MEANING[op](*pair) for pair in PAIRS]


@pytest.mark.parametrize("op", MEANING)
def test_python_computes_the_operation(op: BinaryOp) -> None:
    python = emit_python(expression_module(Bin(op, X, Y)))
    assert [python.call("main", [], pair) for pair in PAIRS] == [MEANING[op](*pair) for pair in PAIRS]


@pytest.mark.parametrize("op", MEANING)
def test_a_constant_operand_changes_nothing(op: BinaryOp) -> None:
    folded = [binary(op, X, Const(edge)) for edge in EDGES]
    functions = tuple(Function(f"f{number}", (), ("x",), (Return(expr),)) for number, expr in enumerate(folded))
    native = compile_module(Module(functions))
    rights = [expr.right.value if isinstance(expr.right, Const) else 0 for expr in folded]
    computed = [native.call(f"f{number}", [], (x,)) for number in range(len(folded)) for x in EDGES]
    assert computed == [MEANING[op](x, right) for right in rights for x in EDGES]


@pytest.mark.parametrize("op", ["shl", "lshr"])
def test_a_shift_by_a_variable_that_is_always_64_is_none(op: BinaryOp) -> None:
    module = Module((Function("main", (), ("x", "y"), (Let("n", Const(64)), Return(Bin(op, X, Var("n"))))),))
    assert compile_module(module).call("main", [], (5, 0)) == emit_python(module).call("main", [], (5, 0)) == 5


@pytest.mark.parametrize("op", ["shl", "lshr"])
def test_a_shift_that_is_64_only_after_inlining_is_none(op: BinaryOp) -> None:
    # LLVM folds a constant shift by 64 to anything, whatever the machine would do.
    shift = Function("shift", (), ("x", "y"), (Return(Bin(op, X, Y)),), inline=True)
    main = Function("main", (), ("x",), (CallKernel("z", "shift", (), (X, Const(64))), Return(Var("z"))))
    assert compile_module(Module((shift, main))).call("main", [], (5,)) == 5


@pytest.mark.parametrize(("op", "expected"), [("udiv", 5), ("urem", 0)])
def test_division_by_a_variable_that_is_always_0_stops_no_process(op: BinaryOp, expected: int) -> None:
    module = Module((Function("main", (), ("x", "y"), (Let("n", Const(0)), Return(Bin(op, X, Var("n"))))),))
    assert compile_module(module).call("main", [], (5, 0)) == emit_python(module).call("main", [], (5, 0)) == expected


@pytest.mark.parametrize("condition", [0, 1, 2, 1 << 63])
def test_select_takes_any_condition_but_0(condition: int) -> None:
    expected = 8 if condition == 0 else 7
    assert both(Select(X, Const(7), Const(8)), (condition, 0)) == (expected, expected)


@pytest.mark.parametrize("word", EDGES)
def test_popcount_counts_ones(word: int) -> None:
    expected = f"{word:b}".count("1")
    assert both(Intrinsic("popcount", (X,)), (word, 0)) == (expected, expected)


@pytest.mark.parametrize("word", EDGES)
def test_cttz_counts_the_zeros_below_the_lowest_one(word: int) -> None:
    expected = next((bit for bit in range(64) if word >> bit & 1), 64)
    assert both(Intrinsic("cttz", (X,)), (word, 0)) == (expected, expected)


def test_cttz_of_the_constant_0_is_64() -> None:
    assert both(Intrinsic("cttz", (Const(0),)), (0, 0)) == (64, 64)


@pytest.mark.parametrize(("lane", "lanes"), [(lane, lanes) for lanes in (8, 16, 32) for lane in {0, 1, 7, lanes - 1}])
@pytest.mark.parametrize("mask", [-1, 0xFF00, 1 << 63])
def test_matches_looks_at_each_of_its_words(lane: int, lanes: int, mask: int) -> None:
    words = [0] * (lanes + 3)
    words[lane + 2], words[1], words[lanes + 2] = mask % WORD | 5, mask % WORD | 5, mask % WORD | 5
    found_by = Matches("p", Const(2), Const(mask), Bin("and", X, Const(mask)), lanes)
    main = Function("main", ("p",), ("x",), (Return(found_by),))
    found = compile_module(Module((main,))).call("main", [(array("Q", words), 0)], [mask | 5])
    assert found == emit_python(Module((main,))).call("main", [(words, 0)], [mask | 5]) == 1 << lane


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 17])
def test_a_copy_moves_whole_steps(count: int) -> None:
    body = (Copy("q", Const(1), "p", Const(2), X),)
    module = Module((Function("main", ("p", "q"), ("x",), body, frozenset({"p"})),))
    source, moved = list(range(100, 140)), -(-count // COPY_STEP) * COPY_STEP
    native, python = array("Q", [7] * 30), [7] * 30
    compile_module(module).call("main", [(array("Q", source), 0), (native, 0)], [count])
    emit_python(module).call("main", [(source, 0), (python, 0)], [count])
    assert native.tolist() == python == [7, *source[2 : 2 + moved], *[7] * (29 - moved)]


def test_behind_the_memory_python_finds_zeros_and_writes_nothing() -> None:
    body = (Copy("q", Const(1), "p", Const(1), X), Return(Matches("q", Const(0), Const(-1), Const(0))))
    module = Module((Function("main", ("p", "q"), ("x",), body, frozenset({"p"})),))
    target = [1, 1, 1]
    assert emit_python(module).call("main", [([9, 0, 8], 0), (target, 0)], [2]) == (1 << LANES) - 1 - 0b101
    assert target == [1, 0, 8]


@pytest.mark.parametrize("value", [-1, -(1 << 63), 1 << 64, (1 << 64) + 5, 3 << 70 | 9])
def test_constants_are_taken_modulo_the_word(value: int) -> None:
    assert both(Const(value), (0, 0)) == (value % WORD, value % WORD)


def test_booleans_may_be_combined_with_words() -> None:
    mixed = Bin("add", Bin("and", Bin("ult", X, Y), X), Bin("xor", Bin("eq", X, Y), Const(1)))
    assert both(mixed, (3, 9)) == (2, 2)


@pytest.mark.parametrize("op", ["and", "or", "xor"])
@pytest.mark.parametrize("constant", [0, 1, 2])
def test_booleans_may_be_combined_with_constants(op: BinaryOp, constant: int) -> None:
    expected = [MEANING[op](truth, constant) for truth in (0, 1)]
    combined = Bin(op, Bin("ult", X, Y), Const(constant))
    assert [both(combined, pair) for pair in ((9, 3), (3, 9))] == [(value, value) for value in expected]


def test_a_function_that_falls_off_its_end_gives_0() -> None:
    module = Module((Function("main", (), ("x", "y"), (Let("z", X),)),))
    assert compile_module(module).call("main", [], (5, 6)) == emit_python(module).call("main", [], (5, 6)) == 0
