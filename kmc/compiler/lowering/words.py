"""Lowering of the functions of the language: one entry a word."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const, Expr, Let, Var
from kmc.compiler.lowering.arithmetic import NUMBER_MAX, in_range
from kmc.compiler.lowering.choosing import best_by_key, best_of, only_element
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.folds import folded
from kmc.compiler.lowering.iteration import (
    as_collection,
    count_of,
    each,
    is_collection,
    materialize,
    range_length,
    typed_set,
)
from kmc.compiler.lowering.lazy_collections import lazy_length
from kmc.compiler.lowering.map_literals import as_map
from kmc.compiler.lowering.membership import mixes_bools, same
from kmc.compiler.lowering.network_operations import size
from kmc.compiler.lowering.quantifiers import all_of, any_of
from kmc.compiler.values.code import Origin
from kmc.compiler.values.listed_sets import as_sequence, is_list
from kmc.compiler.values.masks import first_missing, has_number, member_count
from kmc.compiler.values.packing import (
    array_head,
    array_of,
    collection,
    keep_words,
    keys_mask,
    union_tag,
    unwrap,
    words,
)
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    AllFunctions,
    AllSequences,
    Bool,
    EmptySet,
    Joint,
    MapItems,
    MapLiteral,
    MapUpdate,
    Messages,
    Net,
    Num,
    Numbers,
    Packed,
    Python,
    Rec,
    Received,
    SeqLiteral,
    Stored,
    Subsets,
    Sym,
    Value,
)
from kmc.lang.meanings import NAMES
from kmc.lang.types import MapType, PairType, RecordType, SeqType, SetType, SymbolMeta, UnionType
from kmc.runtime.state_layout import MASK_MAX, WORD, key_count, mask_words, scalar_count, union_layout


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call: values by position, and by name."""

    values: list[Value]
    named: Mapping[str | None, Value]

    @property
    def first(self) -> Value:
        """The first argument by position."""
        return self.values[0]


def lowered_word(low: Lowering, function: Any, node: ast.Call, scope: Scope) -> Value:
    """The value of a call of a function of the language, or of a type of identifiers: `Server.at(n)`."""
    values = [low.evaluate(argument, scope) for argument in node.args]
    named = {keyword.arg: low.evaluate(keyword.value, scope) for keyword in node.keywords}
    owner = getattr(function, "__self__", None)
    if isinstance(owner, SymbolMeta) and function.__name__ in ("at", "fresh"):
        return _member(low, owner, function.__name__, values[0], node)
    lower = LOWERED.get(NAMES.get(function, ""))
    if lower is None:
        low.code.refuse(node, f"'{getattr(function, '__name__', function)}' here")
    return lower(low, Arguments(values, named), node)


def _absolute(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    number = unwrap(low.code, given.first, node)
    if not isinstance(number, Num):
        low.code.refuse(node, "'abs' here")
    code = low.code.keep(number.code)
    bound = max(abs(number.low), abs(number.high))
    return Num(x.select(x.binary("slt", code, x.ZERO), x.sub(x.ZERO, code), code), 0, bound)


def _all(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return Bool(all_of(low, given.first, lambda item: low.truth(item, node), node))


def _any(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return Bool(any_of(low, given.first, lambda item: low.truth(item, node), node))


def _count(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return count_of(low, given.first, node)


def _extreme(low: Lowering, given: Arguments, node: ast.Call, *, largest: bool) -> Value:
    """`min` and `max`, of a collection or of several numbers."""
    whole = given.first
    key = given.named.get("key")
    if key is not None:
        return best_by_key(low, whole, key, given.named.get("default"), node, largest=largest)
    if len(given.values) < 2:
        return best_of(low, whole, node, given.named.get("default"), largest=largest)
    values = tuple(unwrap(low.code, value, node) for value in given.values)
    best = best_of(low, SeqLiteral(values), node, given.named.get("default"), largest=largest)
    numbers = [value for value in values if isinstance(value, Num)]
    if not isinstance(best, Num) or len(numbers) < len(values):
        return best
    # The least of several numbers is at most the least of their bounds.
    choose = max if largest else min
    return Num(best.code, choose(one.low for one in numbers), choose(one.high for one in numbers))


def _max(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return _extreme(low, given, node, largest=True)


def _min(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return _extreme(low, given, node, largest=False)


def _set(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return as_collection(low, given.first, node) if given.values else EmptySet()


def _length(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return length(low, given.first, node)


def _require(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    """1, or 0 where the condition is known to be false, so that nothing after it is reached."""
    condition = low.truth(given.first, node)
    low.code.branch(x.negate(condition), [Break(low.choice_label)])
    return Bool(x.ZERO if condition == x.ZERO else x.ONE)


def _ways(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    total: Expr = x.ZERO
    for value in given.values:
        total = x.add(total, low.truth(value, node))
    return Numbers(Num(x.ZERO, 0, 0), Num(low.code.keep(total), 0, len(given.values)))


def _subsets(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return Subsets(given.first)


def _functions(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return AllFunctions(given.values[0], given.values[1], different=False)


def _permutations(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return AllFunctions(given.first, given.first, different=True)


def _sequences(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    longest = unwrap(low.code, given.values[1], node)
    if not isinstance(longest, Num) or longest.low != longest.high:
        low.code.refuse(node, "sequences whose length is not a constant", "test it: for s in sequences(x, 3): if ...")
    return AllSequences(given.first, longest.low)


def _sum(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return _accumulated(low, given.first, node, product=False)


def _the(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return only_element(low, given.first, node)


def _product(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    return _accumulated(low, given.first, node, product=True)


def _member(low: Lowering, cls: Any, word: str, value: Value, node: Origin) -> Value:
    """`Server.at(n)` and `Server.fresh(used)`."""
    count = len(cls.members)
    # Initial states are not compiled; of a type by its own name, this is refused before (KMC156).
    if getattr(cls, "symmetric", False) and (word == "at" or not cls.spawned):
        low.code.refuse(node, f"a member of the symmetric type {cls.__name__}", "go through all of them: for s in ...")
    if word == "at":
        number = unwrap(low.code, value, node)
        if not isinstance(number, Num):
            low.code.refuse(node, "a member by this number")
        low.code.check(x.both(x.binary("slt", x.ZERO, number.code), x.binary("sle", number.code, Const(count))), node)
        return Sym(cls, x.sub(number.code, x.ONE))
    used = materialize(low, value, node)
    if isinstance(used, EmptySet):
        return Sym(cls, x.ZERO)
    if is_list(used) or not isinstance(used, Packed | Stored) or not isinstance(used.type, SetType | MapType):
        low.code.refuse(node, "a fresh member beside this")
    taken = words(used) if isinstance(used.type, SetType) else keys_mask(used)
    some, first = first_missing(low.code, taken, count)
    low.code.check(some, node)
    return Sym(cls, first)


def _pairs(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    """`pairs(s)` as a set."""
    whole = materialize(low, given.first, node)
    if isinstance(whole, EmptySet):
        return whole
    if not isinstance(whole, Packed | Stored) or not isinstance(whole.type, SetType):
        whole = _identifiers(low, whole, node)
    assert isinstance(whole.type, SetType)
    declared = PairType(whole.type.element)  # type: ignore[arg-type]  # pairs are of identifiers
    if key_count(declared) > MASK_MAX:
        low.code.refuse(node, f"more than {MASK_MAX:,} pairs")
    mask, count = keep_words(low.code, words(whole)), scalar_count(declared.element)
    result: list[Expr] = [x.ZERO] * mask_words(key_count(declared))
    for index, (first, second) in enumerate(combinations(range(count), 2)):
        here = x.both(has_number(mask, Const(first)), has_number(mask, Const(second)))
        result[index // WORD] = x.binary("or", result[index // WORD], x.place_at(here, index % WORD))
    return Packed(SetType(declared), tuple(result))


def _identifiers(low: Lowering, whole: Value, node: Origin) -> Packed:
    """A set in which None may be as one of identifiers; None is an error."""
    identifiers: list[Value] = []

    def look(item: Value) -> None:
        identifiers.append(unwrap(low.code, item, node))

    low.capture_only(lambda: each(low, whole, look, node, once=False))
    classes = {item.cls for item in identifiers if isinstance(item, Sym)}
    if len(classes) != 1 or not all(isinstance(item, Sym) for item in identifiers):
        low.code.refuse(node, "the pairs of this value")
    result = typed_set(low, whole, SetType(classes.pop().kmc_type), node)
    assert isinstance(result, Packed)
    return result


def _range(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    """range(...); a step is a constant."""
    operands = [unwrap(low.code, value, node) for value in given.values]
    start, stop = (Num(x.ZERO, 0, 0), operands[0]) if len(operands) == 1 else operands[:2]
    step = operands[2] if len(operands) == 3 else Num(x.ONE, 1, 1)
    if not isinstance(start, Num) or not isinstance(stop, Num) or not isinstance(step, Num):
        low.code.refuse(node, "a range of values that are not integers")
    if step.low != step.high or step.low == 0:
        low.code.refuse(node, "a range with a step that is not a constant", "multiply: range(n) and k * step")
    return Numbers(start, stop, step.low)


def length(low: Lowering, value: Value, node: Origin) -> Num:
    """len(value)."""
    value = collection(low.code, value, node)
    if isinstance(value, Messages | Joint):
        return _size(low, value, node)
    if isinstance(value, Numbers):
        return range_length(value)
    value = materialize(low, value, node)
    if isinstance(value, MapItems | MapLiteral):
        value = as_map(low, value, node)
    if isinstance(value, MapItems):
        return Num(x.ZERO, 0, 0)
    if isinstance(value, Net):
        return size(low, value, node)
    if is_collection(value) and not isinstance(value, Packed | Stored | EmptySet | Python):
        return lazy_length(low, value, node)
    if isinstance(value, EmptySet):
        return Num(x.ZERO, 0, 0)
    if isinstance(value, Python) and isinstance(value.object, SymbolMeta):
        return Num(Const(len(value.object.members)), len(value.object.members), len(value.object.members))
    if isinstance(value, SeqLiteral):
        return Num(Const(len(value.items)), len(value.items), len(value.items))
    if isinstance(value, MapUpdate):
        return length(low, value.base, node)
    if isinstance(value, Packed | Stored):
        match value.type:
            case SeqType(_, capacity):
                return Num(array_head(value), 0, capacity)
            case SetType() if is_list(value):
                return length(low, as_sequence(value), node)
            case SetType() | PairType():
                mask = words(value)
                return Num(member_count(mask), 0, WORD * len(mask))
            case MapType():
                array = array_of(value.type)
                if not array.head_bits:
                    keys = key_count(value.type.key)
                    return Num(Const(keys), keys, keys)
                return Num(member_count(keys_mask(value)), 0, array.head_bits)
    low.code.refuse(node, "the length of this value")


def _size(low: Lowering, whole: Messages | Joint, node: Origin) -> Num:
    total = low.code.fresh("size")
    low.code.emit(Let(total, x.ZERO))
    each(low, whole, lambda item: low.code.emit(Let(total, x.add(Var(total), x.ONE))), node)
    return Num(Var(total), 0, 1 << 31)


def _accumulated(low: Lowering, whole: Value, node: Origin, *, product: bool) -> Num:
    total = low.code.fresh("sum")
    low.code.emit(Let(total, Const(int(product))))
    bounds = [int(product), int(product)]
    outer = low.times

    def add(item: Value) -> None:
        item = unwrap(low.code, item, node)
        if isinstance(item, Bool):
            low.code.check(x.ZERO, node)
            return
        if not isinstance(item, Num):
            low.code.refuse(node, "a sum of these values")
        rounds = low.times // max(1, outer)
        if product:
            most = max(abs(item.low), abs(item.high), 1) ** min(rounds, 64) * bounds[1]
            bounds[:] = [-most if item.low < 0 or bounds[0] < 0 else 0, most]
            if most > NUMBER_MAX and bounds[0] >= 0:
                item = _keep_in_range(low, Var(total), item, node)
                bounds[1] = NUMBER_MAX
        else:
            bounds[:] = [bounds[0] + rounds * min(item.low, 0), bounds[1] + rounds * max(item.high, 0)]
        low.code.emit(Let(total, x.binary("mul" if product else "add", Var(total), item.code)))

    each(low, whole, add, node)
    result = in_range(low, Num(Var(total), *bounds), node)
    assert isinstance(result, Num)
    return result


def _keep_in_range(low: Lowering, total: Expr, item: Num, node: Origin) -> Num:
    """A factor of a product that might grow beyond the numbers of compiled code; a check that it does not."""
    factor = low.code.keep(item.code)
    divisor = low.code.keep(x.select(x.eq(factor, x.ZERO), x.ONE, factor))
    low.code.check(x.binary("sle", total, x.binary("udiv", Const(NUMBER_MAX), divisor)), node)
    return Num(factor, item.low, item.high)


def _fold(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    function, first, elements = given.values
    return folded(low, function, first, elements, node)


def _isinstance(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    value, cls = given.values
    return Bool(_has_class(low, value, cls, node))


def _has_class(low: Lowering, value: Value, cls: Value, node: Origin) -> Expr:
    if not isinstance(cls, Python):
        low.code.refuse(node, "isinstance of this")
    wanted = cls.object
    value = value.value if isinstance(value, Received) else value
    if isinstance(value, Rec):
        return Const(int(issubclass(value.type.cls.shapes[0], wanted)))
    if isinstance(value, Packed | Stored) and isinstance(value.type, RecordType | UnionType):
        if isinstance(value.type, RecordType) and len(value.type.cls.shapes) == 1:
            return Const(int(issubclass(value.type.cls.shapes[0], wanted)))
        return _has_tag(value, wanted)
    return Const(int(isinstance(value, Sym) and value.cls is wanted))


def _has_tag(value: Packed | Stored, wanted: Any) -> Expr:
    assert isinstance(value.type, UnionType | RecordType)
    union = union_layout(value.type)
    tag = union_tag(value)
    result: Expr = x.ZERO
    first = int(union.optional)
    for alternative in union.alternatives:
        cls: Any = getattr(alternative, "cls", None)
        cls = cls.shapes[0] if isinstance(alternative, RecordType) else cls
        size = scalar_count(alternative) if union.coded else 1
        if isinstance(cls, type) and issubclass(cls, wanted):
            inside = x.both(x.binary("sle", Const(first), tag), x.binary("slt", tag, Const(first + size)))
            result = x.either(result, inside)
        first += size
    return result


def _pair(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    first, second = (unwrap(low.code, value, node) for value in given.values)
    if not (isinstance(first, Sym) and isinstance(second, Sym) and first.cls is second.cls):
        low.code.refuse(node, "a pair of these values")
    if len(first.cls.members) > WORD:
        low.code.refuse(node, f"a pair of more than {WORD} possible identifiers", "write a record of two fields")
    low.code.check(x.negate(x.eq(first.code, second.code)), node)
    mask = x.binary("or", x.place_at(x.ONE, first.code), x.place_at(x.ONE, second.code))
    return Packed(PairType(first.cls.kmc_type), (mask,))


def _equals_any(low: Lowering, given: Arguments, node: ast.Call) -> Value:
    left, right = low.kept(given.values[0]), given.values[1]
    if mixes_bools(left, right):
        low.code.refuse(node, "a Bool compared with a number", "compare numbers: 1 if b else 0")
    return Bool(same(low, left, right, node))


LOWERED: Mapping[str, Callable[[Lowering, Arguments, ast.Call], Value]] = {
    "abs": _absolute,
    "all": _all,
    "any": _any,
    "count": _count,
    "equals_any": _equals_any,
    "fold": _fold,
    "frozenset": _set,
    "functions": _functions,
    "isinstance": _isinstance,
    "len": _length,
    "max": _max,
    "min": _min,
    "pair": _pair,
    "pairs": _pairs,
    "permutations": _permutations,
    "product": _product,
    "range": _range,
    "require": _require,
    "sequences": _sequences,
    "set": _set,
    "subsets": _subsets,
    "sum": _sum,
    "the": _the,
    "ways": _ways,
}
"""The lowering of each function in `kmc.lang.words.CALLED` but `bool` and `int`, which only name types."""
