"""Random IR for differential tests: well-formed modules whose runs end, and both ways of running them.

Every pointer is to MEMORY_WORDS words, with SLACK_WORDS behind them for what looks or copies further, and every index
is masked; loops count up to at most three. `main` may call the
other functions. Programs draw their integers from values at which operations change their behaviour.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

from hypothesis import strategies as st

from kmc.compiler.ir.emit_python import PythonModule
from kmc.compiler.ir.nodes import (
    LANES,
    Bin,
    BinaryOp,
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
from kmc.runtime.native_module import NativeModule

T = TypeVar("T")

MEMORY_WORDS = 8
SLACK_WORDS = LANES
EDGES = (0, 1, 2, 31, 32, 63, 64, 65, (1 << 31), (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 2, (1 << 64) - 1)
OPERATIONS: tuple[BinaryOp, ...] = get_args(BinaryOp)

Y = Var("y")


def _behind(memory: list[int]) -> list[int]:
    """The words behind a memory: its own again, each a little different every time."""
    return [memory[place % MEMORY_WORDS] ^ place // MEMORY_WORDS for place in range(MEMORY_WORDS, SLACK_WORDS + 8)]


words = st.sampled_from(EDGES) | st.integers(0, (1 << 64) - 1)
memories = st.lists(words, min_size=MEMORY_WORDS, max_size=MEMORY_WORDS).map(lambda memory: memory + _behind(memory))


def binary(op: BinaryOp, left: Expr, right: Expr) -> Bin:
    """An operation, a constant right side brought to where it is defined."""
    if isinstance(right, Const) and op in ("shl", "lshr"):
        right = Const(right.value % 64)
    if isinstance(right, Const) and op in ("udiv", "urem"):
        right = Const(right.value or 1)
    return Bin(op, left, right)


def masked(index: Expr) -> Expr:
    """An index inside the memory."""
    return Bin("and", index, Const(MEMORY_WORDS - 1))


@dataclass(frozen=True, slots=True)
class Place:
    """What a statement may use: variables that have values, those it may change, labels around it, callees."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    labels: tuple[str, ...] = ()
    callees: tuple[Function, ...] = ()
    depth: int = 3


class Drawing:
    """Draws the parts of one function; plain calls, since strategies made of strategies draw ten times slower."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.used = 0

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.draw(st.integers(0, len(options) - 1))]

    def fresh(self, stem: str) -> str:
        """A name that occurs nowhere else."""
        self.used += 1
        return f"{stem}{self.used}"

    def expr(self, place: Place, depth: int = 2) -> Expr:
        """An expression over the readable variables and the words behind `source` and `target`."""
        kinds = ["constant", "variable"] + (
            ["operation", "operation", "select", "load", "mix", "count", "matches"] * bool(depth)
        )
        match self.choice(kinds):
            case "constant":
                return Const(self.draw(words))
            case "variable":
                return Var(self.choice(place.readable))
            case "operation":
                return binary(self.choice(OPERATIONS), self.expr(place, depth - 1), self.expr(place, depth - 1))
            case "select":
                return Select(*(self.expr(place, depth - 1) for _ in range(3)))
            case "load":
                return Load(self.choice(("source", "target")), masked(self.expr(place, depth - 1)))
            case "matches":
                pointer, wanted = self.choice(("source", "target")), Load("target", masked(self.expr(place, depth - 1)))
                mask = Const(self.choice((0, 1, 3, -4, -1)))
                return Matches(pointer, masked(self.expr(place, depth - 1)), mask, Bin("and", wanted, mask))
            case "mix":
                return Intrinsic("mix", (self.expr(place, depth - 1), self.expr(place, depth - 1)))
            case _:
                return Intrinsic(self.choice(("popcount", "cttz")), (self.expr(place, depth - 1),))

    def condition(self, place: Place) -> Expr:
        """A condition that holds in about half of the runs."""
        operations: tuple[BinaryOp, ...] = ("and", "slt", "ult")
        rights: tuple[Expr, ...] = (Const(1), Y)
        return Bin(self.choice(operations), Var(self.choice(place.readable)), self.choice(rights))

    def body(self, place: Place) -> tuple[Stmt, ...]:
        """A few statements, each able to read what those before it made."""
        found: list[Stmt] = []
        for _ in range(self.choice((1, 2, 3))):
            drawn = self.statement(place)
            found += drawn
            made = tuple(item.name for item in drawn if isinstance(item, Let) and item.name not in place.readable)
            place = replace(place, readable=(*place.readable, *made))
        return tuple(found)

    def statement(self, place: Place) -> list[Stmt]:
        """One statement, or a counter and its loop."""
        kinds = ["let", "let", "let", "store", "copy", "fresh", "comment", "return"] + (
            ["break"] if place.labels else []
        )
        kinds += ["call"] if place.callees else []
        kinds += ["if", "block", "loop"] * 2 if place.depth else []
        match self.choice(kinds):
            case "let":
                return [Let(self.choice(place.writable), self.expr(place))]
            case "fresh":
                return [Let(self.fresh("t"), self.expr(place))]
            case "store":
                return [Store("target", masked(self.expr(place)), self.expr(place))]
            case "copy":
                at, start, count = (masked(self.expr(place, 1)) for _ in range(3))
                return [Copy("target", at, "source", start, Bin("add", count, count))]
            case "break":
                return [If(self.condition(place), (Break(self.choice(place.labels)),))]
            case "return":
                return [If(self.condition(place), (Return(self.expr(place)),))]
            case "call":
                callee = self.choice(place.callees)
                pointers = (("source", Const(0)), ("target", Const(0)))
                arguments = tuple(self.expr(place, 1) for _ in callee.parameters)
                return [CallKernel(self.choice(place.writable), callee.name, pointers, arguments)]
            case "comment":
                return [Comment("a place")]
            case nested:
                return self.nest(nested, replace(place, depth=place.depth - 1))

    def nest(self, kind: str, place: Place) -> list[Stmt]:
        """A branch, a block, or a loop with its counter."""
        if kind == "if":
            otherwise = self.body(place) if self.choice((True, False)) else ()
            return [If(self.condition(place), self.body(place), otherwise)]
        label = self.fresh("label")
        inside = replace(place, labels=(*place.labels, label))
        if kind == "block":
            return [Block(label, (*self.body(inside), *self.ending(inside)))]
        counter = self.fresh("counter")
        stop = If(Bin("sle", Const(self.choice((1, 2, 3))), Var(counter)), (Break(label),))
        count = Let(counter, Bin("add", Var(counter), Const(1)))
        body = self.body(replace(inside, readable=(*inside.readable, counter)))
        return [Let(counter, Const(0)), Loop(label, (stop, count, *body))]

    def ending(self, place: Place) -> tuple[Stmt, ...]:
        """How a block may end: by itself, or by a statement after which nothing of it runs."""
        last: Stmt | None = self.choice((None, Break(self.choice(place.labels)), Return(Var(place.readable[0]))))
        return (last, Store("target", Const(0), Const(99))) if last else ()

    def function(self, name: str, callees: tuple[Function, ...]) -> Function:
        """A function of two pointers and two integers."""
        parameters, variables = ("x", "y"), ("v", "w")
        place = Place(parameters, (*variables, "y"), callees=callees, depth=3 if name == "main" else 1)
        opening = [Let(variable, self.expr(place)) for variable in variables]
        place = replace(place, readable=(*parameters, *variables))
        # What the body did to its variables shows in the result.
        everything = Intrinsic("mix", (Var("v"), Intrinsic("mix", (Var("w"), Y))))
        end = [Return(everything)] if name == "main" or self.choice((True, False)) else []
        inline = name != "main" and self.choice((True, False))
        body = (*opening, *self.body(place), *end)
        return Function(name, ("source", "target"), parameters, body, frozenset({"source"}), inline)


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Two functions and `main`, which may call them; the second may call the first."""
    first = Drawing(draw).function("first", ())
    second = Drawing(draw).function("second", (first,))
    return Module((first, second, Drawing(draw).function("main", (first, second))))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: the result and the words that it left behind."""

    result: int
    source: tuple[int, ...]
    target: tuple[int, ...]


def run_native(module: NativeModule, memory: tuple[list[int], list[int]], arguments: tuple[int, ...]) -> Outcome:
    """Run `main` as machine code."""
    source, target = (array("Q", part) for part in memory)
    result = module.call("main", [(source, 0), (target, 0)], arguments)
    return Outcome(result, tuple(source), tuple(target))


def run_python(module: PythonModule, memory: tuple[list[int], list[int]], arguments: tuple[int, ...]) -> Outcome:
    """Run `main` as Python."""
    source, target = (list(part) for part in memory)
    result = module.call("main", [(source, 0), (target, 0)], arguments)
    return Outcome(result, tuple(source), tuple(target))


def expression_module(expr: Expr) -> Module:
    """A module whose `main(x, y)` gives the value of an expression."""
    return Module((Function("main", (), ("x", "y"), (Return(expr),)),))
