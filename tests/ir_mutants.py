"""Mutants of compiled kernels: the IR of a model with one mistake planted, of the kinds that a compiler makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kmc.compiler.ir import Bin, Break, Const, If, Intrinsic, Module, Select, Store

Mutation = Callable[[Any], Any]
"""A node with a mistake in it, or None where this mistake cannot be made."""


def dropped_store(node: Any) -> Any:
    """A word that is not written."""
    return If(Const(0), ()) if isinstance(node, Store) else None


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


MUTATIONS: dict[str, Mutation] = {
    "dropped store": dropped_store,
    "wrong shift": wrong_shift,
    "dropped guard": dropped_guard,
    "wrong salt": wrong_salt,
    "swapped select": swapped_select,
    "off by one": off_by_one,
}


def mutants(module: Module, mutation: Mutation, at_most: int) -> Iterator[Module]:
    """The module with the mistake planted at some of the places where it can be made, evenly spread."""
    places = _Planter(mutation, -1)
    places.visit(module)
    chosen = range(places.met) if places.met <= at_most else [k * places.met // at_most for k in range(at_most)]
    for place in chosen:
        planted: Module = _Planter(mutation, place).visit(module)
        yield planted


class _Planter:
    """Rewrites a tree, with the mistake at place number `place`; counts the places."""

    def __init__(self, mutation: Mutation, place: int) -> None:
        self._mutation = mutation
        self._place = place
        self.met = 0

    def visit(self, node: Any) -> Any:
        """The node with what is below it."""
        if isinstance(node, tuple):
            return tuple(self.visit(item) for item in node)
        if not is_dataclass(node) or isinstance(node, type):
            return node
        mutant = self._mutation(node)
        if mutant is not None:
            self.met += 1
            if self.met - 1 == self._place:
                return mutant
        return replace(node, **{field.name: self.visit(getattr(node, field.name)) for field in fields(node)})
