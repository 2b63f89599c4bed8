"""The verifier finds each planted mistake of a module, names it, and lets correct modules pass."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from support.drawing.ir_programs import modules

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
    Stmt,
    Store,
    Var,
)
from kmc.compiler.ir.verify import verify
from kmc.errors import InternalError

ONE, X, Z = Const(1), Var("x"), Var("z")
LET_Z = Let("z", ONE)
READ_Z = Return(Z)
STORE = Function("store", ("p",), (), (Store("p", ONE, ONE),))
READ = Function("read", ("p",), (), (Return(Load("p", ONE)),), frozenset({"p"}))
COPY = Function("copy", ("from", "to"), (), (Store("to", ONE, Load("from", ONE)),), frozenset({"from"}))


def main(*body: Stmt) -> Function:
    """A function of a readonly pointer, a pointer and an integer."""
    return Function("main", ("row", "out"), ("x",), body, frozenset({"row"}))


def code_of(*functions: Function) -> str:
    """The code of the error that the verifier raises for these functions."""
    with pytest.raises(InternalError) as raised:
        verify(Module(functions))
    return raised.value.code


def call(function: str, *pointers: tuple[str, Expr], arguments: tuple[Expr, ...] = ()) -> CallKernel:
    """A call whose result goes to z."""
    return CallKernel("z", function, pointers, arguments)


UNASSIGNED: dict[str, tuple[Stmt, ...]] = {
    "never": (READ_Z,),
    "only in one branch": (If(X, (LET_Z,)), READ_Z),
    "only in the other branch": (If(X, (Comment(""),), (LET_Z,)), READ_Z),
    "after a break of the block": (Block("b", (If(X, (Break("b"),)), LET_Z)), READ_Z),
    "after a break of an outer block": (Block("a", (Block("b", (If(X, (Break("a"),)),)), LET_Z)), READ_Z),
    "after a break of the loop": (Loop("l", (If(X, (Break("l"),)), LET_Z)), READ_Z),
    "later in the loop": (Loop("l", (If(X, (Return(Z),)), LET_Z)),),
    "in its own value": (Let("z", Bin("add", Z, ONE)),),
    "in an index": (Let("y", Load("row", Z)),),
    "in a stored value": (Store("out", ONE, Z),),
    "in the index of a store": (Store("out", Z, ONE),),
    "in a condition": (If(Z, ()),),
    "in one side of a select": (Return(Select(X, ONE, Z)),),
    "in a hash": (Return(Intrinsic("mix", (X, Z))),),
    "in a comparison of many words": (Return(Matches("row", ONE, ONE, Z)),),
    "in the extent of a copy": (Copy("out", ONE, "row", ONE, Z),),
    "in an argument": (call("read", ("row", Z)),),
    "a pointer read as a variable": (Return(Var("row")),),
}


@pytest.mark.parametrize("name", UNASSIGNED)
def test_a_read_before_a_value_is_found(name: str) -> None:
    assert code_of(READ, main(*UNASSIGNED[name])) == "KMC911"


WRONG: dict[str, tuple[str, tuple[Stmt, ...]]] = {
    "a break without its block": ("KMC912", (Break("b"),)),
    "a break of a block that has ended": ("KMC912", (Block("b", ()), Break("b"))),
    "a label used twice around one place": ("KMC912", (Block("b", (Block("b", (Break("b"),)),)),)),
    "a load from no pointer": ("KMC913", (Return(Load("x", ONE)),)),
    "a store to no pointer": ("KMC913", (Store("nowhere", ONE, ONE),)),
    "a store to a readonly pointer": ("KMC913", (Store("row", ONE, ONE),)),
    "a comparison of words of no pointer": ("KMC913", (Return(Matches("x", ONE, ONE, ONE)),)),
    "a copy to a readonly pointer": ("KMC913", (Copy("row", ONE, "row", ONE, ONE),)),
    "a copy from words that are written": ("KMC913", (Copy("out", ONE, "out", ONE, ONE),)),
    "a copy from no pointer": ("KMC913", (Copy("out", ONE, "x", ONE, ONE),)),
    "an operation that does not exist": ("KMC914", (Return(Bin(cast(Any, "xnor"), X, ONE)),)),
    "a shift by 64": ("KMC914", (Return(Bin("shl", X, Const(64))),)),
    "a shift by less than 0": ("KMC914", (Return(Bin("lshr", X, Const(-1))),)),
    "a division by 0": ("KMC914", (Return(Bin("udiv", X, Const(0))),)),
    "a remainder by 2**64": ("KMC914", (Return(Bin("urem", X, Const(1 << 64))),)),
    "a constant that is a truth value": ("KMC914", (Return(Const(True)),)),
    "a hash without salt": ("KMC914", (Return(Intrinsic("mix", (X,))),)),
    "an intrinsic that does not exist": ("KMC914", (Return(Intrinsic(cast(Any, "sqrt"), (X,))),)),
    "a call of nothing": ("KMC915", (call("absent"),)),
    "a call with a pointer too few": ("KMC915", (call("copy", ("row", ONE)),)),
    "a call with an argument too many": ("KMC915", (call("read", ("row", ONE), arguments=(X,)),)),
    "a call with no pointer": ("KMC913", (call("read", ("nowhere", ONE)),)),
    "a readonly pointer that a callee may write": ("KMC915", (call("store", ("row", ONE)),)),
    "one place read and written by a callee": ("KMC915", (call("copy", ("out", X), ("out", X)),)),
    "a call of itself": ("KMC915", (call("main", ("row", Const(0)), ("out", Const(0)), arguments=(X,)),)),
    "a value for a pointer": ("KMC916", (Let("out", ONE),)),
    "a result for a pointer": ("KMC916", (CallKernel("out", "read", (("row", ONE),), ()),)),
    "a name that is none": ("KMC916", (Let("a b", ONE),)),
    "a name beyond ASCII": ("KMC916", (Let("größe", ONE),)),
    "a label that is not a name": ("KMC916", (Block("b-1", ()),)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_mistake_is_found(name: str) -> None:
    code, body = WRONG[name]
    assert code_of(STORE, READ, COPY, main(*body)) == code


@pytest.mark.parametrize(
    ("code", "functions"),
    [
        ("KMC916", (READ, READ)),
        ("KMC916", (Function("f", ("p",), ("p",), ()),)),
        ("KMC916", (Function("f", (), ("x", "x"), ()),)),
        ("KMC916", (Function("f g", (), (), ()),)),
        ("KMC913", (Function("f", ("p",), (), (), frozenset({"q"})),)),
        (
            "KMC915",
            (
                Function("f", (), (), (CallKernel("z", "g", (), ()),)),
                Function("g", (), (), (CallKernel("z", "f", (), ()),)),
            ),
        ),
    ],
    ids=["two functions", "pointer and integer", "two integers", "function name", "readonly", "recursion"],
)
def test_a_mistake_of_a_head_is_found(code: str, functions: tuple[Function, ...]) -> None:
    assert code_of(*functions) == code


def test_the_error_quotes_function_and_statement() -> None:
    with pytest.raises(InternalError) as raised:
        verify(Module((main(Block("b", (Let("y", Bin("add", Z, ONE)),))),)))
    assert (raised.value.message, raised.value.notes) == (
        "in function 'main': variable 'z' may be read before it has a value",
        ("y = z + 1",),
    )


CORRECT: dict[str, tuple[Stmt, ...]] = {
    "a value in both branches": (If(X, (LET_Z,), (LET_Z,)), READ_Z),
    "a branch without value returns": (If(X, (LET_Z,), (Return(ONE),)), READ_Z),
    "a branch without value leaves the block": (Block("b", (If(X, (Break("b"),)), LET_Z, READ_Z)),),
    "a value before each break of a loop": (Loop("l", (LET_Z, If(X, (Break("l"),)))), READ_Z),
    "what cannot run is not judged": (Return(ONE), READ_Z),
    "what follows an endless loop is not judged": (Loop("l", ()), READ_Z),
    "a label used twice in a row": (Block("b", (Break("b"),)), Block("b", (Break("b"),))),
    "a shift by 63": (Return(Bin("shl", X, Const(63))),),
    "different places of one pointer": (call("copy", ("out", X), ("out", ONE)), READ_Z),
    "a copy from readonly words": (Copy("out", ONE, "row", ONE, X),),
    "the result of a call": (call("read", ("row", ONE)), READ_Z),
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_body_passes(name: str) -> None:
    verify(Module((READ, COPY, main(*CORRECT[name]))))


@pytest.mark.slow
@settings(max_examples=50)
@given(modules())
def test_random_modules_pass(module: Module) -> None:
    verify(module)
