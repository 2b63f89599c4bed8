"""Mutants of kernels that mean the same as the original, as far as that can be told from the code: with the reason.

What no reason here explains, a test must catch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from support.faults.ir_mutants import Mutant

from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    CallKernel,
    Const,
    Copy,
    Function,
    If,
    Let,
    Loop,
    Return,
    Select,
    Store,
    Var,
)

ERROR_MAX = -16
FULL = Const(-1)


def nodes(tree: Any) -> Iterator[Any]:
    """Everything in a tree, itself first."""
    yield tree
    if isinstance(tree, tuple):
        for item in tree:
            yield from nodes(item)
    elif is_dataclass(tree) and not isinstance(tree, type):
        for field in fields(tree):
            yield from nodes(getattr(tree, field.name))


def reads(tree: Any) -> set[str]:
    """The variables that are read in a tree."""
    return {node.name for node in nodes(tree) if isinstance(node, Var)}


def asks_for_room(node: Any) -> bool:
    """Whether a statement gives up because the buffer may be too small."""
    return isinstance(node, If) and node.then == (Return(FULL),)


def is_check(node: Any) -> bool:
    """Whether a statement fails unless something holds."""
    return (
        isinstance(node, If)
        and not node.then
        and len(node.otherwise) == 1
        and isinstance(node.otherwise[0], Return)
        and isinstance(node.otherwise[0].value, Const)
        and node.otherwise[0].value.value <= ERROR_MAX
    )


def needed(function: Function) -> set[str]:
    """The variables on which more depends than how much room is asked for."""
    found: set[str] = set()
    before = None
    while found != before:
        before = set(found)
        for node in nodes(function.body):
            if isinstance(node, Let):
                found |= reads(node.value) if node.name in found else set()
            elif isinstance(node, If):
                found |= set() if asks_for_room(node) else reads(node.condition)
            elif isinstance(node, Store | Copy | Return | CallKernel):
                found |= reads(node)
    return found


def only_room(mutant: Mutant) -> bool:
    """Only how much room is asked for depends on it; there is more than enough, and a full buffer is asked again."""
    statement = mutant.statement
    if asks_for_room(statement):
        return not isinstance(mutant.before, If)
    return isinstance(statement, Let) and statement.name not in needed(mutant.function)


def longer_copy(mutant: Mutant) -> bool:
    """More words are copied than the row has; the number of entries says where it ends."""
    return isinstance(mutant.statement, Copy)


def no_such_hash(mutant: Mutant) -> bool:
    """It matters only for a hash of 0, and no known state has that."""
    return mutant.function.name == "identity" and Const(0) in nodes(mutant.before) and Const(1) in nodes(mutant.before)


def found_again(mutant: Mutant) -> bool:
    """What is known to be at an index is looked for, and found there; or its words are not looked at, since it is."""
    statement = mutant.statement
    if isinstance(statement, Let):
        readers = [
            node for node in nodes(mutant.function.body) if not isinstance(node, tuple | Var | Block | Loop | If)
        ]
        using = [node for node in readers if statement.name in reads(node)]
        return bool(using) and all(isinstance(node, CallKernel) and node.function == "take_0" for node in using)
    unknown = {"find_0", "take_0", "add_0"}
    if isinstance(mutant.statement, CallKernel) and mutant.statement.function == "add_0":
        # From which entry on a network has changed, if it has.
        return bool(mutant.before == mutant.statement.arguments[2])
    return mutant.function.name in unknown and bool(reads(mutant.before) & {"index", "found", "first"})


def one_round_more(mutant: Mutant) -> bool:
    """A loop over entries makes one round more, which finds none; or a mask of all lanes is made the other way."""
    before = mutant.before
    if not isinstance(before, Bin) or before.op not in ("sle", "slt") or mutant.kind != "off by one":
        return False
    of_lanes = before.op == "slt" and before.right == Const(32)
    return of_lanes or (before.op == "sle" and isinstance(before.left, Var) and before.left.name.startswith("size"))


def few_entries(mutant: Mutant) -> bool:
    """It matters where entries are more than those compared at once: `test_network_kernels` looks among that many."""
    if mutant.function.name == "expand":
        return isinstance(mutant.statement, Let) and mutant.statement.name.startswith("start")
    if mutant.function.name != "find_0":
        return False
    which_way = isinstance(mutant.statement, If) and reads(mutant.statement.condition) == {"size"}
    return "i" in reads(mutant.before) | reads(mutant.statement) or (
        which_way and (mutant.before in (mutant.statement, Const(16)) or "size" in reads(mutant.before))
    )


def first_of_several(mutant: Mutant) -> bool:
    """The first value is always taken, and of equal ones either."""
    taken = [node for node in nodes(mutant.function.body) if isinstance(node, If) and _best(node.condition)]
    names = _best(mutant.statement.condition) if isinstance(mutant.statement, If) else set()
    if names and next(node for node in taken if _best(node.condition) == names) == mutant.statement:
        return True
    return any(name.startswith("best") for name in reads(mutant.before)) and mutant.kind in (
        "off by one",
        "wrong logic",
    )


def _best(tree: Any) -> set[str]:
    """The variables that hold the best value so far."""
    return {name for name in reads(tree) if name.startswith("best")}


def nothing_at_0(mutant: Mutant) -> bool:
    """Where a place that may be missing stands for a word that is then not used, 0 stands for it: place 0 as well."""

    def even(node: Any) -> Any:
        match node:
            case Select(Bin("slt", Const(0), value), yes, Const(0)) if value == yes:
                return Select(Bin("sle", Const(0), value), yes, Const(0))
            case tuple():
                return tuple(even(item) for item in node)
        if not is_dataclass(node) or isinstance(node, type):
            return node
        return replace(node, **{field.name: even(getattr(node, field.name)) for field in fields(node)})

    mutated = next(function for function in mutant.module.functions if function.name == mutant.function.name)
    return bool(even(mutated) == even(mutant.function))


def nothing_yet(mutant: Mutant) -> bool:
    """It matters where an action is the first that is enabled, which in the compared states not all are."""
    return mutant.function.name == "expand" and mutant.before == Bin("slt", Var("r"), Const(0))


REASONS: dict[str, Callable[[Mutant], bool]] = {
    "only room depends on it": only_room,
    "more is copied than is read": longer_copy,
    "no hash is 0": no_such_hash,
    "found again": found_again,
    "one round more": one_round_more,
    "few entries": few_entries,
    "the first of several": first_of_several,
    "nothing at 0": nothing_at_0,
    "nothing yet": nothing_yet,
}
"""Why a mutant may not be a mistake."""


def explained(mutant: Mutant) -> bool:
    """Whether there is a reason why nothing tells a mutant from the original."""
    return any(holds(mutant) for holds in REASONS.values())


__all__ = ["REASONS", "explained", "is_check"]
