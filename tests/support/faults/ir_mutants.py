"""Mutants of compiled kernels: the IR of a model with one mistake planted, of the kinds that a compiler makes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import is_
from typing import Any

from kmc.compiler.ir.emit_python import PythonModule
from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    Break,
    CallKernel,
    Comment,
    Const,
    Copy,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Module,
    Return,
    Select,
    Store,
)

Mutation = Callable[[Any], Any]
"""A node with a mistake in it, or None where this mistake cannot be made."""


def dropped_store(node: Any) -> Any:
    """A word that is not written, or words that are not copied."""
    return If(Const(0), ()) if isinstance(node, Store | Copy) else None


def wrong_shift(node: Any) -> Any:
    """A shift by one bit too many."""
    if isinstance(node, Bin) and node.op in ("shl", "lshr") and isinstance(node.right, Const) and node.right.value < 62:
        return replace(node, right=Const(node.right.value + 1))
    return None


def dropped_guard(node: Any) -> Any:
    """A branch that is always taken, unless it is the way out of a loop."""
    if not isinstance(node, If) or _leaves_loop(node):
        return None
    return replace(node, condition=Const(1))


def _leaves_loop(node: If) -> bool:
    return len(node.then) == 1 and isinstance(node.then[0], Break) and node.then[0].label.startswith(("loop", "scan"))


def wrong_salt(node: Any) -> Any:
    """A word hashed under the salt of its neighbour."""
    if isinstance(node, Intrinsic) and node.name == "mix" and isinstance(node.arguments[1], Const):
        return replace(node, arguments=(node.arguments[0], Const(node.arguments[1].value + 1)))
    return None


def swapped_select(node: Any) -> Any:
    """The other one of two values."""
    return Select(node.condition, node.no, node.yes) if isinstance(node, Select) else None


def off_by_one(node: Any) -> Any:
    """A comparison that takes in the end of a range, or leaves it out."""
    if not isinstance(node, Bin) or node.op not in ("slt", "sle"):
        return None
    return replace(node, op="sle" if node.op == "slt" else "slt")


def skipped_branch(node: Any) -> Any:
    """A branch that is never taken, unless a loop needs it to end."""
    if not isinstance(node, If) or not node.then or _breaks(node.then):
        return None
    return replace(node, condition=Const(0))


def _breaks(node: Any) -> bool:
    if isinstance(node, Break | Return):
        return True
    if isinstance(node, tuple):
        return any(_breaks(item) for item in node)
    return is_dataclass(node) and any(_breaks(getattr(node, field.name)) for field in fields(node))


def swapped_operands(node: Any) -> Any:
    """The operands of a subtraction, shift or comparison in the wrong order."""
    ordered = ("sub", "slt", "sle", "ult", "shl", "lshr", "udiv", "urem")
    if not isinstance(node, Bin) or node.op not in ordered or node.left == node.right:
        return None
    return replace(node, left=node.right, right=node.left)


def wrong_constant(node: Any) -> Any:
    """A mask, number or bound that is one too large, shifts excepted."""
    if isinstance(node, Bin) and isinstance(node.right, Const) and node.op not in ("shl", "lshr"):
        return replace(node, right=Const(node.right.value + 1))
    return None


def lost_hash(node: Any) -> Any:
    """A word that is left out of the sum of hashes."""
    return Const(0) if isinstance(node, Intrinsic) and node.name == "mix" else None


def wrong_word(node: Any) -> Any:
    """The word behind the one that is meant, read or written."""
    return replace(node, index=Bin("add", node.index, Const(1))) if isinstance(node, Load | Store) else None


def wrong_logic(node: Any) -> Any:
    """One of two conditions instead of both, or the other way round."""
    if not isinstance(node, Bin) or node.op not in ("and", "or") or isinstance(node.right, Const):
        return None
    return replace(node, op="or" if node.op == "and" else "and")


MUTATIONS: dict[str, Mutation] = {
    "dropped store": dropped_store,
    "wrong shift": wrong_shift,
    "dropped guard": dropped_guard,
    "skipped branch": skipped_branch,
    "wrong salt": wrong_salt,
    "lost hash": lost_hash,
    "swapped select": swapped_select,
    "swapped operands": swapped_operands,
    "off by one": off_by_one,
    "wrong constant": wrong_constant,
    "wrong word": wrong_word,
    "wrong logic": wrong_logic,
}

Statement = Let | Store | Copy | If | Block | Loop | Break | CallKernel | Return | Comment


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one mistake, in a statement of a function."""

    module: Module
    kind: str
    function: Function
    statement: Any
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.kind} in {self.function.name}: {self.before} is {self.after}, in {self.statement}"


def mutants(module: Module, kind: str, at_most: int) -> Iterator[Mutant]:
    """The module with a mistake of a kind at some of the places where it can be made, evenly spread."""
    places = _Planter(MUTATIONS[kind], -1)
    places.visit(module)
    chosen = range(places.met) if places.met <= at_most else [k * places.met // at_most for k in range(at_most)]
    for place in chosen:
        planter = _Planter(MUTATIONS[kind], place)
        mutant = planter.visit(module)
        assert planter.function is not None
        yield Mutant(mutant, kind, planter.function, planter.statement, planter.before, planter.after)


class _Planter:
    """Rewrites a tree, with the mistake at place number `place`; counts the places."""

    def __init__(self, mutation: Mutation, place: int) -> None:
        self._mutation = mutation
        self._place = place
        self._here: Function | None = None
        self._around: Any = None
        self.met = 0
        self.function: Function | None = None
        self.statement: Any = None
        self.before: Any = None
        self.after: Any = None

    def visit(self, node: Any) -> Any:
        """The node with what is below it."""
        if isinstance(node, tuple):
            items = tuple(self.visit(item) for item in node)
            return node if all(map(is_, items, node)) else items
        if self.function is not None or not is_dataclass(node) or isinstance(node, type):
            return node
        outside = self._around
        if isinstance(node, Function):
            self._here = node
        elif isinstance(node, Statement):
            self._around = node
        mutant = self._mutation(node)
        if mutant is not None:
            self.met += 1
            if self.met - 1 == self._place:
                self.function, self.statement, self.before, self.after = self._here, self._around, node, mutant
                self._around = outside
                return mutant
        parts = {field.name: getattr(node, field.name) for field in fields(node)}
        changed = {name: new for name, part in parts.items() if (new := self.visit(part)) is not part}
        self._around = outside
        return replace(node, **changed) if changed else node


def covering(module: PythonModule, compare: Callable[[Any], object], states: Iterable[Any]) -> list[Any]:
    """Few of these states that run every line of the kernels that all of them run, when they are compared."""
    files = {kernel.__code__.co_filename for kernel in module.kernels.values()}
    ran: set[int] = set()
    chosen = []
    for state in states:
        before = len(ran)
        compare(state)  # what is asked of the interpreter is then known, which takes long when it is traced
        sys.settrace(lambda frame, event, _: _noting(ran) if frame.f_code.co_filename in files else None)
        try:
            compare(state)
        finally:
            sys.settrace(None)
        if len(ran) > before:
            chosen.append(state)
    return chosen


def _noting(lines: set[int]) -> Any:
    """A tracer that notes the lines that run."""

    def trace(frame: Any, event: str, argument: Any) -> Any:
        lines.add(frame.f_lineno)
        return trace

    return trace
