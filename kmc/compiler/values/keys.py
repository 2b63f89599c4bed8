"""Keys of maps and members of sets by number: the place among `kmc.lang.domains.members` of their type.

Scalars are their numbers, and a set is its mask. A record is a number whose digits are those of its fields; a union
counts through its alternatives. Pairs, sequences and maps are looked up in a table.
"""

from __future__ import annotations

from functools import lru_cache

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.values.packing import Words, alternatives, combine, field, lift, pack, unwrap, value_words
from kmc.compiler.values.value import Packed, Rec, Value
from kmc.lang.domains import members
from kmc.lang.types import MapType, PairType, RecordType, SeqType, SetType, Type, UnionType
from kmc.runtime.codec import value_words as words_of
from kmc.runtime.state_layout import (
    LISTED_MAX,
    WORD,
    Place,
    key_count,
    layout_of,
    record_layout,
    scalar_count,
    union_layout,
)


def key_number(code: Code, key: Value, declared: MapType, node: Origin) -> Expr:
    """The number of a key."""
    return key_code(code, key, declared.key, node)


def key_code(code: Code, key: Value, declared: Type, node: Origin) -> Expr:
    """The number of a value among the values of its type."""
    number = _code(code, key, declared, node)
    if isinstance(number, Const) and not 0 <= number.value < key_count(declared):
        return x.ZERO  # behind a check that fails: no place is computed from it
    return number


def _code(code: Code, key: Value, declared: Type, node: Origin) -> Expr:
    match declared:
        case PairType():
            return _pair_number(pack(code, key, declared, node)[0], layout_of(declared).bits)
        case RecordType() | SetType() | SeqType() | MapType():
            key = unwrap(code, key, node)
            if not (isinstance(key, Rec) and isinstance(declared, RecordType) and key.type == declared):
                key = Packed(declared, pack(code, key, declared, node))
            return _number(code, key, declared, node)
        case UnionType():
            return _number(code, Packed(declared, pack(code, key, declared, node)), declared, node)
        case _:
            return pack(code, unwrap(code, key, node), declared, node)[0]


def _number(code: Code, value: Value, declared: Type, node: Origin) -> Expr:
    """The number of a value that has this type."""
    match declared:
        case RecordType(cls) if len(cls.shapes) == 1:
            number: Expr = x.ZERO
            for name, kind in cls.shapes[0].fields.items():
                digit = key_code(code, field(code, value, name, node), kind, node)
                number = x.add(x.binary("mul", number, Const(key_count(kind))), digit)
            return code.keep(number, "number")
        case RecordType() | UnionType():
            assert isinstance(value, Packed)
            return _number_in_union(code, value, declared, node)
        case SeqType() | MapType():
            table = {bits: number for number, bits in enumerate(_listed(declared, key_count(declared)))}
            return code.keep(_looked_up(code.keep(value_words(value)[0]), table), "number")
        case PairType():
            return _pair_number(value_words(value)[0], layout_of(declared).bits)
        case _:
            return value_words(value)[0]


def _number_in_union(code: Code, value: Packed, declared: UnionType | RecordType, node: Origin) -> Expr:
    union = union_layout(declared)
    if union.coded:
        return value.words[0]
    number: Expr = x.ZERO
    before = int(union.optional)
    kept = Packed(declared, tuple(code.keep(word) for word in value.words))
    for kind, (here, item) in zip(union.alternatives, alternatives(code, kept), strict=True):
        mine = x.add(Const(before), _number(code, item, kind, node))
        number = x.select(here, mine, number)
        before += key_count(kind)
    return code.keep(number, "number")


def key_value(declared: Type, code: Expr) -> Value:
    """The value with this number."""
    return lift(declared, _words(declared, code))


def _words(declared: Type, code: Expr) -> Words:
    """The words of the value with this number, in the layout of its type."""
    match declared:
        case PairType():
            masks = _pair_masks(scalar_count(declared.element))
            return (_looked_up(code, dict(enumerate(masks))),)
        case RecordType(cls) if len(cls.shapes) == 1:
            layout = record_layout(cls.shapes[0])
            pieces: list[tuple[Place, int, Words]] = []
            rest = code
            for name, kind in reversed(cls.shapes[0].fields.items()):
                digit = x.binary("urem", rest, Const(key_count(kind)))
                rest = x.binary("udiv", rest, Const(key_count(kind)))
                pieces.append((layout.fields[name], layout_of(kind).bits, _words(kind, digit)))
            return combine(layout.layout.words, pieces)
        case RecordType() | UnionType():
            return _words_in_union(declared, code)
        case SeqType() | MapType():
            return (_looked_up(code, dict(enumerate(_listed(declared, key_count(declared))))),)
        case _:
            return (code,)


def _words_in_union(declared: UnionType | RecordType, code: Expr) -> Words:
    union = union_layout(declared)
    if union.coded:
        return (code,)
    result: Words = (x.ZERO,) * union.layout.words
    before = int(union.optional)
    for tag, kind in enumerate(union.alternatives, int(union.optional)):
        inner = _words(kind, x.sub(code, Const(before)))
        pieces = [
            (Place(0, 0), union.tag_bits, (Const(tag),)),
            (union.payload, layout_of(kind).bits, inner),
        ]
        mine = combine(union.layout.words, pieces)
        is_before = x.binary("slt", code, Const(before))
        result = tuple(x.select(is_before, old, new) for old, new in zip(result, mine, strict=True))
        before += key_count(kind)
    return result


@lru_cache(maxsize=256)
def _listed(declared: Type, _: int) -> tuple[int, ...]:
    """The word of each value, by number; by the count too, since files that are loaded later may add shapes."""
    return tuple(words_of(value, declared)[0] for value in members(declared))


def _pair_number(mask: Expr, count: int) -> Expr:
    return _looked_up(mask, {mask: index for index, mask in enumerate(_pair_masks(count))})


def _pair_masks(count: int) -> list[int]:
    return [1 << first | 1 << second for first in range(count) for second in range(first + 1, count)]


def _looked_up(key: Expr, table: dict[int, int]) -> Expr:
    """`table[key]`; 0 for another key. A small table is one constant, and an entry some bits of it."""
    width = max([*table.values(), 1]).bit_length()
    if not isinstance(key, Const) and (max([*table, 0]) + 1) * width <= WORD:
        whole = sum(value << index * width for index, value in table.items())
        at = x.binary("mul", key, Const(width))
        return x.binary("and", x.binary("lshr", Const(x.signed(whole)), at), x.low_mask(width))
    if len(table) > LISTED_MAX:
        cases = [
            x.select(x.eq(key, Const(x.signed(at))), Const(x.signed(value)), x.ZERO) for at, value in table.items()
        ]
        return _one_of(cases)
    chosen: Expr = x.ZERO
    for index, value in table.items():
        chosen = x.select(x.eq(key, Const(x.signed(index))), Const(x.signed(value)), chosen)
    return chosen


def _one_of(cases: list[Expr]) -> Expr:
    """The only case that is not 0, in an expression that is not deep."""
    if len(cases) == 1:
        return cases[0]
    middle = len(cases) // 2
    return x.binary("or", _one_of(cases[:middle]), _one_of(cases[middle:]))
