"""Lowering of all functions and all sequences over sets: nested loops, one for each key or place.

The code that uses a function or sequence occurs once, in the innermost loop. A key that the set of keys lacks, or a
place beyond the end of a sequence, has one round in its loop, which stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.lowering.context import Body, Lowering
from kmc.compiler.lowering.map_literals import as_listed, placed
from kmc.compiler.values.code import Origin
from kmc.compiler.values.keys import key_value
from kmc.compiler.values.listed_sets import is_list
from kmc.compiler.values.masks import all_members, has_number
from kmc.compiler.values.packing import Words, array_head, element, keep_words, lift, pack, words
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    AllFunctions,
    AllSequences,
    EmptySet,
    MapItems,
    MapLiteral,
    MapUpdate,
    Packed,
    SeqLiteral,
    Stored,
    Value,
)
from kmc.compiler.values.value_types import FreeMap, FreeSeq
from kmc.lang.tree import expression_at
from kmc.lang.types import MapType, SeqType, SetType, Type
from kmc.runtime.state_layout import WORD, key_count, layout_of

_ROUNDS_MAX = 1 << 31


@dataclass(frozen=True, slots=True)
class _Pool:
    """The elements that a loop goes through by number: their type, and how many numbers there are, at most `most`.

    `element` gives, for a number, whether there is an element, and the element.
    """

    kind: Type
    count: Expr
    most: int
    element: Callable[[Expr], tuple[Expr, Value]]


def each_function(low: Lowering, whole: AllFunctions, body: Body, node: Origin) -> None:
    """Call `body` with every function; its keys and values are sets in words where they can be."""
    if isinstance(whole.keys, EmptySet):
        body(MapItems(()))
        return
    if not isinstance(whole.keys, Packed | Stored) or not isinstance(whole.keys.type, SetType):
        low.code.refuse(node, "all functions on these keys", "the keys are identifiers, pairs, enums or numbers")
    if len(words(whole.keys)) > 1 or is_list(whole.keys):
        low.code.refuse(node, f"all functions on keys of more than {WORD} possible values", "name the keys by a type")
    pool = _pool(low, whole.values, node)
    inner = whole.keys.type.element
    mask = low.code.keep(words(whole.keys)[0], "keys")
    if pool is None:
        has_no_key = x.eq(mask, x.ZERO)
        if has_no_key != x.ZERO:
            low.code.branch(has_no_key, low.code.capture(lambda: body(MapItems(()))))
        return
    full = x.low_mask(key_count(inner))
    declared = FreeMap(inner, pool.kind, total=mask == full)
    start: list[Expr] = [x.ZERO] * layout_of(declared).words
    start[0] = x.ZERO if declared.total else mask

    def level(key: int, so_far: Words, used: Expr) -> None:
        if key == key_count(inner):
            body(Packed(declared, so_far))
            return
        here = x.extract(mask, Const(key), 1)
        if here == x.ZERO:
            level(key + 1, so_far, used)
            return

        def with_value(index: Expr, item: Words) -> None:
            update = MapUpdate(declared, Packed(declared, so_far), Const(key), lift(pool.kind, item))
            taken = x.select(here, x.place_at(x.ONE, index), x.ZERO) if whole.different else x.ZERO
            after = low.code.keep(x.binary("or", used, taken), "used") if whole.different else x.ZERO
            level(key + 1, keep_words(low.code, pack(low.code, update, declared, node)), after)

        _each_of(low, pool, here, used, with_value, node)

    level(0, tuple(start), x.ZERO)


def each_sequence(low: Lowering, whole: AllSequences, body: Body, node: Origin) -> None:
    """Call `body` with every sequence."""
    pool = _pool(low, whole.elements, node) if whole.longest > 0 else None
    if pool is None:
        if whole.longest >= 0:
            body(SeqLiteral(()))
        return
    declared = FreeSeq(pool.kind, whole.longest)

    def of_length(length: Expr) -> None:
        start: list[Expr] = [x.ZERO] * layout_of(declared).words
        start[0] = length

        def level(place: int, so_far: Words) -> None:
            if place == whole.longest:
                body(Packed(declared, so_far))
                return
            here = low.code.keep(x.binary("slt", Const(place), length), "here")

            def with_element(_: Expr, item: Words) -> None:
                level(place + 1, keep_words(low.code, placed(declared, so_far, Const(place), item)))

            _each_of(low, pool, here, x.ZERO, with_element, node)

        level(0, tuple(start))

    low.repeated(whole.longest + 1, lambda: low.code.count_up(x.ZERO, Const(whole.longest + 1), of_length, "length"))


def _each_of(
    low: Lowering, pool: _Pool, here: Expr, used: Expr, then: Callable[[Expr, Words], None], node: Origin
) -> None:
    """Call `then` with the number and the words of each element that is not `used`; once with zeros unless `here`."""
    if low.times * pool.most > _ROUNDS_MAX:
        low.code.refuse(node, f"a range of more than {_ROUNDS_MAX} values", "choose the parts one by one: for x in ...")
    stop = pool.count if here == x.ONE else low.code.keep(x.select(here, pool.count, x.ONE), "count")

    def one(index: Expr) -> None:
        is_there, item = pool.element(index)
        wanted = x.both(is_there, x.negate(x.extract(used, index, 1)))
        allowed = wanted if here == x.ONE else x.either(x.negate(here), wanted)

        def go_on() -> None:
            packed = keep_words(low.code, low.words_as(item, pool.kind, node))
            kept = packed if here == x.ONE else tuple(x.select(here, word, x.ZERO) for word in packed)
            then(index, keep_words(low.code, kept))

        low.code.branch(allowed, low.code.capture(go_on))

    low.repeated(pool.most, lambda: low.code.count_up(x.ZERO, stop, one, "element"))


def _pool(low: Lowering, elements: Value, node: Origin) -> _Pool | None:
    """The elements of a set in words by their numbers; of any other collection by their places in a list of them.

    None for a collection that is empty in every state.
    """
    if isinstance(elements, Packed | Stored) and isinstance(elements.type, SetType) and not is_list(elements):
        inner = elements.type.element
        mask = tuple(low.code.keep(word, "values") for word in words(elements))
        count = key_count(inner)
        is_full = mask == all_members(count)
        return _Pool(
            inner,
            Const(count),
            count,
            lambda index: (x.ONE if is_full else has_number(mask, index), key_value(inner, index)),
        )
    listed = as_listed(low, elements, node)
    if listed is None:
        return None
    assert isinstance(listed.type, SeqType)
    length = low.code.keep(array_head(listed), "size")
    return _Pool(listed.type.element, length, listed.type.capacity, lambda index: (x.ONE, element(listed, index)))


def in_functions(low: Lowering, item: Value, whole: AllFunctions, node: Origin) -> Expr:
    """1 if a value is a map with these keys and with values among these."""
    if not _is(item, MapType) and not isinstance(item, MapItems | MapLiteral):
        return x.ZERO
    test = "f.keys() == set(keys) and all(v in values for v in f.values())"
    if whole.different:
        test += " and len(set(f.values())) == len(f)"
    return _tested(low, test, {"f": item, "keys": whole.keys, "values": whole.values}, node)


def in_sequences(low: Lowering, item: Value, whole: AllSequences, node: Origin) -> Expr:
    """1 if a value is a sequence of at most so many of these elements."""
    if not _is(item, SeqType) and not isinstance(item, SeqLiteral):
        return x.ZERO
    test = f"len(s) <= {whole.longest} and all(e in elements for e in s)"
    return _tested(low, test, {"s": item, "elements": whole.elements}, node)


def _is(item: Value, kind: type) -> bool:
    return isinstance(item, Packed | Stored | MapUpdate) and isinstance(item.type, kind)


def _tested(low: Lowering, test: str, names: dict[str, Value], node: Origin) -> Expr:
    return low.truth(low.evaluate(expression_at(test, node), Scope({}, names)), node)
