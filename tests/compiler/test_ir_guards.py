"""Guards asked before loops change no result, and are asked before them where that is possible."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.specs.small import model_of

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
    Stmt,
    Store,
    Var,
)
from kmc.compiler.ir.walk import statements
from kmc.compiler.model_kernels import build_kernels
from kmc.compiler.passes.hoist_guards import hoisted

OUTER, INNER, X, Y, T = Var("i"), Var("j"), Var("x"), Var("y"), Var("t")
READONLY = frozenset({"row"})
COUNT = Load("out", Const(0))
TALLY = Store("out", Const(0), Bin("add", COUNT, Bin("add", Bin("mul", OUTER, Const(8)), Const(1))))


def counted(name: str, *body: Stmt) -> tuple[Stmt, ...]:
    """Three rounds of a loop, as the compiler writes them."""
    done = If(Bin("sle", Const(3), Var(name)), (Break(f"{name}_loop"),))
    again = Let(name, Bin("add", Var(name), Const(1)))
    return Let(name, Const(0)), Loop(f"{name}_loop", (done, *body, again))


def guarded(*body: Stmt, label: str = "round") -> Block:
    """A round that statements may leave."""
    return Block(label, body)


def unless(condition: Expr, label: str = "round") -> If:
    """Leave the round if the condition holds."""
    return If(condition, (Break(label),))


def either(left: Expr, right: Expr) -> Expr:
    """1 if one of two truths is 1."""
    return Bin("or", left, right)


def both(left: Expr, right: Expr) -> Expr:
    """1 if two truths are 1."""
    return Bin("and", left, right)


def no(truth: Expr) -> Expr:
    """1 if a truth is 0."""
    return Bin("xor", truth, Const(1))


def run(body: tuple[Stmt, ...], x: int, y: int) -> tuple[int, list[int]]:
    """What a kernel returns and writes."""
    kernel = Function("main", ("row", "out"), ("x", "y"), (*body, Return(Const(1))), READONLY)
    out = [y, 0, 0]
    return emit_python(Module((kernel,))).call("main", [([x, y, 1 - x], 0), (out, 0)], [x, y]), out


SOME_TRUTHS = (
    *(Bin("eq", part, Const(value)) for part in (OUTER, INNER, X, Y) for value in (0, 1)),
    *(Bin("eq", Load(pointer, place), Const(1)) for pointer in ("row", "out") for place in (Const(0), Const(1), OUTER)),
)
truths = st.recursive(
    st.sampled_from(SOME_TRUTHS),
    lambda inner: st.one_of(st.builds(either, inner, inner), st.builds(both, inner, inner), st.builds(no, inner)),
    max_leaves=3,
)
lets = st.builds(Let, st.just("t"), st.one_of(truths, st.just(X)))
checks = st.builds(lambda truth: If(truth, (), (Return(Const(-16)),)), truths)


def rounds(label: str) -> st.SearchStrategy[list[Stmt]]:
    """Statements of a round."""
    leaves = st.builds(unless, st.one_of(truths, st.just(T)), st.just(label))
    return st.lists(st.one_of(leaves, leaves, lets, checks, st.just(TALLY)), max_size=4)


@pytest.mark.slow
@given(rounds("round"), rounds("inner"), st.integers(0, 1), st.integers(0, 1))
def test_no_result_changes(outer: list[Stmt], inner: list[Stmt], x: int, y: int) -> None:
    loop = counted("j", guarded(*inner, TALLY, label="inner"))
    body = (Let("t", Const(0)), Let("j", Const(0)), *counted("i", guarded(*outer, *loop)))
    assert run(hoisted(body, READONLY), x, y) == run(body, x, y)


ASKED: dict[str, tuple[tuple[Stmt, ...], Expr]] = {
    "a parameter": (counted("i", guarded(unless(either(Bin("eq", OUTER, X), Y)), TALLY)), Y),
    "what cannot change": (counted("i", guarded(unless(Load("row", X)), TALLY)), Load("row", X)),
    "a variable of the round": (counted("i", guarded(Let("t", Load("row", X)), unless(T), TALLY)), Load("row", X)),
    "a variable before the round": (counted("i", Let("t", Load("row", X)), guarded(unless(T), TALLY)), Load("row", X)),
    "what must hold together with something else": (
        counted("i", guarded(unless(no(both(Bin("eq", OUTER, X), Bin("eq", Y, Const(1))))), TALLY)),
        no(Bin("eq", Y, Const(1))),
    ),
    "a negation of a negation": (counted("i", guarded(unless(no(no(either(OUTER, Y)))), TALLY)), Y),
    "a second guard": (counted("i", guarded(unless(OUTER), unless(Y), TALLY)), Y),
    "a guard behind what it makes sure of": (
        counted("i", guarded(unless(Bin("xor", OUTER, Const(1))), If(OUTER, (), (Return(X),)), unless(Y), TALLY)),
        Y,
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_guard_is_asked_before_the_loop(name: str) -> None:
    body, guard = ASKED[name]
    assert hoisted(body, READONLY) == (body[0], If(guard, (), (body[1],)))


DONE = If(Bin("sle", Const(3), OUTER), (Break("l"),))
KEPT: dict[str, tuple[Stmt, ...]] = {
    "of the counter": counted("i", guarded(unless(OUTER), TALLY)),
    "of memory that is written": counted("i", guarded(unless(Load("out", X)), TALLY)),
    "of bits that are not a conjunction": counted("i", guarded(unless(no(both(Bin("lshr", Y, OUTER), Y))), TALLY)),
    "behind a check": counted("i", guarded(If(X, (), (Return(X),)), unless(Y), TALLY)),
    "behind a write": counted("i", guarded(TALLY, unless(Y))),
    "that leaves another block": (Block("round", counted("i", Block("inner", (unless(Y), TALLY)))),),
    "of a variable that the round changes later": counted("i", guarded(unless(T), TALLY, Let("t", OUTER))),
    "of a loop that counts in twos": (
        Loop("l", (DONE, guarded(unless(Y), TALLY), Let("i", Bin("add", OUTER, Const(2))))),
    ),
    "of a loop that counts something else": (
        Loop("l", (DONE, guarded(unless(Y), TALLY), Let("i", Bin("add", INNER, Const(1))))),
    ),
    "of a loop whose end leaves another": (
        Block(
            "m", (Loop("l", (If(Y, (Break("m"),)), guarded(unless(Y), TALLY), Let("i", Bin("add", OUTER, Const(1))))),)
        ),
    ),
    "of a loop that is left in its midst": (Loop("l", (guarded(unless(Y), TALLY), If(X, (Break("l"),)))),),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_guard_stays_where_it_is(name: str) -> None:
    assert hoisted(KEPT[name], READONLY) == KEPT[name]


def test_a_guard_of_the_outer_argument_is_asked_once_for_all_of_the_inner() -> None:
    inner = counted("j", guarded(unless(either(Bin("eq", OUTER, INNER), either(OUTER, Y))), TALLY))
    first, loop = hoisted(counted("i", *inner), READONLY)
    asked_inside = If(OUTER, (), (If(Y, (), (inner[1],)),))
    assert (first, loop) == (Let("i", Const(0)), If(Y, (), (counted("i", inner[0], asked_inside)[1],)))


SPEC = """
Server = constant("Server", IdentSet(), "x")


class State(Record):
    n: Map[Server, Int(0, 9)]
    m: Map[Server, Int(0, 9)]


def is_ready(st, i):
    return st.n[i] > 3 and st.m[i] != 5


@spec.init
def init():
    yield State(n={i: 0 for i in Server}, m={i: 0 for i in Server})


@spec.action
def step(st, i: Server, j: Server):
    if not is_ready(st, i) or st.n[j] > 1:
        return
    yield st.set(n=st.n.set(j, 9))
"""


def test_a_conjunction_of_comparisons_is_asked_before_the_loop(tmp_path: Path) -> None:
    functions = build_kernels(model_of(tmp_path, SPEC, "CONSTANT Server = {a, b}")).module.functions
    (step,) = (function for function in functions if function.name == "action_0")
    asked = [
        statement
        for statement in statements(step.body)
        if isinstance(statement, If) and any(isinstance(inner, Loop | If) for inner in statement.otherwise)
    ]
    # One test for each part, and in them the loop over j.
    assert len(asked) == 2
