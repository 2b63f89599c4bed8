"""Maps and lists that a spec writes out, as literals or comprehensions: built entry by entry in variables."""

from __future__ import annotations

import ast
from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.keys import key_code, key_value
from kmc.compiler.values.masks import all_members, each_number, has_number, member_count, put_number, same_mask
from kmc.compiler.values.packing import (
    Words,
    array_of,
    element,
    keep_words,
    keys_mask,
    lift,
    pack,
    value_words,
)
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    Comprehension,
    EmptySet,
    MapItems,
    MapLiteral,
    MapUpdate,
    Messages,
    Net,
    Packed,
    Python,
    SeqLiteral,
    SetLiteral,
    SetOp,
    Several,
    Stored,
    Subsets,
    Value,
)
from kmc.compiler.values.value_types import FreeMap, FreeSeq, type_of_all
from kmc.lang.tree import placed_like
from kmc.lang.types import MapType, SeqType, SetType, Type
from kmc.runtime.state_layout import MASK_MAX, is_numbered, is_plain_key, key_count, layout_of, mask_words

Put = Callable[[Value, Value], None]
ITEMS_MAX = 256
"""Elements of a list that a comprehension makes, and of no declared capacity."""


def each_entry(low: Lowering, written: MapItems | MapLiteral, put: Put) -> None:
    """Call `put` with every key and value of a map that is written in the spec, equal keys as often as they come."""
    if isinstance(written, MapItems):
        for key, value in written.items:
            put(key, value)
        return
    pair = placed_like(ast.Tuple([written.node.key, written.node.value], ast.Load()), written.node)
    node = placed_like(ast.GeneratorExp(pair, written.node.generators), written.node)

    def one(item: Value) -> None:
        assert isinstance(item, Several)
        put(*item.items)

    low.each(Comprehension(node, written.scope), one, node, once=False)


def map_kind(low: Lowering, written: MapItems | MapLiteral, node: Origin) -> MapType | None:
    """The type of a map that is written in the spec; None if it is empty or its keys have no mask."""
    keys: list[Value] = []
    values: list[Value] = []

    def look(key: Value, value: Value) -> None:
        keys.append(key)
        values.append(value)

    low.capture_only(lambda: each_entry(low, written, look))
    key, value = type_of_all(keys), type_of_all(values)
    if key is None or value is None or not _may_be_key(key):
        return None
    return FreeMap(key, value, total=False)


def _may_be_key(kind: Type) -> bool:
    return is_numbered(kind) and key_count(kind) <= MASK_MAX


def as_map(low: Lowering, written: MapItems | MapLiteral, node: Origin) -> Value:
    """A map that is written in the spec, in words; an empty one as it is."""
    if isinstance(written, MapItems) and not written.items:
        return written
    kind = map_kind(low, written, node)
    if kind is None:
        low.code.refuse(node, "a map of these keys and values", "store it in a field that declares its type")
    return Packed(kind, build_map(low, kind, lambda put: each_entry(low, written, put), node))


def in_words(low: Lowering, value: Value, node: Origin) -> Value:
    """A map that was changed, or is written in the spec, in words."""
    if isinstance(value, MapUpdate):
        return Packed(value.type, keep_words(low.code, pack(low.code, value, value.type, node)))
    return as_map(low, value, node) if isinstance(value, MapItems | MapLiteral) else value


def map_length(value: Value) -> Expr:
    """The number of keys of a map in words."""
    if isinstance(value, MapItems):
        return x.ZERO
    assert isinstance(value, Packed | Stored)
    assert isinstance(value.type, MapType)
    return Const(key_count(value.type.key)) if value.type.total else member_count(keys_mask(value))


def build_map(low: Lowering, declared: MapType, source: Callable[[Put], None], node: Origin) -> Words:
    """The words of the map whose entries `source` gives; a check that no key has two values, and each one if total."""
    count = key_count(declared.key)
    if count > MASK_MAX:
        what = f"a map of more than {MASK_MAX:,} keys that is written here"
        low.code.refuse(node, what, "give it value by value: m.set")
    names = [low.code.fresh("map") for _ in range(layout_of(declared).words)]
    present = [low.code.fresh("keys") for _ in range(mask_words(count))]
    keys = tuple(map(Var, present))
    low.code.emit(*(Let(name, x.ZERO) for name in (*present, *names)))
    so_far = Packed(declared, tuple(Var(name) for name in names))

    def put(key: Value, value: Value) -> None:
        if not is_plain_key(declared.key):
            key = Packed(declared.key, keep_words(low.code, low.words_as(key, declared.key, node)))
        code = low.code.keep(key_code(low.code, key, declared.key, node), "k")
        item = lift(declared.value, keep_words(low.code, low.words_as(value, declared.value, node)))
        same: Expr = x.ONE
        for new, old in zip(value_words(item), value_words(element(so_far, code)), strict=True):
            same = x.both(same, x.eq(new, old))
        low.code.check(x.either(x.negate(has_number(keys, code)), same), node)
        changed = keep_words(low.code, pack(low.code, MapUpdate(declared, so_far, code, item), declared, node))
        low.code.emit(*(Let(name, word) for name, word in zip(names, changed, strict=True)))
        put_number(low.code, present, code)

    source(put)
    if declared.total:
        low.code.check(same_mask(keys, all_members(count)), node)
        return so_far.words
    heads = zip(so_far.words, keys, strict=False)
    return (*(x.binary("or", word, head) for word, head in heads), *so_far.words[len(keys) :])


def each_key(low: Lowering, value: Packed | Stored, body: Callable[[Expr, Value, Value], None]) -> None:
    """Call `body` for every key that a map may have: whether it has it, the key, and the value there."""
    assert isinstance(value.type, MapType)
    head = None if value.type.total else tuple(low.code.keep(word, "keys") for word in keys_mask(value))
    if head is not None and len(head) > 1:
        key_type = value.type.key
        each_number(low.code, head, lambda code: body(x.ONE, key_value(key_type, code), element(value, code)))
        return
    for code in range(key_count(value.type.key)):
        here: Expr = x.ONE if head is None else x.extract(head[0], code, 1)
        body(here, key_value(value.type.key, Const(code)), element(value, Const(code)))


def converted_map(low: Lowering, value: Packed | Stored, declared: MapType, node: Origin) -> Words:
    """A map in another type of map."""

    def source(put: Put) -> None:
        each_key(low, value, lambda here, key, item: low.code.branch(here, low.code.capture(lambda: put(key, item))))

    return build_map(low, declared, source, node)


def equal_maps(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
    """1 if two maps have the same keys, and equal values there; of any types."""
    result = low.code.fresh("same")
    low.code.emit(Let(result, x.ONE))

    def one_way(mine: Value, other: Value, *, values: bool) -> None:
        def compare(here: Expr, key: Value, item: Value) -> None:
            def look() -> None:
                there = low.code.keep(low.member(key, other, node))
                same = low.code.fresh("value")
                low.code.emit(Let(same, there))
                if values:
                    low.code.branch(
                        there,
                        low.code.capture(
                            lambda: low.code.emit(Let(same, low.same(item, low.entry(other, key, node), node)))
                        ),
                    )
                low.code.branch(Var(same), [], [Let(result, x.ZERO)])

            low.code.branch(here, low.code.capture(look))

        if isinstance(mine, Packed | Stored):
            each_key(low, mine, compare)

    one_way(left, right, values=True)
    one_way(right, left, values=False)
    return Var(result)


def as_list(low: Lowering, node: ast.ListComp, scope: Scope) -> Value:
    """A list comprehension in words; its capacity is the greatest number of elements that it can have."""
    written = Comprehension(placed_like(ast.GeneratorExp(node.elt, node.generators), node), scope)
    items: list[Value] = []
    most = [0]
    outer = low.times
    low.capture_only(lambda: _check_order(low, low.evaluate(node.generators[0].iter, scope), node))

    def look(item: Value) -> None:
        items.append(item)
        most[0] += max(1, low.times // max(1, outer))

    low.capture_only(lambda: low.each(written, look, node))
    kind = type_of_all(items, joins_symbols=True)
    if not items:
        low.each(written, lambda _: None, node)  # its conditions may fail, though none of them holds
        return SeqLiteral(())
    if kind is None or most[0] > ITEMS_MAX:
        low.code.refuse(
            node, f"a list of these elements, or of more than {ITEMS_MAX}", "bound the range that it runs over"
        )
    return filled(low, FreeSeq(kind, most[0]), written, node)


def as_listed(low: Lowering, whole: Value, node: Origin) -> Packed | None:
    """The different elements of a collection, in words, so that each is found by its place; None if it has none."""
    items: list[Value] = []
    most = [0]
    outer = low.times

    def look(item: Value) -> None:
        items.append(item)
        most[0] += max(1, low.times // max(1, outer))

    low.capture_only(lambda: low.each(whole, look, node))
    kind = type_of_all(items, joins_symbols=True)
    if not items:
        return None
    if kind is None or most[0] > ITEMS_MAX:
        low.code.refuse(node, f"all values of these elements, or of more than {ITEMS_MAX}", "name them by a type")
    return filled(low, FreeSeq(kind, most[0]), whole, node)


def _check_order(low: Lowering, whole: Value, node: ast.ListComp) -> None:
    """Refuse a list over a collection without an order, as the interpreter does (KMC225)."""
    declared = whole.type if isinstance(whole, Packed | Stored) else None
    unordered = isinstance(whole, Python | SetLiteral | SetOp | EmptySet | Subsets | Net | Messages)
    if unordered or isinstance(declared, SetType | MapType):
        low.code.refuse(node, "a list over what has no order", "build a set {... for ... in ...}")


def filled(low: Lowering, declared: SeqType, written: Value, node: Origin) -> Packed:
    """The elements of a collection one after the other."""
    array = array_of(declared)
    names = [low.code.fresh("list") for _ in range(array.layout.words)]
    length = low.code.fresh("length")
    low.code.emit(Let(length, x.ZERO), *(Let(name, x.ZERO) for name in names))

    def append(item: Value) -> None:
        words = keep_words(low.code, low.words_as(item, declared.element, node))
        changed = placed(declared, tuple(Var(name) for name in names), Var(length), words)
        kept = keep_words(low.code, changed)
        low.code.emit(*(Let(name, word) for name, word in zip(names, kept, strict=True)))
        low.code.emit(Let(length, x.add(Var(length), x.ONE)))

    low.each(written, append, node)
    first = x.binary("or", Var(names[0]), Var(length))
    return Packed(declared, (first, *(Var(name) for name in names[1:])))


def placed(declared: SeqType, old: Words, index: Expr, item: Words) -> Words:
    """The words of a sequence with `item` at `index`, where nothing is yet."""
    array = array_of(declared)
    if array.layout.narrow:
        bit = x.add(x.binary("mul", index, Const(array.element.bits)), Const(array.head_bits))
        return (x.binary("or", old[0], x.place_at(item[0], bit)),)
    result = list(old)
    for position in range(declared.capacity):
        place, here = array.place(position), x.eq(index, Const(position))
        for offset, word in enumerate(item):
            at = place.word + offset
            moved = x.place_at(word, place.bit) if array.element.narrow else word
            # The old value occurs once in the new one: otherwise words of many elements would double with each of them.
            result[at] = x.binary("or", result[at], x.select(here, moved, x.ZERO))
    return tuple(result)
