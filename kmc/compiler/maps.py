"""Maps while they are compiled: literals, updates, and partial maps that grow."""

from __future__ import annotations

import ast
from typing import Any

from kmc.compiler import exprs as x
from kmc.compiler.ir import Const, Expr, Let, Var
from kmc.compiler.iteration import settled
from kmc.compiler.keys import key_number
from kmc.compiler.lower import Lowering
from kmc.compiler.membership import member
from kmc.compiler.parts import Words, array_head, array_of, combine, element, keep_words, lift, pack
from kmc.compiler.scope import Scope
from kmc.compiler.values import (
    Comprehension,
    Entries,
    MapLiteral,
    MapUpdate,
    Net,
    Packed,
    Python,
    Rec,
    Received,
    SeqLiteral,
    SetLiteral,
    Stored,
    Value,
)
from kmc.kernels.layout import Place, key_count, layout_of
from kmc.lang.domains import members
from kmc.lang.symbols import SymbolMeta
from kmc.lang.types import MapType, PairType, SetType, Type


def map_words(low: Lowering, value: Value, declared: MapType, node: ast.AST) -> Words:
    """The words of a value that is stored as a map."""
    if isinstance(value, MapLiteral):
        return _literal(low, value, declared)
    return pack(low.code, value, declared, node)


def _literal(low: Lowering, literal: MapLiteral, declared: MapType) -> Words:
    node = literal.node
    array = array_of(declared)
    pieces: list[tuple[Place, int, Words]] = []
    if isinstance(node, ast.Dict):
        if node.keys or (declared.total and key_count(declared.key)):
            low.code.refuse(node, "a map literal with keys", "write a comprehension over the key type")
        return (x.ZERO,) * array.layout.words
    present: list[Expr] = [x.ZERO] * key_count(declared.key)
    for number, item in _entries(low, literal, declared, present):
        pieces.append((array.place(number), array.element.bits, item))
    if declared.total:
        for number, here in enumerate(present):
            low.code.check(here, node)
            del number
    elif array.head_bits:
        mask: Expr = x.ZERO
        for number, here in enumerate(present):
            mask = x.binary("or", mask, x.place_at(here, number))
        pieces.insert(0, (Place(0, 0), array.head_bits, (mask,)))
    return combine(array.layout.words, pieces)


def _entries(low: Lowering, literal: MapLiteral, declared: MapType, present: list[Expr]) -> list[tuple[int, Words]]:
    """The words of each key's value, 0 where the comprehension leaves the key out; fills in which keys there are."""
    node = literal.node
    assert isinstance(node, ast.DictComp)
    generator = node.generators[0]
    domain = low.evaluate(generator.iter, literal.scope)
    pairs = isinstance(domain, Entries) and domain.kind == "items" and isinstance(generator.target, ast.Tuple)
    name = generator.target.elts[0] if pairs and isinstance(generator.target, ast.Tuple) else generator.target
    names = [part.id for part in (name, node.key) if isinstance(part, ast.Name)]
    if len(node.generators) != 1 or len(names) != 2 or names[0] != names[1]:
        low.code.refuse(node, "this map comprehension", "write {k: ... for k in <the keys>}")
    owner = domain.owner if isinstance(domain, Entries) else None
    domain = settled(low, owner or domain, node)
    found: list[tuple[int, Words]] = []
    for number in range(key_count(declared.key)):
        scope = literal.scope.child()
        here = _in_domain(low, domain, declared.key, number, node)
        if here == x.ZERO:
            continue
        key = _key(declared.key, number)
        low.assign(generator.target, key if owner is None else SeqLiteral((key, _item(low, owner, number))), scope)
        for test in generator.ifs:
            here = _and(low, here, test, scope)
        if here == x.ZERO:
            continue
        here = low.code.keep(here)
        present[number] = here
        found.append((number, _value_if(low, here, node.value, declared.value, scope)))
    return found


def _item(low: Lowering, owner: Value, number: int) -> Value:
    """What a map has at key `number`; anything if it has no such key."""
    if isinstance(owner, MapUpdate):
        other = _item(low, owner.base, number)
        if owner.key == Const(number):
            return owner.value
        value, setters = low.meet([owner.value, other], ast.Pass())
        drafts = [low.code.capture(lambda s=s, v=v: s(v)) for s, v in zip(setters, (owner.value, other), strict=True)]  # type: ignore[misc]  # bound now
        low.code.branch(x.eq(owner.key, Const(number)), drafts[0], drafts[1])
        return value
    assert isinstance(owner, Packed | Stored)
    return element(owner, Const(number))


def _and(low: Lowering, here: Expr, test: ast.expr, scope: Scope) -> Expr:
    """`here and test`, the test evaluated only where it can matter."""
    found: list[Expr] = []
    draft = low.code.capture(lambda: found.append(low.truth(low.evaluate(test, scope), test)))
    if not draft:
        return x.both(here, found[0])
    name = low.code.fresh("h")
    low.code.emit(Let(name, x.ZERO))
    low.code.into(draft, lambda: low.code.emit(Let(name, found[0])))
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
        parts = pack(low.code, admitted(low, low.evaluate(value, scope), declared, value), declared, value)
        low.code.emit(*(Let(name, word) for name, word in zip(names, parts, strict=True)))

    low.code.branch(here, low.code.capture(compute))
    return tuple(Var(name) for name in names)


def _key(declared: Type, number: int) -> Value:
    if isinstance(declared, PairType):
        pair = list(members(declared))[number]
        mask = sum(1 << member.index for member in pair)
        return Packed(declared, (Const(mask),))
    return lift(declared, (Const(number),))


def _in_domain(low: Lowering, domain: Value, key: Type, number: int, node: ast.AST) -> Expr:
    if isinstance(domain, Python) and isinstance(domain.object, SymbolMeta):
        return x.ONE
    if isinstance(domain, MapUpdate) or (
        isinstance(domain, Packed | Stored) and isinstance(domain.type, MapType | SetType)
    ):
        return member(low, _key(key, number), domain, node)
    low.code.refuse(node, "a map over this domain", "run over a key type, a set, or another map")


def map_method(low: Lowering, owner: Value, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a map."""
    declared = owner.type if isinstance(owner, Packed | Stored | MapUpdate) else None
    if not isinstance(declared, MapType):
        low.code.refuse(node, f"'{name}' of this value")
    if name in ("items", "values"):
        return Entries(owner, name)
    if name == "keys":
        head = _present(low, owner, declared)
        return Packed(SetType(declared.key), (head,))
    values = [low.evaluate(argument, scope) for argument in node.args]
    if name == "set" and len(values) == 2:
        number = low.code.keep(key_number(low.code, values[0], declared, node), "k")
        if not declared.total:
            low.code.check(x.extract(_present(low, owner, declared), number, 1), node)
        return MapUpdate(declared, owner, number, admitted(low, values[1], declared.value, node))
    if name == "add" and len(values) == 2 and not declared.total:
        return _grown(low, owner, declared, values[0], admitted(low, values[1], declared.value, node), node)
    if name == "without" and len(values) == 1 and not declared.total:
        return _shrunk(low, owner, declared, values[0], node)
    low.code.refuse(node, f"'{name}' of a map")


def value_at(low: Lowering, owner: Value, key: Value, node: ast.AST) -> Value:
    """A map at a key that it has."""
    return subscript(low, owner, key, node)


def _shrunk(low: Lowering, owner: Value, declared: MapType, key: Value, node: ast.AST) -> Value:
    number = low.code.keep(key_number(low.code, key, declared, node), "k")
    head = low.code.keep(_present(low, owner, declared))
    low.code.check(x.extract(head, number, 1), node)
    nothing = Packed(declared.value, (x.ZERO,) * layout_of(declared.value).words)
    changed = list(pack(low.code, MapUpdate(declared, owner, number, nothing), declared, node))
    changed[0] = x.binary("xor", changed[0], x.place_at(x.ONE, number))
    return Packed(declared, tuple(changed))


def _present(low: Lowering, owner: Value, declared: MapType) -> Expr:
    while isinstance(owner, MapUpdate):
        owner = owner.base
    assert isinstance(owner, Packed | Stored)
    return x.low_mask(key_count(declared.key)) if declared.total else array_head(owner)


def _grown(low: Lowering, owner: Value, declared: MapType, key: Value, value: Value, node: ast.AST) -> Value:
    number = low.code.keep(key_number(low.code, key, declared, node), "k")
    low.code.check(x.negate(x.extract(_present(low, owner, declared), number, 1)), node)
    changed = list(pack(low.code, MapUpdate(declared, owner, number, value), declared, node))
    changed[0] = x.binary("or", changed[0], x.place_at(x.ONE, number))
    return Packed(declared, tuple(changed))


def subscript(low: Lowering, owner: Value, key: Value, node: ast.AST) -> Value:
    """`m[k]`: a map at a key."""
    if isinstance(owner, MapUpdate):
        number = key_number(low.code, key, owner.type, node)
        if number == owner.key:
            return owner.value
        here = x.eq(number, owner.key)
        value, setters = low.meet([owner.value, subscript(low, owner.base, key, node)], node)
        other = subscript(low, owner.base, key, node)
        drafts = [
            low.code.capture(lambda: setters[0](owner.value)),
            low.code.capture(lambda: setters[1](other)),
        ]
        low.code.branch(here, drafts[0], drafts[1])
        return value
    if isinstance(owner, MapLiteral):
        low.code.refuse(node, "a key of a map that is written here")
    if not isinstance(owner, Packed | Stored) or not isinstance(owner.type, MapType):
        low.code.refuse(node, "brackets on this value")
    number = low.code.keep(key_number(low.code, key, owner.type, node), "k")
    if not owner.type.total:
        low.code.check(x.extract(array_head(owner), number, 1), node)
    return element(owner, number)


def admitted(low: Lowering, value: Value, declared: Any, node: ast.AST) -> Value:
    """A value that is stored in a field: checked, and in words unless it is a change of what is stored already."""
    if isinstance(value, Net):
        return value
    if isinstance(value, Comprehension | SetLiteral):
        value = settled(low, value, node)
    if isinstance(value, MapUpdate | Rec) and value.type == declared:
        return value
    if isinstance(declared, MapType):
        return Packed(declared, map_words(low, value, declared, node))
    if isinstance(value, Received):
        value = value.value
    if isinstance(value, Stored) and value.type == declared:
        return value
    return lift(declared, pack(low.code, value, declared, node))
