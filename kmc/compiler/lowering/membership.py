"""Lowering of membership, inclusion and equality of collections."""

from __future__ import annotations

import ast
from typing import TypeGuard

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.lowering.composite_sets import is_sure_of, share_words
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.equality import equal
from kmc.compiler.lowering.iteration import is_collection, materialize, range_length
from kmc.compiler.lowering.lazy_collections import lazy_member, lazy_subset
from kmc.compiler.lowering.map_literals import as_map, equal_maps, in_words, map_length
from kmc.compiler.lowering.network_entries import among, is_message, may_be_foreign
from kmc.compiler.lowering.network_equality import same_network
from kmc.compiler.lowering.network_operations import contains
from kmc.compiler.lowering.quantifiers import any_of
from kmc.compiler.lowering.sequences import is_sequence
from kmc.compiler.lowering.set_ranges import in_functions, in_sequences
from kmc.compiler.values.code import Origin
from kmc.compiler.values.keys import key_code, key_number, key_value
from kmc.compiler.values.listed_sets import is_list
from kmc.compiler.values.masks import Mask, all_members, has_number, is_empty, joined_masks, same_mask
from kmc.compiler.values.packing import (
    alternatives,
    array_head,
    collection,
    element,
    field,
    keep_words,
    keys_mask,
    pack,
    value_words,
    words,
)
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    AllFunctions,
    AllSequences,
    Bool,
    Chosen,
    Comprehension,
    EmptySet,
    MapItems,
    MapLiteral,
    MapUpdate,
    Messages,
    Net,
    Nothing,
    Num,
    Numbers,
    Packed,
    Python,
    Rec,
    Received,
    SeqLiteral,
    SetLiteral,
    SetOp,
    Several,
    Stored,
    Subsets,
    Value,
)
from kmc.compiler.values.value_types import common_type, joined_type, type_of
from kmc.lang.tree import expression_at
from kmc.lang.types import (
    BoolType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    SymbolMeta,
    Type,
    UnionType,
    as_type,
)
from kmc.runtime.state_layout import WORD, is_listed, is_plain_key, key_count


def _in_network(low: Lowering, item: Value, whole: Net, node: Origin) -> Expr:
    """1 if a value is a message of a network; it may be none of those that the network ever holds."""
    if not is_message(low, item, whole.network):
        return x.ZERO
    if may_be_foreign(low, item, whole.network):
        scope = Scope({}, {"messages": whole, "message": item})
        return low.truth(low.evaluate(expression_at("any(m == message for m in messages)", node), scope), node)
    return contains(low, whole, item, node)


def member(low: Lowering, item: Value, whole: Value, node: Origin) -> Expr:
    """1 if `item` is in a set, map, sequence, range or network."""
    whole = collection(low.code, whole, node)
    if isinstance(whole, Net):
        return _in_network(low, item, whole, node)
    if isinstance(whole, MapItems | MapLiteral):
        whole = as_map(low, whole, node)
    if isinstance(whole, SetOp | Chosen):
        return lazy_member(low, item, whole, node)
    if isinstance(whole, Messages) and isinstance(item, Received) and not whole.changes:
        return among(low, whole, item, node)
    if isinstance(whole, AllFunctions):
        return in_functions(low, item, whole, node)
    if isinstance(whole, AllSequences):
        return in_sequences(low, item, whole, node)
    if isinstance(whole, Subsets):
        return subset(low, ast.LtE(), item, whole.of, node) if is_collection(item) else x.ZERO
    if isinstance(whole, SetLiteral):
        return any_of(low, whole, lambda other: same(low, item, other, node), node)
    if isinstance(whole, Comprehension):
        whole = materialize(low, whole, node)
    if isinstance(whole, EmptySet):
        return x.ZERO
    if isinstance(whole, Python) and isinstance(whole.object, SymbolMeta):
        return _is_of(low, item, as_type(whole.object, ""))
    if is_list(whole):
        return _in_list(low, item, whole, node)
    if isinstance(whole, Packed | Stored) and isinstance(whole.type, SetType | PairType):
        if not _is_plain_key_of(item, whole.type.element):
            return _in_composite(low, item, words(whole), whole.type.element, node)
        if isinstance(whole.type.element, PairType):
            number = key_code(low.code, item, whole.type.element, node)
            return has_number(words(whole), number if len(words(whole)) == 1 else low.code.keep(number))
        return _bit(low, item, words(whole), whole.type.element, node)
    if isinstance(whole, MapUpdate):
        return member(low, item, whole.base, node)
    if isinstance(whole, Numbers) and whole.step == 1:
        return _in_range(low, item, whole, node)
    if isinstance(whole, Packed | Stored) and isinstance(whole.type, MapType):
        if not _is_plain_key_of(item, whole.type.key):
            return _in_composite(low, item, None if whole.type.total else keys_mask(whole), whole.type.key, node)
        if whole.type.total and key_count(whole.type.key) > WORD:
            return _has_type(low, item, whole.type.key, node)
        keys = all_members(key_count(whole.type.key)) if whole.type.total else keys_mask(whole)
        if isinstance(whole.type.key, PairType):
            code = key_number(low.code, item, whole.type, node)
            return has_number(keys, code if len(keys) == 1 else low.code.keep(code))
        return _bit(low, item, keys, whole.type.key, node)
    return any_of(low, whole, lambda other: same(low, item, other, node), node)


def _in_list(low: Lowering, item: Value, whole: Packed | Stored, node: Origin) -> Expr:
    """1 if a value is a member of a set that is stored as a list."""
    assert isinstance(whole.type, SetType)
    kind = whole.type.element
    item = materialize(low, item, node)
    if not is_sure_of(low, item, kind, node):
        return any_of(low, whole, lambda other: same(low, item, other, node), node)
    wanted = keep_words(low.code, low.words_as(item, kind, node))

    def is_wanted(other: Value) -> Expr:
        return same_mask(wanted, value_words(other))

    return any_of(low, whole, is_wanted, node)


def _is_plain_key_of(item: Value, declared: Type) -> bool:
    """Return whether a scalar or a pair is looked for among such: a set that need not be a pair is compared."""
    return is_plain_key(declared) and (not isinstance(declared, PairType) or type_of(item) == declared)


def _in_range(low: Lowering, item: Value, whole: Numbers, node: Origin) -> Expr:
    """1 if a value is a number of a range; 0 for None and for other kinds of values."""
    if isinstance(item, Packed | Stored) and isinstance(item.type, UnionType):
        return any_of(low, whole, lambda other: equal(low, item, other, node), node)
    if not isinstance(item, Num):
        return x.ZERO
    code = low.code.keep(item.code)
    return x.both(x.binary("sle", whole.start.code, code), x.binary("slt", code, whole.stop.code))


def _has_type(low: Lowering, item: Value, declared: Type, node: Origin) -> Expr:
    """1 if a value is one of a scalar type."""
    if isinstance(declared, IntType):
        ends = [Num(Const(end), end, end) for end in (declared.low, declared.high + 1)]
        return _in_range(low, item, Numbers(ends[0], ends[1]), node)
    return _is_of(low, item, declared)


def _is_of(low: Lowering, item: Value, declared: Type) -> Expr:
    """1 if a value is of a type that is not one of numbers; 0 for None."""
    if not (isinstance(item, Packed | Stored) and isinstance(item.type, UnionType)):
        return Const(int(type_of(item) == declared))
    is_member: Expr = x.ZERO
    for here, kind in alternatives(low.code, item):
        if type_of(kind) == declared:
            is_member = x.either(is_member, here)
    return low.code.keep(is_member)


def _bit(low: Lowering, item: Value, mask: Mask, declared: Type, node: Origin) -> Expr:
    """1 if a scalar is a value of type `declared` whose bit is set; 0 for None and for values of other types."""
    if isinstance(item, Packed | Stored) and isinstance(item.type, UnionType):
        joint = joined_type(item.type, declared)
        if joint is None:
            return x.ZERO
        is_member = low.code.fresh("in")
        low.code.emit(Let(is_member, x.ZERO))
        for here, kind in alternatives(low.code, item):
            draft = low.code.capture(
                lambda kind=kind: low.code.emit(Let(is_member, _bit(low, kind, mask, declared, node)))  # type: ignore[misc]  # bound now
            )
            low.code.branch(here, draft)
        return Var(is_member)
    if isinstance(item, Num) and isinstance(declared, IntType):
        code = low.code.keep(item.code)
        above = x.ONE if item.low >= declared.low else x.binary("sle", Const(declared.low), code)
        below = x.ONE if item.high <= declared.high else x.binary("sle", code, Const(declared.high))
        inside = x.both(above, below)
        bit = x.select(inside, x.sub(code, Const(declared.low)), x.ZERO)
        return x.both(inside, has_number(mask, bit))
    if type_of(item) != declared:
        return x.ZERO
    return has_number(mask, pack(low.code, item, declared, node)[0])


def _in_composite(low: Lowering, item: Value, mask: Mask | None, declared: Type, node: Origin) -> Expr:
    """1 if a value is one of a type with parts, and its bit is set in the mask, if there is one."""
    item = materialize(low, item, node)
    if isinstance(item, Nothing) and not is_sure_of(low, item, declared, node):
        return x.ZERO
    if is_sure_of(low, item, declared, node):
        if mask is None:
            return x.ONE
        packed = Packed(declared, keep_words(low.code, low.words_as(item, declared, node)))
        return has_number(mask, key_code(low.code, packed, declared, node))
    is_member = low.code.fresh("in")
    low.code.emit(Let(is_member, x.ZERO))

    def compare(number: Expr) -> None:
        alike = same(low, item, key_value(declared, number), node)
        there = alike if mask is None else x.both(has_number(mask, number), alike)
        low.code.branch(there, [Let(is_member, x.ONE)])

    count = key_count(declared)
    low.repeated(count, lambda: low.code.count_up(x.ZERO, Const(count), compare, "member"))
    return Var(is_member)


def subset(low: Lowering, operator: ast.cmpop, left: Value, right: Value, node: Origin) -> Expr:
    """`s <= t` and its kin on sets."""
    left, right = materialize(low, left, node), materialize(low, right, node)
    declared = common_type(left, right)
    if isinstance(left, EmptySet) and isinstance(right, EmptySet):
        return Const(int(isinstance(operator, ast.LtE | ast.GtE)))
    if not isinstance(declared, SetType) or not share_words(left, right, declared) or is_listed(declared):
        if not is_collection(left) or not is_collection(right):
            low.code.refuse(node, "an order of values that are neither integers nor sets")
        return _lazy_order(low, operator, left, right, node)
    a, b = (pack(low.code, value, declared, node) for value in (left, right))
    if isinstance(operator, ast.Gt | ast.GtE):
        a, b = b, a
    inside = is_empty(joined_masks("sub", a, b))
    return x.both(inside, x.negate(same_mask(a, b))) if isinstance(operator, ast.Lt | ast.Gt) else inside


def _lazy_order(low: Lowering, operator: ast.cmpop, left: Value, right: Value, node: Origin) -> Expr:
    if isinstance(operator, ast.Gt | ast.GtE):
        left, right = right, left
    inside = lazy_subset(low, left, right, node)
    if isinstance(operator, ast.Lt | ast.Gt):
        return x.both(inside, x.negate(lazy_subset(low, right, left, node)))
    return inside


def same(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
    """1 if two values are equal, whatever they were written as."""
    if isinstance(left, Rec) and isinstance(right, Rec) and left.type == right.type and _has_networks(left.type):
        return _same_states(low, left, right, node)
    for value in (left, right):
        if isinstance(value, Python) and isinstance(value.object, SymbolMeta):
            # To Python a type is not a set; a comparison that shows it at once is KMC256.
            low.code.refuse(node, f"a comparison with the type {value.object.__name__}", "write set(...) around it")
    left, right = materialize(low, left, node), materialize(low, right, node)
    if isinstance(left, Several) and isinstance(right, Several):
        return _same_tuples(low, left, right, node)
    if isinstance(left, Net) or isinstance(right, Net):
        return same_network(low, left, right, node)
    if isinstance(left, Numbers) and isinstance(right, Numbers):
        return _same_ranges(low, left, right)
    for one, other in ((left, right), (right, left)):
        if _is_union(one) and (_is_written(other) or (is_collection(other) and common_type(one, other) is None)):
            return _same_alternative(low, one, other, node)
    if _is_map(left) and _is_map(right):
        return _same_maps(low, left, right, node)
    if is_sequence(left) and is_sequence(right) and not _have_common_words(left, right):
        return _same_sequences(low, left, right, node)
    if is_collection(left) and is_collection(right) and not _comparable_masks(left, right):
        return x.both(lazy_subset(low, left, right, node), lazy_subset(low, right, left, node))
    return equal(low, left, right, node)


def _is_union(value: Value) -> TypeGuard[Packed | Stored]:
    return isinstance(value, Packed | Stored) and isinstance(value.type, UnionType)


def _is_written(value: Value) -> bool:
    """Return whether a value is a set or map that is not in words."""
    if isinstance(value, MapItems | MapLiteral):
        return True
    return is_collection(value) and not isinstance(value, Packed | Stored | EmptySet)


def _same_alternative(low: Lowering, union: Packed | Stored, written: Value, node: Origin) -> Expr:
    """1 if the value of a union is a set or map, and equal to one that is written in the spec."""
    written = in_words(low, written, node)
    result = low.code.fresh("same")
    low.code.emit(Let(result, x.ZERO))
    for here, item in alternatives(low.code, union):
        if is_collection(item) != is_collection(written) or _is_map(item) != _is_map(written):
            continue

        def compare(item: Value = item) -> None:
            low.code.emit(Let(result, same(low, item, written, node)))

        low.code.branch(here, low.code.capture(compare))
    return Var(result)


def _have_common_words(left: Value, right: Value) -> bool:
    """Return whether a type holds both sequences, and packs the elements of one that is written in the spec."""
    written = [value for value in (left, right) if isinstance(value, SeqLiteral) and value.items]
    return common_type(left, right) is not None and all(type_of(value) is not None for value in written)


def _same_sequences(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
    """1 if two sequences have equal elements, of any types."""
    (first, mine), (second, others) = _elements(low, left), _elements(low, right)
    result = low.code.fresh("same")
    low.code.emit(Let(result, x.eq(first, second)))
    for place, (one, other) in enumerate(zip(mine, others, strict=False)):

        def compare(one: Value = one, other: Value = other) -> None:
            low.code.emit(Let(result, same(low, one, other, node)))

        there = x.both(Var(result), x.binary("slt", Const(place), first))
        low.code.branch(there, low.code.capture(compare))
    return Var(result)


def _elements(low: Lowering, whole: Value) -> tuple[Expr, tuple[Value, ...]]:
    """The length of a sequence, and the elements at all places that it may have."""
    if isinstance(whole, SeqLiteral):
        return Const(len(whole.items)), whole.items
    assert isinstance(whole, Packed | Stored)
    assert isinstance(whole.type, SeqType)
    places = range(whole.type.capacity)
    return low.code.keep(array_head(whole), "len"), tuple(element(whole, Const(place)) for place in places)


def _has_networks(declared: RecordType) -> bool:
    fields = declared.cls.fields.values()
    return any(isinstance(field_type, MessageSetType | MessageBagType) for field_type in fields)


def _same_states(low: Lowering, left: Rec, right: Rec, node: Origin) -> Expr:
    """1 if two states are equal, field by field: a network has no layout inside of a record."""
    result: Expr = x.ONE
    for name in left.type.cls.fields:
        one, other = (field(low.code, state, name, node) for state in (left, right))
        result = x.both(result, same(low, one, other, node))
    return result


def _same_tuples(low: Lowering, left: Several, right: Several, node: Origin) -> Expr:
    """1 if two tuples are equal; like `equal`, but their parts may be written in any way."""
    result: Expr = Const(int(len(left.items) == len(right.items)))
    for one, other in zip(left.items, right.items, strict=False):
        result = x.both(result, same(low, one, other, node))
    return result


def _comparable_masks(left: Value, right: Value) -> bool:
    """Return whether the words of two sets can be compared: masks or lists of one type, or sets of disjoint kinds."""
    return share_words(left, right, common_type(left, right))


def _is_map(value: Value) -> bool:
    if isinstance(value, MapItems | MapLiteral | MapUpdate):
        return True
    return isinstance(value, Packed | Stored) and isinstance(value.type, MapType)


def _same_maps(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
    left, right = in_words(low, left, node), in_words(low, right, node)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, MapItems):
            return x.eq(map_length(other), x.ZERO) if not isinstance(other, MapItems) else x.ONE
    if type_of(left) == type_of(right):
        return equal(low, left, right, node)
    return low.code.keep(equal_maps(low, left, right, node))


def _same_ranges(low: Lowering, left: Numbers, right: Numbers) -> Expr:
    counts = [low.code.keep(range_length(whole).code) for whole in (left, right)]
    alike = x.both(x.eq(left.start.code, right.start.code), Const(int(left.step == right.step)))
    single = x.both(x.eq(left.start.code, right.start.code), x.eq(counts[0], x.ONE))
    return x.both(x.eq(*counts), x.either(x.eq(counts[0], x.ZERO), x.either(alike, single)))


def may_be(value: Value, scalar: type[Value], declared: type[Type]) -> bool:
    """Return True for a scalar of this kind, and for a union that has one among its alternatives."""
    if isinstance(value, Packed | Stored) and isinstance(value.type, UnionType):
        return any(isinstance(alternative, declared) for alternative in value.type.alternatives)
    return isinstance(value, scalar)


def mixes_bools(left: Value, right: Value) -> bool:
    """Return True if one value may be a Bool and the other a number: Python would compare them as numbers."""
    return any(may_be(a, Bool, BoolType) and may_be(b, Num, IntType) for a, b in ((left, right), (right, left)))
