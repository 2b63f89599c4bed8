"""Where values come from when ways meet: parameters given new values, and code that nothing reaches."""

from __future__ import annotations

import pytest
from support.kernels.load_module import compile_module

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Bin, Block, Break, Const, Function, If, Let, Loop, Module, Return, Stmt, Var

X, Y = Var("x"), Var("y")
ONE = Const(1)


def results(body: tuple[Stmt, ...], arguments: tuple[int, int]) -> list[int]:
    """What a body gives as machine code and as Python."""
    module = Module((Function("main", (), ("x", "y"), body),))
    return [compile_module(module).call("main", [], arguments), emit_python(module).call("main", [], arguments)]


@pytest.mark.parametrize(("x", "expected"), [(0, 20), (1, 1)])
def test_a_parameter_keeps_its_value_where_a_branch_was_not_taken(x: int, expected: int) -> None:
    assert results((If(X, (Let("y", ONE),)), Return(Y)), (x, 20)) == [expected, expected]


def test_a_parameter_counts_down_in_a_loop() -> None:
    body = (If(Bin("eq", Y, Const(3)), (Break("l"),)), Let("y", Bin("sub", Y, ONE)))
    assert results((Loop("l", body), Return(Y)), (0, 20)) == [3, 3]


def test_a_variable_of_a_loop_keeps_its_last_value() -> None:
    body = (Let("last", Y), Let("y", Bin("sub", Y, ONE)), If(Bin("eq", Y, Const(3)), (Break("l"),)))
    assert results((Loop("l", body), Return(Var("last"))), (0, 20)) == [4, 4]


def test_a_value_survives_a_later_change_of_what_it_was_made_of() -> None:
    assert results((Let("copy", Y), Let("y", ONE), Return(Var("copy"))), (0, 20)) == [20, 20]


def test_a_break_of_an_outer_block_is_forgotten_after_that_block() -> None:
    far = Block("a", (Block("b", (If(X, (Break("a"),)),)), Let("y", ONE)))
    later = Block("c", (Block("d", (If(Const(0), (Break("c"),)),)), Let("y", Const(7))))
    assert results((far, later, Return(Y)), (1, 20)) == [7, 7]


UNREACHED: dict[str, tuple[Stmt, ...]] = {
    "after a return": (Return(X),),
    "after two branches that return": (If(Y, (Return(X),), (Return(X),)),),
    "after a block that returns": (Block("b", (Return(X),)),),
    "after a block whose inner block returns": (Block("a", (Block("b", (Return(X),)), Break("a"))),),
    "after a loop that only returns": (Loop("l", (Return(X),)),),
    "after a loop with a block that is left": (Loop("l", (Block("b", (If(Y, (Break("b"),)),)), Return(X))),),
}


@pytest.mark.parametrize("name", UNREACHED)
def test_code_that_nothing_reaches_may_read_what_has_no_value(name: str) -> None:
    assert results((*UNREACHED[name], Return(Var("unset"))), (5, 1)) == [5, 5]
