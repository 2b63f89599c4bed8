"""A walk over the IR meets every statement and every part of an expression once, each before what it holds."""

from __future__ import annotations

from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    Break,
    CallKernel,
    Const,
    Expr,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Matches,
    Return,
    Select,
    Stmt,
    Var,
)
from kmc.compiler.ir.walk import assigned, calls, expressions, statements

A, B, C = (Var(name) for name in "abc")


def test_an_expression_is_met_with_all_its_parts() -> None:
    mix, matches = Intrinsic("mix", (A, Const(7))), Matches("p", B, Const(1), C)
    load = Load("p", mix)
    chosen = Select(Var("d"), load, matches)
    whole: Expr = Bin("add", chosen, Var("e"))
    inner = [Var("d"), load, mix, A, Const(7), matches, B, Const(1), C]
    assert expressions(whole) == [whole, chosen, *inner, Var("e")]


def test_a_statement_is_met_with_all_that_it_holds() -> None:
    first, second, third = (Let(name, Const(1)) for name in ("x", "y", "x"))
    call, leave = CallKernel("z", "f", (("p", Const(0)),), (A,)), Break("done")
    branches = If(A, (first, call), (second,))
    loop = Loop("again", (branches, leave))
    block = Block("done", (loop, third))
    body: list[Stmt] = [block, Return(A)]
    assert statements(body) == [block, loop, branches, first, call, second, leave, third, Return(A)]
    assert list(assigned(body)) == ["x", "z", "y", "x"]
    assert list(calls(body)) == [call]
