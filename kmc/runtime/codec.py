"""States to rows of words and back, in plain Python: for initial states, traces, and as the oracle of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, assert_never

from kmc.lang.assumed_range import AssumedRangeLeft, forget_with_range
from kmc.lang.domains import members, number_of
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, bag_of_messages, set_of_messages
from kmc.lang.order import ordered
from kmc.lang.records import State
from kmc.lang.seqs import SeqValue, seq_literal
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnboundedInt,
    UnionType,
)
from kmc.runtime import hashing
from kmc.runtime.mixing import mix
from kmc.runtime.state_layout import (
    Layout,
    NetworkLayout,
    RowLayout,
    array_layout,
    bits_for,
    exact,
    is_listed,
    is_scalar,
    key_count,
    layout_of,
    list_type,
    network_layout,
    record_layout,
    row_layout,
    scalar_count,
    union_layout,
)


def scalar_code(value: Any, declared: Type) -> int:
    """The number of a scalar value. Raises AssumedRangeLeft."""
    match declared:
        case UnboundedInt(low, high) if not low <= value <= high:
            raise AssumedRangeLeft(below=value < low, value=value)
        case IntType(low, _):
            return int(value) - low
        case BoolType():
            return int(value)
        case _:
            index: int = value.index
            return index


def scalar_value(code: int, declared: Type) -> Any:
    """The scalar value with this number."""
    return declared.low + code if isinstance(declared, IntType) else members(declared)[code]


def value_words(value: Any, declared: Type) -> list[int]:
    """The words of a value in the layout of its type."""
    return _words(_bits(value, declared), layout_of(declared))


def _bits(value: Any, declared: Type) -> int:
    """A value as one big integer, in the layout of its type; wide values are multiples of whole words."""
    match declared:
        case BoolType() | IntType() | EnumType() | IdentType():
            return scalar_code(value, declared)
        case SetType() if is_listed(declared):
            return _list_bits(value, list_type(declared))
        case SetType(element) | PairType(element):
            return sum(1 << _number(item, element) for item in value)
        case RecordType(cls) if len(cls.shapes) == 1:
            return _record_bits(value, cls.shapes[0])
        case RecordType() | UnionType():
            return _union_bits(value, declared)
        case SeqType(element, capacity):
            return _array_bits(list(enumerate(value)), element, capacity, bits_for(capacity + 1), len(value))
        case MapType(key, element, total):
            keys = key_count(key)
            items = [(_number(k, key), item) for k, item in value.items()]
            head = 0 if total else sum(1 << index for index, _ in items)
            return _array_bits(items, element, keys, 0 if total else keys, head)
        case MessageSetType() | MessageBagType():
            raise AssertionError("networks are laid out by rows")
        case _:
            assert_never(declared)


def _list_bits(members_of: Any, declared: SeqType) -> int:
    """A set that is stored as a list. Raises AssumedRangeLeft."""
    if len(members_of) > declared.capacity:
        raise AssumedRangeLeft(members=True)
    array = array_layout(declared.element, declared.capacity, bits_for(declared.capacity + 1))
    in_order = sorted(_bits(item, declared.element) for item in members_of)
    places = map(array.place, range(len(in_order)))
    return len(in_order) + sum(
        bits << place.word * 64 + place.bit for bits, place in zip(in_order, places, strict=True)
    )


def _number(value: Any, declared: Type) -> int:
    """The number of an element of a set or of a key of a map. Raises AssumedRangeLeft."""
    return scalar_code(value, declared) if isinstance(declared, UnboundedInt) else number_of(value, declared)


def _members(declared: Type) -> Sequence[Any]:
    """The values that have these numbers."""
    return range(declared.low, declared.high + 1) if isinstance(declared, UnboundedInt) else members(declared)


# Records of one class are equal only if their bits are: no field may hold both TRUE and 1.
@lru_cache(maxsize=1 << 13)
def _record_bits(record: Any, cls: Any) -> int:
    places = record_layout(cls).fields
    return sum(
        _bits(getattr(record, field), declared) << (places[field].word * 64 + places[field].bit)
        for field, declared in cls.fields.items()
    )


def _union_bits(value: Any, declared: UnionType | RecordType) -> int:
    union = union_layout(declared)
    if value is None:
        return 0
    before = int(union.optional)
    for ordinal, alternative in enumerate(union.alternatives):
        if _fits(value, alternative):
            if union.coded:
                return before + scalar_code(value, alternative)
            place = union.payload
            return (ordinal + union.optional) | _bits(value, alternative) << (place.word * 64 + place.bit)
        before += scalar_count(alternative) if union.coded else 0
    raise AssertionError(f"{value!r} is in no alternative")


def _fits(value: Any, declared: Type) -> bool:
    match declared:
        case BoolType():
            return isinstance(value, bool)
        case UnboundedInt():
            return type(value) is int
        case IntType(low, high):
            return type(value) is int and low <= value <= high
        case EnumType(cls) | IdentType(cls):
            return type(value) is cls
        case RecordType(cls):
            return type(value) is cls.shapes[0]
        case SetType() | PairType():
            return isinstance(value, frozenset)
        case SeqType():
            return isinstance(value, SeqValue)
        case MapType():
            return isinstance(value, MapValue)
        case _:
            return False


def _array_bits(items: list[tuple[int, Any]], element: Type, count: int, head_bits: int, head: int) -> int:
    array = array_layout(element, count, head_bits)
    total = head
    for index, item in items:
        place = array.place(index)
        total |= _bits(item, element) << (place.word * 64 + place.bit)
    return total


def _words(bits: int, layout: Layout) -> list[int]:
    return [bits >> (64 * word) & hashing.MASK for word in range(layout.words)]


def encode_message(message: Any, network: NetworkLayout, count: int) -> list[int]:
    """The entry of a message with its count (0 in a set)."""
    cls: Any = type(message)
    place = network.payload
    bits = count | network.shapes.index(exact(cls)) << network.count_bits
    bits |= _record_bits(message, cls) << (place.word * 64 + place.bit)
    return [bits >> (64 * word) & hashing.MASK for word in range(network.words)]


def encode_row(state: State) -> list[int]:
    """The row of a state, with its hash sum; entries of networks in display order."""
    cls: Any = type(state)
    row = row_layout(cls)
    fixed = 0
    for field, place in row.fixed.fields.items():
        fixed |= _bits(getattr(state, field), cls.fields[field]) << (place.word * 64 + place.bit)
    words = [0, *_words(fixed, row.fixed.layout)]
    networks = []
    for field, network in row.networks:
        value = getattr(state, field)
        counts = value.count if isinstance(value, MessageBagValue) else lambda message: 0
        networks.append([encode_message(message, network, counts(message)) for message in ordered(value)])
    words += [len(entries) for entries in networks]
    for entries in networks:
        for entry in entries:
            words += entry
    words[0] = hash_sum(words, row)
    return words


def hash_sum(words: list[int], row: RowLayout, shift: int = 0) -> int:
    """The hash sum of a row, from its words alone; the second one if `shift` is `hashing.SECOND`."""
    total = sum(mix(words[1 + index], 1 + index + shift) for index in range(row.fixed_words))
    position = row.entries
    for index, (_, network) in enumerate(row.networks):
        for _ in range(words[row.counts + index]):
            total += hashing.entry_term(words[position : position + network.words], hashing.network_salt(index), shift)
            position += network.words
    return total & hashing.MASK


def decode_row(words: list[int], state_class: RecordMeta) -> State:
    """The state of a row."""
    row = row_layout(state_class)
    fixed = sum(word << (64 * index) for index, word in enumerate(words[1 : 1 + row.fixed_words]))
    fields = {
        field: _value(fixed >> (place.word * 64 + place.bit), state_class.fields[field])
        for field, place in row.fixed.fields.items()
    }
    position = row.entries
    for index, (field, network) in enumerate(row.networks):
        entries = []
        for _ in range(words[row.counts + index]):
            bits = sum(word << (64 * k) for k, word in enumerate(words[position : position + network.words]))
            entries.append(_message(bits, network))
            position += network.words
        bag = isinstance(state_class.fields[field], MessageBagType)
        fields[field] = bag_of_messages(entries) if bag else set_of_messages(message for message, _ in entries)
    state: State = state_class(**fields)
    return state


def _message(bits: int, network: NetworkLayout) -> tuple[Any, int]:
    count = bits & ((1 << network.count_bits) - 1)
    shape = network.shapes[bits >> network.count_bits & ((1 << network.tag_bits) - 1)].shapes[0]
    place = network.payload
    return _record(bits >> (place.word * 64 + place.bit), shape), count


# States that are decoded together share most of their records. The bits are those of the record alone.
@lru_cache(maxsize=1 << 13)
def _record(bits: int, cls: RecordMeta) -> Any:
    places = record_layout(cls).fields
    return cls(
        **{field: _value(bits >> (places[field].word * 64 + places[field].bit), t) for field, t in cls.fields.items()}
    )


def _value(bits: int, declared: Type) -> Any:
    """The value in the lowest bits of `bits`."""
    layout = layout_of(declared)
    bits &= (1 << (layout.bits if layout.narrow else 64 * layout.words)) - 1
    match declared:
        case BoolType() | IntType() | EnumType() | IdentType():
            return scalar_value(bits, declared)
        case SetType() if is_listed(declared):
            return frozenset(_value(bits, list_type(declared)))
        case SetType(element) | PairType(element):
            listed = _members(element)
            return frozenset(listed[code] for code in range(len(listed)) if bits >> code & 1)
        case RecordType(cls) if len(cls.shapes) == 1:
            return _record(bits, cls.shapes[0])
        case RecordType() | UnionType():
            return _union_value(bits, declared)
        case SeqType(element, capacity):
            array = array_layout(element, capacity, bits_for(capacity + 1))
            length = bits & ((1 << array.head_bits) - 1)
            return seq_literal(_element(bits, array, index, element) for index in range(length))
        case MapType(key, element, total):
            array = array_layout(element, key_count(key), 0 if total else key_count(key))
            present = range(key_count(key)) if total else [i for i in range(key_count(key)) if bits >> i & 1]
            keys = _members(key)
            return MapValue({keys[index]: _element(bits, array, index, element) for index in present})
        case MessageSetType() | MessageBagType():
            raise AssertionError("networks are laid out by rows")
        case _:
            assert_never(declared)


forget_with_range(_record_bits.cache_clear)
forget_with_range(_record.cache_clear)


def _element(bits: int, array: Any, index: int, element: Type) -> Any:
    place = array.place(index)
    return _value(bits >> (place.word * 64 + place.bit), element)


def _union_value(bits: int, declared: UnionType | RecordType) -> Any:
    union = union_layout(declared)
    if not union.coded:
        tag = bits & ((1 << union.tag_bits) - 1)
        if union.optional and tag == 0:
            return None
        place = union.payload
        return _value(bits >> (place.word * 64 + place.bit), union.alternatives[tag - union.optional])
    code = bits
    if union.optional:
        if code == 0:
            return None
        code -= 1
    for alternative in union.alternatives:
        if code < scalar_count(alternative):
            return scalar_value(code, alternative)
        code -= scalar_count(alternative)
    raise AssertionError("a code outside of its union")


__all__ = ["decode_row", "encode_message", "encode_row", "hash_sum", "is_scalar", "network_layout"]
