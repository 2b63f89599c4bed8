"""Kernels as Python: nesting beyond Python's own limits, strictness, and source that debuggers can show."""

from __future__ import annotations

import traceback

import pytest
from support.drawing.ir_programs import expression_module
from support.kernels.load_module import compile_module

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    Break,
    Const,
    Expr,
    Function,
    If,
    Let,
    Load,
    Loop,
    Module,
    Return,
    Select,
    Stmt,
    Store,
    Var,
)

X, N = Var("x"), Var("n")
DEEP = 70


def module_of(*body: Stmt) -> Module:
    """A module with one function of a pointer and an integer."""
    return Module((Function("main", ("p",), ("x",), body),))


def counted(name: str) -> Let:
    """One more in a variable."""
    return Let(name, Bin("add", Var(name), Const(1)))


def nest_of_blocks(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """`inner` in DEEP blocks b0..b69; after each of them, n counts the block."""
    body = inner
    for level in reversed(range(DEEP)):
        body = (Block(f"b{level}", body), counted("n"))
    return (Let("n", Const(0)), *body, Return(N))


@pytest.mark.parametrize("level", [0, 1, 10, 11, 12, 13, 35, 68, 69])
def test_a_break_leaves_any_of_many_blocks(level: int) -> None:
    # Python takes 20 nested loops; those of blocks that were left are not counted.
    body = nest_of_blocks((If(X, (Break(f"b{level}"),)), counted("n")))
    assert emit_python(module_of(*body)).call("main", [([], 0)], [1]) == level + 1


@pytest.mark.parametrize("x", [0, 1])
def test_machine_code_and_python_agree_on_many_blocks(x: int) -> None:
    module = module_of(*nest_of_blocks((If(X, (Break("b33"),)), Store("p", Const(0), N))))
    words = [7]
    python = emit_python(module).call("main", [(words, 0)], [x])
    assert python == compile_module(module).call("main", [(bytearray(8), 0)], [x])


def test_a_return_leaves_many_branches() -> None:
    body: tuple[Stmt, ...] = (Return(X),)
    for _ in range(2 * DEEP):
        body = (If(X, body, (Store("p", Const(0), Const(9)),)),)
    assert emit_python(module_of(*body, Return(Const(0)))).call("main", [([1], 0)], [5]) == 5


def test_variables_keep_their_values_out_of_many_branches() -> None:
    body: tuple[Stmt, ...] = (Let("n", Bin("mul", N, Const(3))), Let("z", Bin("add", N, Const(1))))
    for _ in range(2 * DEEP):
        body = (If(X, body),)
    opening, end = (Let("n", X), Let("z", X)), Return(Bin("add", N, Var("z")))
    assert emit_python(module_of(*opening, *body, end)).call("main", [([], 0)], [5]) == 31


def test_a_break_leaves_many_loops_again_and_again() -> None:
    body: tuple[Stmt, ...] = (Break("outer"),)
    for level in range(DEEP):
        body = (Loop(f"l{level}", body),)
    again = Loop("all", (If(Bin("sle", Const(3), N), (Break("all"),)), Loop("outer", body), counted("n")))
    assert emit_python(module_of(Let("n", Const(0)), again, Return(N))).call("main", [([], 0)], [0]) == 3


def test_a_deep_expression_is_evaluated() -> None:
    expr: Expr = X
    for level in range(70):
        expr = Bin("xor", Const(level), Bin("add", Const(level), expr))
    module = expression_module(expr)
    assert emit_python(module).call("main", [], (9, 0)) == compile_module(module).call("main", [], (9, 0))


def test_a_deep_condition_is_evaluated_where_it_stands() -> None:
    deep: Expr = Load("p", Const(0))
    for _ in range(80):
        deep = Bin("add", deep, Const(1))
    module = module_of(Store("p", Const(0), X), If(Bin("eq", deep, Const(81)), (Return(Const(1)),)))
    assert emit_python(module).call("main", [([0], 0)], [1]) == 1


@pytest.mark.parametrize("index", [Const(2), Const(-1), X])
def test_a_word_outside_the_memory_is_an_error(index: Expr) -> None:
    with pytest.raises(IndexError):
        emit_python(module_of(Return(Load("p", index)))).call("main", [([1, 2], 0)], [1 << 63])


def test_both_sides_of_a_select_are_evaluated() -> None:
    unsafe = Select(X, Const(1), Load("p", Const(5)))
    with pytest.raises(IndexError):
        emit_python(module_of(Return(unsafe))).call("main", [([1, 2], 0)], [1])


def test_pointers_have_offsets() -> None:
    words = [1, 2, 3, 4]
    emit_python(module_of(Store("p", Const(1), X))).call("main", [(words, 2)], [9])
    assert words == [1, 2, 3, 9]


def test_a_traceback_shows_the_line() -> None:
    module = emit_python(module_of(Let("y", Load("p", X)), Return(Var("y"))))
    with pytest.raises(IndexError) as raised:
        module.call("main", [([], 0)], [3])
    assert traceback.extract_tb(raised.value.__traceback__)[-1].line == "v_y = m_p[o_p + v_x & M]"
