"""Mutants of compiled kernels: the IR of a model with one mistake planted, of the kinds that a compiler makes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from kmc.compiler.emit_python import PythonModule
from kmc.compiler.ir import (
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
_ERROR = If(Const(1), (Return(Const(-17)),))


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one mistake. `trap` is the module with an error before the statement around that place: if nobody
    notices it, this code never ran.
    """

    module: Module
    trap: Module
    function: str
    before: Any
    after: Any


def mutants(module: Module, mutation: Mutation, at_most: int) -> Iterator[Mutant]:
    """The module with the mistake planted at some of the places where it can be made, evenly spread."""
    places = _Planter(mutation, -1)
    places.visit(module)
    chosen = range(places.met) if places.met <= at_most else [k * places.met // at_most for k in range(at_most)]
    for place in chosen:
        yield _planted(module, mutation, place)


def _planted(module: Module, mutation: Mutation, place: int) -> Mutant:
    planter, trapper = _Planter(mutation, place), _Planter(mutation, place, trap=True)
    mutant, trap = planter.visit(module), trapper.visit(module)
    return Mutant(mutant, trap, planter.function, planter.before, planter.after)


class _Planter:
    """Rewrites a tree, with the mistake, or a trap before it, at place number `place`; counts the places."""

    def __init__(self, mutation: Mutation, place: int, *, trap: bool = False) -> None:
        self._mutation = mutation
        self._place = place
        self._trap = trap
        self._waiting = False
        self._here = ""
        self.met = 0
        self.function = ""
        self.before: Any = None
        self.after: Any = None

    def visit(self, node: Any) -> Any:
        """The node with what is below it."""
        if isinstance(node, tuple):
            return tuple(self.visit(item) for item in node)
        if not is_dataclass(node) or isinstance(node, type):
            return node
        if isinstance(node, Function):
            self._here = node.name
        mutant = self._mutation(node)
        if mutant is not None:
            self.met += 1
            if self.met - 1 == self._place:
                self.function, self.before, self.after = self._here, node, mutant
                if not self._trap:
                    return mutant
                self._waiting = True
        new = replace(node, **{field.name: self.visit(getattr(node, field.name)) for field in fields(node)})
        if self._waiting and isinstance(node, Statement):
            self._waiting = False
            return Block("trap", (_ERROR, new))
        return new


def covering(module: PythonModule, compare: Callable[[Any], object], states: Iterable[Any]) -> list[Any]:
    """Few of these states that run every line of the kernels that all of them run, when they are compared."""
    files = {kernel.__code__.co_filename for kernel in module.kernels.values()}
    ran: set[int] = set()
    chosen = []
    for state in states:
        before = len(ran)
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
