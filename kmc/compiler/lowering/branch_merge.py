"""Branch merge: one value for the values of several branches (a phi), and the code that sets it in each branch.

Values with words are merged in variables of a type that holds them all. Collections that no type holds stay separate,
each behind a guard that its branch sets. Networks are merged by their changes, each behind such a guard.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Let, Var
from kmc.compiler.lowering.context import Lowering, Setter
from kmc.compiler.lowering.iteration import is_collection, kind_of
from kmc.compiler.lowering.map_operations import words_as
from kmc.compiler.lowering.network_operations import whole_network
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import field, lift
from kmc.compiler.values.value import (
    Chosen,
    Each,
    EmptySet,
    MapItems,
    Net,
    NetOp,
    Nothing,
    Num,
    Packed,
    Rec,
    SeqLiteral,
    Several,
    Value,
)
from kmc.compiler.values.value_types import common_type, scalar_union
from kmc.errors import SpecError
from kmc.lang.types import MessageBagType, MessageSetType, Type
from kmc.runtime.state_layout import layout_of


def merge(low: Lowering, branches: list[Value], node: Origin) -> tuple[Value, list[Setter]]:
    """One value for several branches, and for each branch the code that gives it its value there."""
    if any(isinstance(value, Net) for value in branches):
        return _merge_networks(low, branches, node)
    if all(value == branches[0] for value in branches):
        return branches[0], [lambda value: None for _ in branches]
    if all(isinstance(value, Num) for value in branches):
        return _merge_numbers(low, [value for value in branches if isinstance(value, Num)])
    if all(isinstance(value, Several) for value in branches):
        return _merge_several(low, [value for value in branches if isinstance(value, Several)], node)
    states = [value for value in branches if isinstance(value, Rec) and _has_network(value)]
    if len(states) == len(branches) and len({id(state.type.cls) for state in states}) == 1:
        return _merge_states(low, states, node)
    declared = _joint_type(low, branches, node)
    if declared is None:
        if all(is_collection(value) for value in branches):
            return _keep_separate(low, branches)
        low.code.refuse(node, "branches that give values of different types", "use them in the branch that gives them")
    names = [low.code.fresh("m") for _ in range(layout_of(declared).words)]

    def assign(value: Value) -> None:
        for name, word in zip(names, words_as(low, value, declared, node), strict=True):
            low.code.emit(Let(name, word))

    return lift(declared, tuple(Var(name) for name in names)), [assign for _ in branches]


def _joint_type(low: Lowering, branches: list[Value], node: Origin) -> Type | None:
    """The least type that holds all values, if there is one and it has a layout."""
    joined: Type | None = None
    stand_in: Value | None = None
    for value in branches:
        kind = kind_of(low, value, node)
        if kind is None and not isinstance(value, Nothing) and not _is_empty(value):
            return None
        mine = Packed(kind, ()) if kind is not None else value
        if stand_in is None:
            joined, stand_in = kind, mine
            continue
        joined = common_type(stand_in, mine) or scalar_union(joined, kind)
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


def _merge_several(low: Lowering, branches: list[Several], node: Origin) -> tuple[Value, list[Setter]]:
    if len({len(value.items) for value in branches}) != 1:
        low.code.refuse(node, "branches that give different numbers of values")
    columns = [low.merge(list(column), node) for column in zip(*(value.items for value in branches), strict=True)]

    def assign(value: Value, branch: int) -> None:
        assert isinstance(value, Several)
        for (_, setters), item in zip(columns, value.items, strict=True):
            setters[branch](item)

    setters: list[Setter] = [partial(assign, branch=branch) for branch in range(len(branches))]
    return Several(tuple(value for value, _ in columns)), setters


def _merge_states(low: Lowering, branches: list[Rec], node: Origin) -> tuple[Value, list[Setter]]:
    """States are merged field by field: fields that no branch changes stay where they lie."""
    merged = {}
    for name in branches[0].type.cls.fields:
        values = [field(low.code, value, name, node) for value in branches]
        if any(value is not values[0] for value in values):
            merged[name] = low.merge(values, node)

    def assign(value: Value, branch: int) -> None:
        for name, (_, setters) in merged.items():
            setters[branch](field(low.code, value, name, node))

    fields = {name: field(low.code, branches[0], name, node) for name in branches[0].type.cls.fields}
    fields |= {name: value for name, (value, _) in merged.items()}
    return Rec(branches[0].type, None, fields), [partial(assign, branch=branch) for branch in range(len(branches))]


def _keep_separate(low: Lowering, branches: list[Value]) -> tuple[Value, list[Setter]]:
    """Collections that no type holds: each is iterated where it is used, if its branch was executed."""
    low.code.forgiving = True
    guards = [low.code.fresh("taken") for _ in branches]
    low.code.emit(*(Let(guard, x.ZERO) for guard in guards))

    def assign(value: Value, guard: str) -> None:
        low.code.emit(Let(guard, x.ONE))

    options = tuple((Var(guard), value) for guard, value in zip(guards, branches, strict=True))
    return Chosen(options), [partial(assign, guard=guard) for guard in guards]


def _merge_numbers(low: Lowering, branches: list[Num]) -> tuple[Value, list[Setter]]:
    """Numbers are merged as they are: they may lie so far apart that no layout holds both."""
    name = low.code.fresh("m")

    def assign(value: Value) -> None:
        assert isinstance(value, Num)
        low.code.emit(Let(name, value.code))

    least, most = min(value.low for value in branches), max(value.high for value in branches)
    return Num(Var(name), least, most), [assign for _ in branches]


def _merge_networks(low: Lowering, branches: list[Value], node: Origin) -> tuple[Value, list[Setter]]:
    """Networks are merged by their changes: each keeps the words that its branch gives it, behind a guard."""
    bases = {(value.network, value.pointer) for value in branches if isinstance(value, Net)}
    if len(bases) != 1:
        low.code.refuse(node, "branches that give different networks", "yield in each branch")
    nets = [whole_network(low, value, *next(iter(bases)), node) for value in branches]
    changes: list[NetOp | Each] = []
    setters: list[Setter] = []
    resets: list[str] = []
    for net in nets:
        mine: list[tuple[str, NetOp | Each]] = []
        for change in net.changes:
            guard = low.code.fresh("g")
            if isinstance(change, Each):
                # The messages are made where they are sent, from what the branch has computed.
                low.code.forgiving = True
                resets.append(guard)
                mine.append((guard, change))
                changes.append(replace(change, guard=Var(guard)))
                continue
            kept = tuple(low.code.fresh("w") for _ in change.words)
            index = None if change.index is None else low.code.fresh("x")
            resets.append(guard)
            mine.append((guard, change))
            changes.append(NetOp(change.kind, tuple(map(Var, kept)), Var(guard), None if index is None else Var(index)))
        setters.append(_network_setter(low, mine, changes[len(changes) - len(mine) :]))
    for guard in resets:
        low.code.emit(Let(guard, x.ZERO))
    for change in changes:
        for word in change.words if isinstance(change, NetOp) else ():
            assert isinstance(word, Var)
            low.code.emit(Let(word.name, x.ZERO))
        if isinstance(change, NetOp) and isinstance(change.index, Var):
            low.code.emit(Let(change.index.name, x.ZERO))
    return Net(nets[0].network, nets[0].pointer, tuple(changes)), setters


def _network_setter(low: Lowering, mine: list[tuple[str, NetOp | Each]], joint: list[NetOp | Each]) -> Setter:
    def assign(value: Value) -> None:
        for (guard, change), target in zip(mine, joint, strict=True):
            low.code.emit(Let(guard, change.guard))
            if isinstance(target, Each) or isinstance(change, Each):
                continue
            for name, word in zip(target.words, change.words, strict=True):
                assert isinstance(name, Var)
                low.code.emit(Let(name.name, word))
            if isinstance(target.index, Var) and change.index is not None:
                low.code.emit(Let(target.index.name, change.index))

    return assign
