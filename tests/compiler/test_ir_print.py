"""The printed form of the IR, line by line."""

from __future__ import annotations

import textwrap

import pytest

from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    Break,
    CallKernel,
    Comment,
    Const,
    Copy,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Matches,
    Module,
    Return,
    Select,
    Store,
    Var,
)
from kmc.compiler.ir.print import print_expr, print_module

X, Y = Var("x"), Var("y")

KERNEL = Function(
    "expand",
    ("row", "out"),
    ("n",),
    (
        Comment("actions.py:12\nBecomeLeader"),
        Let("x", Bin("and", Bin("lshr", Load("row", Const(3)), Const(10)), Const(0xFFFFF))),
        Block(
            "guard",
            (
                If(Bin("eq", X, Const(0)), (Break("guard"),), (If(Var("n"), (Return(X),), (Store("out", X, X),)),)),
                CallKernel("y", "hash", (("out", Const(0)), ("row", Bin("mul", X, Const(2)))), (X, Const(-1))),
            ),
        ),
        Loop("each", (If(X, ()), Break("each"))),
        Copy("out", Const(4), "row", X, Bin("add", X, Const(1))),
        Return(Select(Bin("ult", X, Var("n")), X, Const(1 << 63))),
    ),
    frozenset({"row"}),
)

TEXT = """\
def expand(row: readonly, out: words, n):
    # actions.py:12
    # BecomeLeader
    x = (row[3] >> 10) & 0xfffff
    block guard:
        if x == 0:
            break guard
        elif n:
            return x
        else:
            out[x] = x
        y = hash(out, &row[x * 2], x, -1)
    loop each:
        if x:
            pass
        break each
    copy(&out[4], &row[x], x + 1)
    return x if (x <u n) else 0x8000000000000000
"""


def test_a_function_prints_as_one_line_per_statement() -> None:
    assert print_module(Module((KERNEL,))) == TEXT


def test_comments_can_be_left_out() -> None:
    assert print_module(Module((KERNEL,)), comments=False) == "".join(
        line for line in TEXT.splitlines(keepends=True) if "#" not in line
    )


def test_an_inline_function_says_so_and_an_empty_body_passes() -> None:
    module = Module((Function("f", (), (), (Comment("nothing"),), inline=True), Function("g", (), (), ())))
    assert print_module(module, comments=False) == textwrap.dedent("""\
        inline def f():
            pass

        def g():
            pass
        """)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Bin("add", Bin("mul", X, Y), Const(-7)), "((x * y) + -7)"),
        (Bin("sle", X, Bin("udiv", X, Y)), "(x <= (x /u y))"),
        (Bin("slt", X, Bin("urem", X, Y)), "(x < (x %u y))"),
        (Intrinsic("mix", (Bin("xor", X, Y), Const(1 << 20))), "mix(x ^ y, 0x100000)"),
        (Matches("row", Bin("add", X, Const(5)), Const(0xFF), Y), "matches(&row[x + 5], 255, y, 32)"),
        (Const((1 << 64) - 1), "-1"),
        (Const(-(1 << 40)), "0xffffff0000000000"),
    ],
)
def test_expressions_print_as_they_nest(expr: Expr, text: str) -> None:
    assert print_expr(expr) == text
