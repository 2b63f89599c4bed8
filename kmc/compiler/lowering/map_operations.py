"""Lowering of maps: conversion to words, subscripts, updates, and partial maps that grow or shrink."""

from __future__ import annotations

import ast
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import as_collection, is_collection, materialize, typed_set
from kmc.compiler.lowering.map_literals import as_map, build_map, converted_map, each_entry, in_words, map_kind
from kmc.compiler.lowering.membership import member
from kmc.compiler.lowering.network_operations import count_of_message
from kmc.compiler.values.code import Origin
from kmc.compiler.values.keys import key_number, key_value
from kmc.compiler.values.listed_sets import is_list
from kmc.compiler.values.masks import Mask, all_members, has_number, only_number
from kmc.compiler.values.packing import (
    Words,
    array_of,
    collection,
    combine,
    element,
    is_joint,
    keep_words,
    keys_mask,
    lift,
    pack,
    pack_joint,
)
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    EmptySet,
    Entries,
    MapItems,
    MapLiteral,
    MapUpdate,
    Net,
    Numbers,
    Packed,
    Python,
    Rec,
    Received,
    SeqLiteral,
    Several,
    Stored,
    Value,
)
from kmc.compiler.values.value_types import FreeMap, joined_type
from kmc.lang.domains import members
from kmc.lang.types import (
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    SeqType,
    SetType,
    SymbolMeta,
    Type,
    UnionType,
)
from kmc.runtime.state_layout import WORD, Place, is_listed, is_plain_key, key_count, layout_of


def words_as(low: Lowering, value: Value, declared: Type, node: Origin) -> Words:
    """The words of a value in a type, whatever it was written as."""
    if isinstance(declared, MapType):
        return map_words(low, value, declared, node)
    if isinstance(declared, SetType) and is_collection(value) and not _has_mask_for(value, declared):
        value = typed_set(low, value, declared, node)
    if isinstance(declared, UnionType):
        if is_joint(value) and value.type != declared and any(map(_is_list_type, (value.type, declared))):
            return pack_joint(low.code, value, declared, node, lambda item: words_as(low, item, declared, node))
        alternative = _written_as(value, declared)
        if alternative is not None:
            value = Packed(alternative, words_as(low, value, alternative, node))
    return pack(low.code, value, declared, node)


def _is_list_type(declared: Type) -> bool:
    """Return whether an alternative of a type is a set that is stored as a list."""
    alternatives = declared.alternatives if isinstance(declared, UnionType) else ()
    return any(isinstance(kind, SetType) and is_listed(kind) for kind in alternatives)


def _has_mask_for(value: Value, declared: SetType) -> bool:
    """Return whether a set is in words that are packed as those of this type without going through its elements."""
    if isinstance(value, EmptySet):
        return True
    if not isinstance(value, Packed | Stored) or not isinstance(value.type, SetType | PairType):
        return False
    elements = value.type.element, declared.element
    return value.type == declared or (
        all(map(is_plain_key, elements)) and not is_listed(declared) and not is_list(value)
    )


def _written_as(value: Value, declared: UnionType) -> Type | None:
    """The alternative that a collection which is written in the spec is meant as, if there is just one of its kind."""
    kind = value.type if isinstance(value, Packed | Stored | MapUpdate) else None
    kinds: type[Type] | None = None
    if isinstance(value, MapItems | MapLiteral) or isinstance(kind, MapType):
        kinds = MapType
    elif isinstance(value, SeqLiteral) or isinstance(kind, SeqType):
        kinds = SeqType
    elif is_collection(value) or isinstance(kind, SetType):
        kinds = SetType
    fitting = [other for other in declared.alternatives if kinds is not None and isinstance(other, kinds)]
    return fitting[0] if len(fitting) == 1 and (fitting[0] != kind or isinstance(value, MapUpdate)) else None


def map_words(low: Lowering, value: Value, declared: MapType, node: Origin) -> Words:
    """The words of a value that is stored as a map."""
    if isinstance(value, MapLiteral) and _is_over_its_keys(value.node) and array_of(declared).head_words <= 1:
        return _literal(low, value, declared)
    if isinstance(value, MapItems | MapLiteral):
        written = value
        return build_map(low, declared, lambda put: each_entry(low, written, put), node)
    value = in_words(low, value, node)
    if isinstance(value, Packed | Stored) and isinstance(value.type, MapType) and value.type != declared:
        return converted_map(low, value, declared, node)
    return pack(low.code, value, declared, node)


def _is_over_its_keys(node: ast.DictComp) -> bool:
    """Whether a comprehension is `{k: ... for k in ...}`, or of `k, v`: then each key comes once, in order."""
    target = node.generators[0].target
    name = target.elts[0] if isinstance(target, ast.Tuple) else target
    named = isinstance(name, ast.Name) and isinstance(node.key, ast.Name) and name.id == node.key.id
    return named and len(node.generators) == 1


def _literal(low: Lowering, literal: MapLiteral, declared: MapType) -> Words:
    node = literal.node
    array = array_of(declared)
    pieces: list[tuple[Place, int, Words]] = []
    domain = _domain(low, literal, declared.key)
    if domain is None:
        return build_map(low, declared, lambda put: each_entry(low, literal, put), node)
    present: list[Expr] = [x.ZERO] * key_count(declared.key)
    for code, item in _entries(low, literal, declared, domain, present):
        pieces.append((array.place(code), array.element.bits, item))
    if declared.total:
        for here in present:
            low.code.check(here, node)
    elif array.head_bits:
        mask: Expr = x.ZERO
        for code, here in enumerate(present):
            mask = x.binary("or", mask, x.place_at(here, code))
        pieces.insert(0, (Place(0, 0), array.head_bits, (mask,)))
    return combine(array.layout.words, pieces)


def _domain(low: Lowering, literal: MapLiteral, key: Type) -> tuple[Value, Value | None] | None:
    """The collection of a map comprehension, and the map whose items these are; None unless its keys are of type
    `key`.
    """
    generator = literal.node.generators[0]
    domain = low.evaluate(generator.iter, literal.scope)
    owner = domain.owner if isinstance(domain, Entries) else None
    if isinstance(domain, Entries) and (domain.kind != "items" or isinstance(domain.owner, Net)):
        return None
    domain = materialize(low, owner or domain, literal.node)
    domain = in_words(low, domain, literal.node) if isinstance(domain, MapItems | MapLiteral) else domain
    kind = domain.type if isinstance(domain, MapUpdate | Packed | Stored) else None
    inner = kind.key if isinstance(kind, MapType) else kind.element if isinstance(kind, SetType) else None
    if isinstance(domain, Numbers) and isinstance(key, IntType):
        inside = key.low <= domain.start.low and domain.stop.high <= key.high + 1
        inner = key if inside and domain.step == 1 else None
    if isinstance(domain, Python) and isinstance(domain.object, SymbolMeta):
        inner = domain.object.kmc_type  # type: ignore[attr-defined]  # every class of symbols has one
    return (domain, domain if owner is not None else None) if inner == key else None


def _entries(
    low: Lowering, literal: MapLiteral, declared: MapType, found_domain: tuple[Value, Value | None],
    present: list[Expr],
) -> list[tuple[int, Words]]:  # fmt: skip
    """The words of each key's value, 0 where the comprehension leaves the key out; fills in which keys there are."""
    node = literal.node
    generator = node.generators[0]
    domain, owner = found_domain
    entries: list[tuple[int, Words]] = []
    for code in range(key_count(declared.key)):
        scope = literal.scope.child()
        here = _in_domain(low, domain, declared.key, code, node)
        if here == x.ZERO:
            continue
        key = _key(declared.key, code)
        low.assign(generator.target, key if owner is None else Several((key, _item(low, owner, code))), scope)
        for test in generator.ifs:
            here = _and(low, here, test, scope)
        if here == x.ZERO:
            continue
        here = low.code.keep(here)
        present[code] = here
        entries.append((code, _value_if(low, here, node.value, declared.value, scope)))
    return entries


def _item(low: Lowering, owner: Value, code: int) -> Value:
    """The value of a map at key `code`; any value if it has no such key."""
    if isinstance(owner, MapUpdate):
        other = _item(low, owner.base, code)
        if owner.key == Const(code):
            return owner.value
        value, setters = low.merge([owner.value, other], ast.Pass())
        drafts = [low.code.capture(lambda s=s, v=v: s(v)) for s, v in zip(setters, (owner.value, other), strict=True)]  # type: ignore[misc]  # bound now
        low.code.branch(x.eq(owner.key, Const(code)), drafts[0], drafts[1])
        return value
    assert isinstance(owner, Packed | Stored)
    return element(owner, Const(code))


def _and(low: Lowering, here: Expr, test: ast.expr, scope: Scope) -> Expr:
    """`here and test`, the test evaluated only where it can matter."""
    operands: list[Expr] = []
    draft = low.code.capture(lambda: operands.append(low.truth(low.evaluate(test, scope), test)))
    if not draft:
        return x.both(here, operands[0])
    name = low.code.fresh("h")
    low.code.emit(Let(name, x.ZERO))
    low.code.into(draft, lambda: low.code.emit(Let(name, operands[0])))
    low.code.branch(here, draft)
    return Var(name)


def _value_if(low: Lowering, here: Expr, value: ast.expr, declared: Type, scope: Scope) -> Words:
    if here == x.ONE:
        return keep_words(
            low.code, pack(low.code, admitted(low, low.evaluate(value, scope), declared, value), declared, value)
        )
    names = [low.code.fresh("v") for _ in range(layout_of(declared).words)]
    low.code.emit(*(Let(name, x.ZERO) for name in names))

    def compute() -> None:
        packed = pack(low.code, admitted(low, low.evaluate(value, scope), declared, value), declared, value)
        low.code.emit(*(Let(name, word) for name, word in zip(names, packed, strict=True)))

    low.code.branch(here, low.code.capture(compute))
    return tuple(Var(name) for name in names)


def _key(declared: Type, code: int) -> Value:
    if isinstance(declared, PairType):
        pair = list(members(declared))[code]
        mask = sum(1 << member.index for member in pair)
        return Packed(declared, (Const(mask),))
    return key_value(declared, Const(code))


def _in_domain(low: Lowering, domain: Value, key: Type, code: int, node: Origin) -> Expr:
    if isinstance(domain, Python) and isinstance(domain.object, SymbolMeta):
        return x.ONE
    return member(low, _key(key, code), domain, node)


def _key_number(low: Lowering, key: Value, declared: MapType, node: Origin) -> Expr:
    """The number of a key, which may be a set or a record that is written in the spec."""
    if not is_plain_key(declared.key):
        key = Packed(declared.key, keep_words(low.code, words_as(low, key, declared.key, node)))
    return key_number(low.code, key, declared, node)


def map_method(low: Lowering, owner: Value, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a map."""
    if isinstance(owner, MapItems | MapLiteral):
        owner = as_map(low, owner, node)
    declared = owner.type if isinstance(owner, Packed | Stored | MapUpdate) else None
    if not isinstance(declared, MapType):
        low.code.refuse(node, f"'{name}' of this value")
    if name in ("items", "values"):
        return Entries(owner, name)
    if name == "keys":
        if declared.total and key_count(declared.key) > WORD:
            return as_collection(low, owner, node)
        return Packed(SetType(declared.key), _present(low, owner, declared))
    values = [low.evaluate(argument, scope) for argument in node.args]
    if isinstance(declared, FreeMap) and len(values) == 2:
        owner = _with_room(low, owner, values, declared, node)
        declared = owner.type
        assert isinstance(declared, MapType)
    if name == "set" and len(values) == 2:
        code = low.code.keep(_key_number(low, values[0], declared, node), "k")
        if not declared.total:
            low.code.check(has_number(_present(low, owner, declared), code), node)
        return MapUpdate(declared, owner, code, admitted(low, values[1], declared.value, node))
    if name == "add" and len(values) == 2 and not declared.total:
        return _grown(low, owner, declared, values[0], admitted(low, values[1], declared.value, node), node)
    if name == "without" and len(values) == 1 and not declared.total:
        return _shrunk(low, owner, declared, values[0], node)
    low.code.refuse(node, f"'{name}' of a map")


def _with_room(low: Lowering, owner: Value, entry: list[Value], declared: FreeMap, node: Origin) -> Packed:
    """A map that is not stored, in a type that holds one more entry."""
    more = map_kind(low, MapItems(((entry[0], entry[1]),)), node)
    wider = declared if more is None else joined_type(declared, more)
    if not isinstance(wider, MapType):
        low.code.refuse(node, "a map of these keys and values", "store it in a field that declares its type")
    return Packed(wider, keep_words(low.code, map_words(low, owner, wider, node)))


def entry(low: Lowering, owner: Value, key: Value, node: Origin) -> Value:
    """The value of a map at one of its keys, or the count of a message in a bag."""
    if isinstance(owner, Net):
        return count_of_message(low, owner, key, node)
    return subscript(low, owner, key, node)


def _shrunk(low: Lowering, owner: Value, declared: MapType, key: Value, node: Origin) -> Value:
    code = low.code.keep(_key_number(low, key, declared, node), "k")
    head = keep_words(low.code, _present(low, owner, declared))
    low.code.check(has_number(head, code), node)
    nothing = Packed(declared.value, (x.ZERO,) * layout_of(declared.value).words)
    changed = list(pack(low.code, MapUpdate(declared, owner, code, nothing), declared, node))
    for place, bit in enumerate(only_number(code, key_count(declared.key))):
        changed[place] = x.binary("xor", changed[place], bit)
    return Packed(declared, tuple(changed))


def _present(low: Lowering, owner: Value, declared: MapType) -> Mask:
    """The mask of the keys of a map; only for a total one of few keys."""
    while isinstance(owner, MapUpdate):
        owner = owner.base
    assert isinstance(owner, Packed | Stored)
    return all_members(key_count(declared.key)) if declared.total else keys_mask(owner)


def _grown(low: Lowering, owner: Value, declared: MapType, key: Value, value: Value, node: Origin) -> Value:
    code = low.code.keep(_key_number(low, key, declared, node), "k")
    low.code.check(x.negate(has_number(_present(low, owner, declared), code)), node)
    changed = list(pack(low.code, MapUpdate(declared, owner, code, value), declared, node))
    for place, bit in enumerate(only_number(code, key_count(declared.key))):
        changed[place] = x.binary("or", changed[place], bit)
    return Packed(declared, tuple(changed))


def subscript(low: Lowering, owner: Value, key: Value, node: Origin) -> Value:
    """`m[k]`: a map at a key."""
    if isinstance(owner, MapUpdate):
        code = _key_number(low, key, owner.type, node)
        if code == owner.key:
            return owner.value
        here = x.eq(code, owner.key)
        value, setters = low.merge([owner.value, subscript(low, owner.base, key, node)], node)
        other = subscript(low, owner.base, key, node)
        changed = owner.value
        drafts = [
            low.code.capture(lambda: setters[0](changed)),
            low.code.capture(lambda: setters[1](other)),
        ]
        low.code.branch(here, drafts[0], drafts[1])
        return value
    if isinstance(owner, MapItems | MapLiteral):
        owner = as_map(low, owner, node)
    if isinstance(owner, Packed | Stored) and isinstance(owner.type, UnionType):
        owner = collection(low.code, owner, node)
    if not isinstance(owner, Packed | Stored) or not isinstance(owner.type, MapType):
        low.code.refuse(node, "brackets on this value")
    code = low.code.keep(_key_number(low, key, owner.type, node), "k")
    if not owner.type.total:
        low.code.check(has_number(keys_mask(owner), code), node)
    return element(owner, code)


def admitted(low: Lowering, value: Value, declared: Any, node: Origin) -> Value:
    """A value that is stored in a field: checked, and in words unless it is a change of the stored value."""
    if isinstance(value, Net) or isinstance(declared, MessageSetType | MessageBagType):
        # A whole network is written down where the successor is.
        return value
    if isinstance(value, MapUpdate | Rec) and value.type == declared:
        return value
    if isinstance(value, Received):
        value = value.value
    if isinstance(value, Stored) and value.type == declared:
        return value
    return lift(declared, words_as(low, value, declared, node))
