"""Reading parts of values, and packing values into words: the layout seen from the code that is being compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.values.masks import converted_mask, no_members
from kmc.compiler.values.value import (
    Bool,
    EmptySet,
    MapUpdate,
    Nothing,
    Num,
    Packed,
    Rec,
    Received,
    SeqLiteral,
    Stored,
    Sym,
    Value,
)
from kmc.compiler.values.value_types import advice_on_field, is_alternative, is_collection_type
from kmc.lang.domains import describe
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.runtime.kernel_errors import assumed_ends
from kmc.runtime.state_layout import (
    ArrayLayout,
    Place,
    array_layout,
    bits_for,
    is_listed,
    is_scalar,
    key_count,
    layout_of,
    record_layout,
    scalar_count,
    union_layout,
)

Words = tuple[Expr, ...]


def lift(declared: Type, words: Words) -> Value:
    """The value of type `declared` with these words."""
    match declared:
        case BoolType():
            return Bool(words[0])
        case IntType(low, high):
            return Num(x.add(words[0], Const(low)), low, high)
        case EnumType(cls) | IdentType(cls):
            return Sym(cls, words[0])
        case _:
            return Packed(declared, words)


def part(value: Packed | Stored, place: Place, declared: Type) -> Value:
    """The part of `value` at `place`."""
    layout = layout_of(declared)
    if layout.bits == 0:  # one value only, whose place may be behind the last word
        return lift(declared, (x.ZERO,))
    if isinstance(value, Stored):
        stored = Stored(declared, value.pointer, x.add(value.word, Const(place.word)), value.bit + place.bit)
        return lift(declared, words(stored)) if is_scalar(declared) else stored
    if layout.narrow:
        return lift(declared, (x.extract(value.words[place.word], place.bit, layout.bits),))
    return Packed(declared, value.words[place.word : place.word + layout.words])


def words(value: Packed | Stored) -> Words:
    """The words of a value that is already in its layout."""
    if isinstance(value, Packed):
        return value.words
    layout = layout_of(value.type)
    if layout.narrow:
        return (x.extract(x.load(value.pointer, value.word), value.bit, layout.bits),)
    return tuple(x.load(value.pointer, x.add(value.word, Const(word))) for word in range(layout.words))


def field(code: Code, value: Value, name: str, node: Origin) -> Value:
    """Field `name` of a record, of any of its shapes."""
    if isinstance(value, Received):
        return field(code, value.value, name, node)
    if isinstance(value, Rec):
        if name in value.fields:
            return value.fields[name]
        if value.base is None:
            code.refuse(node, f"field '{name}' of {value.type.cls.__name__}")
        return field(code, value.base, name, node)
    if not isinstance(value, (Packed, Stored)):
        code.refuse(node, f"a field of this value: '{name}'")
    if isinstance(value.type, RecordType) and len(value.type.cls.shapes) == 1:
        cls = value.type.cls.shapes[0]
        if name not in cls.fields:
            code.refuse(node, f"field '{name}', which {cls.__name__} does not have", advice_on_field(cls, name))
        return part(value, record_layout(cls).fields[name], cls.fields[name])
    return _union_field(code, value, name, node)


def _union_field(code: Code, value: Packed | Stored, name: str, node: Origin) -> Value:
    if not isinstance(value.type, UnionType | RecordType):
        code.refuse(node, f"a field of {describe(value.type)}")
    union = union_layout(value.type)
    if union.coded:
        code.refuse(node, f"a field of {describe(value.type)}")
    tag = union_tag(value)
    shapes = [kind.cls.shapes[0] for kind in union.alternatives if isinstance(kind, RecordType)]
    having = [shape for shape in shapes if name in shape.fields]
    places = {record_layout(shape).fields[name] for shape in having}
    kinds = {shape.fields[name] for shape in having}
    if len(places) != 1 or len(kinds) != 1:
        code.refuse(node, f"'{name}', which differs between the alternatives", "test isinstance(x, Shape) first")
    allowed = [
        tag_value + union.optional
        for tag_value, kind in enumerate(union.alternatives)
        if isinstance(kind, RecordType) and kind.cls.shapes[0] in having
    ]
    if len(allowed) < len(union.alternatives) + union.optional:
        holds: Expr = x.ZERO
        for tag_value in allowed:
            holds = x.either(holds, x.eq(tag, Const(tag_value)))
        code.check(holds, node)
    payload = union.payload
    inner = places.pop()
    whole = union.layout.narrow
    place = Place(payload.word + inner.word, payload.bit + inner.bit) if whole else Place(1 + inner.word, inner.bit)
    return part(value, place, kinds.pop())


def union_tag(value: Packed | Stored) -> Expr:
    """The tag of a tagged union, or the code of a coded one."""
    assert isinstance(value.type, UnionType | RecordType)
    union = union_layout(value.type)
    bits = union.layout.bits if union.coded else union.tag_bits
    first = words(value)[0]
    return first if union.coded else x.extract(first, 0, bits)


def is_none(value: Value) -> Expr:
    """1 if the value is None."""
    if isinstance(value, Nothing):
        return x.ONE
    if isinstance(value, (Packed, Stored)) and isinstance(value.type, UnionType) and value.type.optional:
        return x.eq(union_tag(value), x.ZERO)
    return x.ZERO


def unwrap(code: Code, value: Value, node: Origin) -> Value:
    """A value that must not be None here, as its only alternative; other values as they are."""
    if not (isinstance(value, (Packed, Stored)) and isinstance(value.type, UnionType)):
        return value
    union = union_layout(value.type)
    if len(union.alternatives) != 1:
        return value
    only = union.alternatives[0]
    if union.optional:
        code.check(x.negate(is_none(value)), node)
    if union.coded:
        return lift(only, (x.sub(union_tag(value), Const(int(union.optional))),))
    return part(value, union.payload, only)


def collection(code: Code, value: Value, node: Origin, kinds: type[Type] | None = None) -> Value:
    """`unwrap`; of a union of several alternatives, its only set, sequence or map, with a check that it is that.

    If `kinds` is given, its only type of that class, which may be that of integers.
    """
    value = unwrap(code, value, node)
    if not (isinstance(value, (Packed, Stored)) and isinstance(value.type, UnionType)):
        return value
    kept = is_collection_type if kinds is None else lambda kind: isinstance(kind, kinds)
    found = [kind for kind in value.type.alternatives if kept(kind)]
    return _narrowed(code, value, found[0], node) if len(found) == 1 else value


def array_of(declared: SeqType | MapType) -> ArrayLayout:
    """The layout of a sequence or map."""
    if isinstance(declared, SeqType):
        return array_layout(declared.element, declared.capacity, bits_for(declared.capacity + 1))
    keys = key_count(declared.key)
    return array_layout(declared.value, keys, 0 if declared.total else keys)


def array_head(value: Packed | Stored) -> Expr:
    """The length of a sequence, or the mask of the keys of a partial map if it is one word."""
    assert isinstance(value.type, SeqType | MapType)
    return x.extract(words(value)[0], 0, array_of(value.type).head_bits)


def keys_mask(value: Packed | Stored) -> Words:
    """The mask of the keys of a partial map."""
    assert isinstance(value.type, MapType)
    count = array_of(value.type).head_words
    return (array_head(value),) if count == 1 else words(value)[:count]


def element(value: Packed | Stored, index: Expr) -> Value:
    """Element `index` (from 0, known to be in range) of a sequence or map."""
    assert isinstance(value.type, SeqType | MapType)
    array = array_of(value.type)
    kind = value.type.element if isinstance(value.type, SeqType) else value.type.value
    count = value.type.capacity if isinstance(value.type, SeqType) else key_count(value.type.key)
    if isinstance(index, Const):  # behind a check that fails, it may be one that the layout has no place for
        return part(value, array.place(min(max(index.value, 0), max(count - 1, 0))), kind)
    bits = array.element.bits
    if array.layout.narrow:
        bit = x.add(x.binary("mul", index, Const(bits)), Const(array.head_bits))
        return lift(kind, (x.extract(words(value)[0], bit, bits),))
    if isinstance(value, Stored):
        return _stored_element(value, array, kind, index)
    if array.head_words > 1:
        return lift(kind, halved(index, [value_words(part(value, array.place(at), kind)) for at in range(count)]))
    chosen = value_words(part(value, array.place(0), kind))
    for position in range(1, count):
        other = value_words(part(value, array.place(position), kind))
        here = x.eq(index, Const(position))
        chosen = tuple(x.select(here, new, old) for new, old in zip(other, chosen, strict=True))
    return lift(kind, chosen)


def halved(index: Expr, options: list[Words]) -> Words:
    """The option with this index, chosen by its bits: of many options the expression is not deep."""
    if len(options) == 1:
        return options[0]
    bit = (len(options) - 1).bit_length() - 1
    lower, upper = halved(index, options[: 1 << bit]), halved(index, options[1 << bit :])
    return tuple(x.select(x.extract(index, bit, 1), new, old) for new, old in zip(upper, lower, strict=True))


def _stored_element(value: Stored, array: ArrayLayout, kind: Type, index: Expr) -> Value:
    first = x.add(value.word, Const(array.head_words))
    if not array.element.narrow:
        return Stored(kind, value.pointer, x.add(first, x.binary("mul", index, Const(array.element.words))), 0)
    word = x.add(first, x.binary("udiv", index, Const(array.per_word)))
    bit = x.binary("mul", x.binary("urem", index, Const(array.per_word)), Const(array.element.bits))
    if array.per_word == 1:
        return part(Stored(kind, value.pointer, word, 0), Place(0, 0), kind)
    return lift(kind, (x.extract(x.load(value.pointer, word), bit, array.element.bits),))


def value_words(value: Value) -> Words:
    """The words of a scalar or of a value in its layout; scalars in the form of their type."""
    match value:
        case Bool(expr) | Sym(_, expr):
            return (expr,)
        case Num(expr, low, _):
            return (x.sub(expr, Const(low)),)
        case Received(stored):
            return words(stored)
        case Packed() | Stored():
            return words(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no words")


def combine(layout_words: int, pieces: list[tuple[Place, int, Words]]) -> Words:
    """Words made of pieces (place, bits of a narrow piece, words); everything else is 0."""
    result: list[Expr] = [x.ZERO] * layout_words
    for place, bits, piece in pieces:
        if bits == 0:
            continue  # a field of one value needs no word, and its place may be behind the last one
        if bits <= 64:
            result[place.word] = x.binary("or", result[place.word], x.place_at(piece[0], place.bit))
        else:
            result[place.word : place.word + len(piece)] = piece
    return tuple(result)


def pack(code: Code, value: Value, declared: Type, node: Origin) -> Words:
    """The words of `value` as a `declared`; emits a check where the value could lie outside of the domain."""
    value = value.value if isinstance(value, Received) else value
    if isinstance(value, (Packed, Stored)) and value.type == declared:
        return words(value)
    if _is_narrower(value, declared):
        return pack(code, _narrowed(code, value, declared, node), declared, node)
    match declared:
        case BoolType() if isinstance(value, Bool):
            return (value.code,)
        case IntType():
            return (_pack_int(code, value, declared, node),)
        case EnumType(cls) | IdentType(cls):
            value = unwrap(code, value, node)
            if isinstance(value, Sym) and value.cls is cls:
                return (value.code,)
        case UnionType():
            return pack_union(code, value, declared, node)
        case RecordType(cls):
            return _pack_record(code, value, declared, node)
        case SetType() | PairType():
            if isinstance(value, EmptySet) and isinstance(declared, SetType):
                return no_members(declared)
            if isinstance(value, (Packed, Stored)) and isinstance(value.type, SetType | PairType):
                if any(isinstance(kind, SetType) and is_listed(kind) for kind in (value.type, declared)):
                    code.refuse(node, f"{describe(value.type)} as {describe(declared)}", "store both as one type")
                return converted_mask(code, words(value), value.type, declared, node)
        case SeqType():
            return _pack_seq(code, value, declared, node)
        case MapType() if isinstance(value, MapUpdate):
            return _pack_update(code, value, declared, node)
    if isinstance(value, (Packed, Stored)) and isinstance(value.type, UnionType):
        return pack(code, unwrap(code, value, node), declared, node)
    code.refuse(node, f"this value as {describe(declared)}")


def _is_narrower(value: Value, declared: Type) -> TypeGuard[Packed | Stored]:
    """The value is of a union of several alternatives, and `declared` is not a union."""
    if not (isinstance(value, (Packed, Stored)) and isinstance(value.type, UnionType)):
        return False
    joint = isinstance(declared, UnionType) or (isinstance(declared, RecordType) and len(declared.cls.shapes) > 1)
    return not joint and len(union_layout(value.type).alternatives) > 1


def _narrowed(code: Code, value: Packed | Stored, declared: Type, node: Origin) -> Value:
    """The value of a union as its one alternative that can be a `declared`; a check where it could be another."""
    fitting = [(here, item) for here, item in alternatives(code, value) if is_alternative(item, declared)]
    if len(fitting) != 1:
        code.refuse(node, f"this value as {describe(declared)}")
    here, item = fitting[0]
    code.check(here, node)
    return item


def _pack_int(code: Code, value: Value, declared: IntType, node: Origin) -> Expr:
    value, (below, above) = unwrap(code, value, node), assumed_ends(declared)
    if not isinstance(value, Num):
        code.refuse(node, f"this value as {describe(declared)}")
    if value.low < declared.low:
        code.check(x.binary("sle", Const(declared.low), value.code), node, below)
    if value.high > declared.high:
        code.check(x.binary("sle", value.code, Const(declared.high)), node, above)
    return x.sub(value.code, Const(declared.low))


def pack_union(code: Code, value: Value, declared: UnionType | RecordType, node: Origin) -> Words:
    """The words of a value as an alternative of a union."""
    union = union_layout(declared)
    if isinstance(value, Nothing):
        if not union.optional:
            code.refuse(node, f"None as {describe(declared)}")
        return (x.ZERO,) * union.layout.words
    if is_joint(value):
        return pack_joint(code, value, declared, node, lambda item: pack_union(code, item, declared, node))
    before = int(union.optional)
    for ordinal, alternative in enumerate(union.alternatives):
        if is_alternative(value, alternative):
            if union.coded:
                return (x.add(Const(before), pack(code, value, alternative, node)[0]),)
            inner = layout_of(alternative)
            tag: Words = (Const(ordinal + union.optional),)
            pieces = [
                (Place(0, 0), union.tag_bits, tag),
                (union.payload, inner.bits, pack(code, value, alternative, node)),
            ]
            return combine(union.layout.words, pieces)
        before += scalar_count(alternative) if union.coded else 0
    code.refuse(node, f"this value as {describe(declared)}")


def is_joint(value: Value) -> TypeGuard[Packed | Stored]:
    """Return whether a value is of a union, or of a record type with several shapes."""
    kind = value.type if isinstance(value, (Packed, Stored)) else None
    return isinstance(kind, UnionType) or (isinstance(kind, RecordType) and len(kind.cls.shapes) > 1)


def pack_joint(
    code: Code,
    value: Packed | Stored,
    declared: UnionType | RecordType,
    node: Origin,
    pack_one: Callable[[Value], Words],
) -> Words:
    """The words of a value of one union as a value of another; `pack_one` gives those of an alternative."""
    assert isinstance(value.type, UnionType | RecordType)
    if value.type == declared:
        return words(value)
    source, target = union_layout(value.type), union_layout(declared)
    if source.optional and not target.optional:
        code.check(x.negate(is_none(value)), node)
    names = [code.fresh("u") for _ in range(target.layout.words)]
    code.emit(*(Let(name, x.ZERO) for name in names))
    for here, item in alternatives(code, value):
        if any(is_alternative(item, other) for other in target.alternatives):

            def convert(item: Value = item) -> None:
                code.emit(*(Let(name, word) for name, word in zip(names, pack_one(item), strict=True)))

            code.branch(here, code.capture(convert))
        else:
            code.check(x.negate(here), node)
    return tuple(Var(name) for name in names)


def alternatives(code: Code, value: Packed | Stored) -> Iterator[tuple[Expr, Value]]:
    """Each alternative of a union except None: whether the value is one, and the value as that alternative."""
    assert isinstance(value.type, UnionType | RecordType)
    union = union_layout(value.type)
    tag = code.keep(union_tag(value), "tag")
    first = int(union.optional)
    for kind in union.alternatives:
        count = scalar_count(kind) if union.coded else 1
        here = x.both(x.binary("sle", Const(first), tag), x.binary("slt", tag, Const(first + count)))
        item = lift(kind, (x.sub(tag, Const(first)),)) if union.coded else part(value, union.payload, kind)
        yield here, item
        first += count


def _pack_record(code: Code, value: Value, declared: RecordType, node: Origin) -> Words:
    shapes = declared.cls.shapes
    if len(shapes) > 1:
        return pack_union(code, value, declared, node)
    cls = shapes[0]
    if isinstance(value, (Packed, Stored)) and isinstance(value.type, UnionType):
        return pack(code, unwrap(code, value, node), declared, node)
    if not isinstance(value, Rec) or value.type.cls.shapes != (cls,):
        code.refuse(node, f"this value as {cls.__name__}")
    layout = record_layout(cls)
    pieces = []
    for name, kind in cls.fields.items():
        inner = field(code, value, name, node)
        pieces.append((layout.fields[name], layout_of(kind).bits, pack(code, inner, kind, node)))
    return combine(layout.layout.words, pieces)


def _pack_seq(code: Code, value: Value, declared: SeqType, node: Origin) -> Words:
    if isinstance(value, (Packed, Stored)) and isinstance(value.type, SeqType):
        length = code.keep(array_head(value))
        if value.type.capacity > declared.capacity:
            code.check(x.binary("sle", length, Const(declared.capacity)), node)
        items = [element(value, Const(k)) for k in range(min(value.type.capacity, declared.capacity))]
        if value.type.element != declared.element:
            items = [_item_if(code, x.binary("slt", Const(k), length), i, declared, node) for k, i in enumerate(items)]
        return make_seq(code, declared, length, items, node)
    if not isinstance(value, SeqLiteral):
        code.refuse(node, f"this value as {describe(declared)}")
    if len(value.items) > declared.capacity:
        code.check(x.ZERO, node)
    return make_seq(code, declared, Const(len(value.items)), list(value.items[: declared.capacity]), node)


def _item_if(code: Code, here: Expr, item: Value, declared: SeqType, node: Origin) -> Value:
    """An item converted to the element type; its words are 0 beyond the end of the sequence."""
    names = [code.fresh("e") for _ in range(layout_of(declared.element).words)]
    code.emit(*(Let(name, x.ZERO) for name in names))

    def convert() -> None:
        packed = pack(code, item, declared.element, node)
        code.emit(*(Let(name, word) for name, word in zip(names, packed, strict=True)))

    code.branch(here, code.capture(convert))
    return Packed(declared.element, tuple(Var(name) for name in names))


def make_seq(code: Code, declared: SeqType, length: Expr, items: list[Value], node: Origin) -> Words:
    """A sequence of this length; elements beyond it must be 0 already."""
    array = array_of(declared)
    pieces = [(array.place(k), array.element.bits, pack(code, i, declared.element, node)) for k, i in enumerate(items)]
    return combine(array.layout.words, [(Place(0, 0), array.head_bits, (length,)), *pieces])


def _pack_update(code: Code, value: MapUpdate, declared: MapType, node: Origin) -> Words:
    array = array_of(declared)
    old = pack(code, value.base, declared, node)
    new = pack(code, value.value, declared.value, node)
    if array.layout.narrow:
        bit = x.add(x.binary("mul", value.key, Const(array.element.bits)), Const(array.head_bits))
        constant = bit.value if isinstance(bit, Const) else bit
        return (x.replace(old[0], constant, array.element.bits, new[0]),)
    result = list(old)
    for position in range(key_count(declared.key)):
        place = array.place(position)
        here = x.eq(value.key, Const(position))
        if array.element.narrow:
            # Use the old word once: an expression that uses it twice doubles in size with every element.
            taken = ((1 << array.element.bits) - 1) << place.bit
            kept = x.binary("and", result[place.word], x.select(here, Const(x.signed(~taken)), Const(-1)))
            result[place.word] = x.binary("or", kept, x.select(here, x.place_at(new[0], place.bit), x.ZERO))
        else:
            for offset, word in enumerate(new):
                result[place.word + offset] = x.select(here, word, result[place.word + offset])
    return tuple(result)


def keep_words(code: Code, words: Words) -> Words:
    """The words in variables."""
    return tuple(code.keep(word) for word in words)
