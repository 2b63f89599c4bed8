"""Where branches meet: one value for several, and the code that gives it its value in each branch.

Values with words meet in variables of a type that holds them all. Collections of which none such exists stay apart,
each behind a guard that its branch sets.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Let, Var
from kmc.compiler.lowering.iteration import is_collection, kind_of
from kmc.compiler.lowering.lowering import Lowering
from kmc.compiler.lowering.map_operations import words_as
from kmc.compiler.values.packing import field, lift
from kmc.compiler.values.value import Chosen, EmptySet, MapItems, Nothing, Packed, Rec, SeqLiteral, Several, Value
from kmc.compiler.values.value_types import common_type
from kmc.errors import SpecError
from kmc.lang.types import MessageBagType, MessageSetType, Type
from kmc.runtime.state_layout import layout_of

Setter = Callable[[Value], None]


def meet_values(low: Lowering, found: list[Value], node: ast.AST) -> tuple[Value, list[Setter]]:
    """One value for several branches, none of which gives a network, and for each the code that gives it there."""
    if all(isinstance(value, Several) for value in found):
        return _meet_several(low, [value for value in found if isinstance(value, Several)], node)
    states = [value for value in found if isinstance(value, Rec) and _has_network(value)]
    if len(states) == len(found) and len({id(state.type.cls) for state in states}) == 1:
        return _meet_states(low, states, node)
    declared = _joint_type(low, found, node)
    if declared is None:
        if all(is_collection(value) for value in found):
            return _meet_apart(low, found)
        low.code.refuse(node, "branches that give values of different types", "use them in the branch that gives them")
    names = [low.code.fresh("m") for _ in range(layout_of(declared).words)]

    def assign(value: Value) -> None:
        for name, word in zip(names, words_as(low, value, declared, node), strict=True):
            low.code.emit(Let(name, word))

    return lift(declared, tuple(Var(name) for name in names)), [assign for _ in found]


def _joint_type(low: Lowering, found: list[Value], node: ast.AST) -> Type | None:
    """The least type that holds all values, if there is one and it has a layout."""
    joined: Type | None = None
    stand_in: Value | None = None
    for value in found:
        kind = kind_of(low, value, node)
        if kind is None and not isinstance(value, Nothing) and not _is_empty(value):
            return None
        mine = Packed(kind, ()) if kind is not None else value
        if stand_in is None:
            joined, stand_in = kind, mine
            continue
        joined = common_type(stand_in, mine)
        if joined is None and not (_is_empty(stand_in) and _is_empty(value)):
            return None
        stand_in = Packed(joined, ()) if joined is not None else value
    try:
        if joined is not None:
            layout_of(joined)
    except SpecError:
        return None
    return joined


def _is_empty(value: Value) -> bool:
    """Whether a value is a literal without elements, which has every type of its kind."""
    return isinstance(value, EmptySet) or (isinstance(value, SeqLiteral | MapItems) and not value.items)


def _has_network(value: Rec) -> bool:
    return any(isinstance(kind, MessageSetType | MessageBagType) for kind in value.type.cls.fields.values())


def _meet_several(low: Lowering, found: list[Several], node: ast.AST) -> tuple[Value, list[Setter]]:
    if len({len(value.items) for value in found}) != 1:
        low.code.refuse(node, "branches that give different numbers of values")
    parts = [low.meet(list(column), node) for column in zip(*(value.items for value in found), strict=True)]

    def assign(value: Value, branch: int) -> None:
        assert isinstance(value, Several)
        for (_, setters), item in zip(parts, value.items, strict=True):
            setters[branch](item)

    setters: list[Setter] = [partial(assign, branch=branch) for branch in range(len(found))]
    return Several(tuple(value for value, _ in parts)), setters


def _meet_states(low: Lowering, found: list[Rec], node: ast.AST) -> tuple[Value, list[Setter]]:
    """States meet field by field: fields that no branch changes stay where they lie."""
    parts = {}
    for name in found[0].type.cls.fields:
        values = [field(low.code, value, name, node) for value in found]
        if any(value is not values[0] for value in values):
            parts[name] = low.meet(values, node)

    def assign(value: Value, branch: int) -> None:
        for name, (_, setters) in parts.items():
            setters[branch](field(low.code, value, name, node))

    fields = {name: field(low.code, found[0], name, node) for name in found[0].type.cls.fields}
    fields |= {name: value for name, (value, _) in parts.items()}
    return Rec(found[0].type, None, fields), [partial(assign, branch=branch) for branch in range(len(found))]


def _meet_apart(low: Lowering, found: list[Value]) -> tuple[Value, list[Setter]]:
    """Collections that no type holds: each is run through where it is used, if its branch was taken."""
    low.code.forgiving = True
    guards = [low.code.fresh("taken") for _ in found]
    low.code.emit(*(Let(guard, x.ZERO) for guard in guards))

    def assign(value: Value, guard: str) -> None:
        low.code.emit(Let(guard, x.ONE))

    options = tuple((Var(guard), value) for guard, value in zip(guards, found, strict=True))
    return Chosen(options), [partial(assign, guard=guard) for guard in guards]
