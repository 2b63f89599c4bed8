"""Lowering of calls: helpers of the spec, functions of the language, records, and methods of values."""

from __future__ import annotations

import ast
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const, Expr, Intrinsic, Let, Var
from kmc.compiler.lowering.arithmetic import in_range
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import (
    as_collection,
    best_of,
    count_of,
    each,
    is_collection,
    range_length,
    settled,
    typed_set,
)
from kmc.compiler.lowering.lazy_collections import lazy_length
from kmc.compiler.lowering.map_literals import as_map
from kmc.compiler.lowering.map_operations import admitted, map_method
from kmc.compiler.lowering.network_methods import net_method
from kmc.compiler.lowering.network_operations import size
from kmc.compiler.lowering.quantifiers import all_of, any_of
from kmc.compiler.lowering.sequences import seq_method
from kmc.compiler.values.packing import (
    alternatives,
    array_head,
    array_of,
    pack,
    union_tag,
    unwrap,
    words,
)
from kmc.compiler.values.scope import Scope, definition, is_spec_function, scope_of, syntax
from kmc.compiler.values.value import (
    Bool,
    Closure,
    EmptySet,
    Generator,
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
from kmc.lang import guards
from kmc.lang.domains import subsets
from kmc.lang.numbers import greatest, least
from kmc.lang.pairs import pair, pairs
from kmc.lang.records import RecordMeta
from kmc.lang.symbols import SymbolMeta
from kmc.lang.types import MapType, PairType, RecordType, SeqType, SetType, Type, UnionType
from kmc.runtime.state_layout import expanded, key_count, layout_of, scalar_count, shape_type, union_layout
from kmc.spec.flow import yields


def call(low: Lowering, node: ast.Call, scope: Scope) -> Value:
    """The value of a call."""
    if isinstance(node.func, ast.Attribute):
        owner = low.evaluate(node.func.value, scope)
        if not isinstance(owner, Python):
            return method(low, owner, node.func.attr, node, scope)
    function = low.evaluate(node.func, scope)
    if isinstance(function, Closure):
        return _closure(low, function, node, scope)
    if not isinstance(function, Python):
        low.code.refuse(node, "a call of this value")
    if is_spec_function(function.object):
        return _helper(low, function.object, node, scope)
    if isinstance(function.object, RecordMeta):
        return _record(low, function.object, node, scope)
    return _word(low, function.object, node, scope)


def _arguments(
    low: Lowering, node: ast.Call, scope: Scope, names: list[str], defaults: dict[str, Value]
) -> dict[str, Value]:
    given = dict(zip(names, (low.evaluate(argument, scope) for argument in node.args), strict=False))
    given |= {keyword.arg: low.evaluate(keyword.value, scope) for keyword in node.keywords if keyword.arg}
    bound = {**defaults, **given}
    if len(node.args) > len(names) or set(bound) != set(names):
        low.code.refuse(node, "this call: its arguments do not fit the parameters")
    return bound


def _defaults(low: Lowering, arguments: ast.arguments, scope: Scope) -> dict[str, Value]:
    names = [argument.arg for argument in arguments.args]
    found = dict(zip(reversed(names), (low.evaluate(d, scope) for d in reversed(arguments.defaults)), strict=False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            found[argument.arg] = low.evaluate(default, scope)
    return found


def _helper(low: Lowering, function: Any, node: ast.Call, scope: Scope) -> Value:
    definition_node = syntax(function)
    if isinstance(definition_node, ast.FunctionDef) and yields(definition_node):
        return Generator(*bound_call(low, node, scope))
    module = scope_of(function)
    names = [argument.arg for argument in (*definition_node.args.args, *definition_node.args.kwonlyargs)]
    bound = _arguments(low, node, scope, names, _defaults(low, definition_node.args, module))
    return low.call_function(function, bound, definition_node, module)


def bound_call(low: Lowering, node: ast.Call, scope: Scope) -> tuple[ast.FunctionDef, dict[str, Value], Scope]:
    """The definition that a call names, its arguments by parameter, and the scope it was defined in."""
    function = low.evaluate(node.func, scope)
    if isinstance(function, Closure) and isinstance(function.node, ast.FunctionDef):
        found, home = function.node, function.scope
    elif isinstance(function, Python) and is_spec_function(function.object):
        found, home = definition(function.object), scope_of(function.object)
    else:
        low.code.refuse(node, "a call of this value")
    names = [argument.arg for argument in (*found.args.args, *found.args.kwonlyargs)]
    return found, _arguments(low, node, scope, names, _defaults(low, found.args, home)), home


def _closure(low: Lowering, closure: Closure, node: ast.Call, scope: Scope) -> Value:
    names = [argument.arg for argument in (*closure.node.args.args, *closure.node.args.kwonlyargs)]
    bound = _arguments(low, node, scope, names, _defaults(low, closure.node.args, closure.scope))
    return low.call_function(None, bound, closure.node, closure.scope)


def apply(low: Lowering, function: Value, arguments: list[Value], node: ast.AST) -> Value:
    """Call a function value with values."""
    if isinstance(function, Closure):
        names = [argument.arg for argument in function.node.args.args]
        return low.call_function(None, dict(zip(names, arguments, strict=True)), function.node, function.scope)
    if isinstance(function, Python) and is_spec_function(function.object):
        found = syntax(function.object)
        names = [argument.arg for argument in found.args.args]
        bound = dict(zip(names, arguments, strict=True))
        return low.call_function(function.object, bound, found, scope_of(function.object))
    low.code.refuse(node, "a call of this value")


def _record(low: Lowering, cls: RecordMeta, node: ast.Call, scope: Scope) -> Value:
    fields = {keyword.arg: low.evaluate(keyword.value, scope) for keyword in node.keywords if keyword.arg}
    if node.args or set(fields) != set(cls.fields):
        low.code.refuse(node, f"these fields of {cls.__name__}", f"{cls.__name__} has {', '.join(cls.fields)}")
    declared = shape_type(cls)
    return Rec(declared, None, {name: admitted(low, fields[name], cls.fields[name], node) for name in cls.fields})


def _word(low: Lowering, word: Any, node: ast.Call, scope: Scope) -> Value:
    """A built-in function or a word of the language."""
    values = [low.evaluate(argument, scope) for argument in node.args]
    keywords = {keyword.arg: low.evaluate(keyword.value, scope) for keyword in node.keywords}
    if word is len:
        return length(low, values[0], node)
    if word is range:
        return _range(low, values, node)
    if word in (min, max, greatest, least):
        whole = values[0] if len(values) == 1 else SeqLiteral(tuple(unwrap(low.code, value, node) for value in values))
        return best_of(low, whole, node, keywords.get("default"), largest=word in (max, greatest))
    if word in (any, all):
        quantifier = any_of if word is any else all_of
        return Bool(quantifier(low, values[0], lambda item: low.truth(item, node), node))
    if word in (sum, guards.product):
        return _accumulated(low, values[0], node, product=word is guards.product)
    if word is guards.count:
        return count_of(low, values[0], node)
    if word is frozenset:
        return EmptySet() if not values else as_collection(low, values[0], node)
    if word is isinstance:
        return Bool(_isinstance(low, values[0], values[1], node))
    if word is guards.require:
        failed = x.negate(low.truth(values[0], node))
        low.code.branch(failed, [Break(low.choice_label)])
        return Bool(x.ONE)
    if word is guards.ways:
        total: Expr = x.ZERO
        for value in values:
            total = x.add(total, low.truth(value, node))
        return Numbers(Num(x.ZERO, 0, 0), Num(low.code.keep(total), 0, len(values)))
    if word is subsets:
        return Subsets(values[0])
    if word is pair:
        return _pair(low, values[0], values[1], node)
    if word is abs and isinstance(number := unwrap(low.code, values[0], node), Num):
        code = low.code.keep(number.code)
        bound = max(abs(number.low), abs(number.high))
        return Num(x.select(x.binary("slt", code, x.ZERO), x.sub(x.ZERO, code), code), 0, bound)
    owner = getattr(word, "__self__", None)
    if isinstance(owner, SymbolMeta) and word.__name__ in ("at", "fresh"):
        return _member(low, owner, word.__name__, values[0], node)
    if word is pairs:
        return _all_pairs(low, values[0], node)
    low.code.refuse(node, f"'{getattr(word, '__name__', word)}' here")


def _member(low: Lowering, cls: Any, word: str, value: Value, node: ast.AST) -> Value:
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
    used = settled(low, value, node)
    if isinstance(used, EmptySet):
        return Sym(cls, x.ZERO)
    if not isinstance(used, Packed | Stored) or not isinstance(used.type, SetType | MapType):
        low.code.refuse(node, "a fresh member beside this")
    taken = words(used)[0] if isinstance(used.type, SetType) else array_head(used)
    free = low.code.keep(x.binary("and", x.binary("xor", taken, Const(-1)), x.low_mask(count)))
    low.code.check(x.negate(x.eq(free, x.ZERO)), node)
    return Sym(cls, Intrinsic("cttz", (free,)))


def _all_pairs(low: Lowering, whole: Value, node: ast.AST) -> Value:
    """`pairs(s)` as a set."""
    whole = settled(low, whole, node)
    if isinstance(whole, EmptySet):
        return whole
    if not isinstance(whole, Packed | Stored) or not isinstance(whole.type, SetType):
        whole = _identifiers(low, whole, node)
    assert isinstance(whole.type, SetType)
    declared = PairType(whole.type.element)  # type: ignore[arg-type]  # pairs are of identifiers
    mask, count, found, number = low.code.keep(words(whole)[0]), scalar_count(declared.element), x.ZERO, 0
    result: Expr = found
    for first in range(count):
        for second in range(first + 1, count):
            here = x.both(x.extract(mask, first, 1), x.extract(mask, second, 1))
            result = x.binary("or", result, x.place_at(here, number))
            number += 1
    return Packed(SetType(declared), (result,))


def _identifiers(low: Lowering, whole: Value, node: ast.AST) -> Packed:
    """A set in which None may be as one of identifiers; None is an error."""
    found: list[Value] = []

    def look(item: Value) -> None:
        found.append(unwrap(low.code, item, node))

    low.code.capture(lambda: each(low, whole, look, node, once=False))
    classes = {item.cls for item in found if isinstance(item, Sym)}
    if len(classes) != 1 or not all(isinstance(item, Sym) for item in found):
        low.code.refuse(node, "the pairs of this value")
    result = typed_set(low, whole, SetType(classes.pop().kmc_type), node)
    assert isinstance(result, Packed)
    return result


def _range(low: Lowering, values: list[Value], node: ast.Call) -> Value:
    """range(...); a step is a constant."""
    numbers = [unwrap(low.code, value, node) for value in values]
    start, stop = (Num(x.ZERO, 0, 0), numbers[0]) if len(numbers) == 1 else numbers[:2]
    step = numbers[2] if len(numbers) == 3 else Num(x.ONE, 1, 1)
    if not isinstance(start, Num) or not isinstance(stop, Num) or not isinstance(step, Num):
        low.code.refuse(node, "a range of values that are not integers")
    if step.low != step.high or step.low == 0:
        low.code.refuse(node, "a range with a step that is not a constant", "multiply: range(n) and k * step")
    return Numbers(start, stop, step.low)


def length(low: Lowering, value: Value, node: ast.AST) -> Num:
    """len(value)."""
    value = unwrap(low.code, value, node)
    if isinstance(value, Messages | Joint):
        return _size(low, value, node)
    if isinstance(value, Numbers):
        return range_length(value)
    value = settled(low, value, node)
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
            case SetType() | PairType():
                return Num(Intrinsic("popcount", (words(value)[0],)), 0, 64)
            case MapType():
                array = array_of(value.type)
                if not array.head_bits:
                    keys = key_count(value.type.key)
                    return Num(Const(keys), keys, keys)
                return Num(Intrinsic("popcount", (array_head(value),)), 0, array.head_bits)
    low.code.refuse(node, "the length of this value")


def _size(low: Lowering, whole: Messages | Joint, node: ast.AST) -> Num:
    total = low.code.fresh("size")
    low.code.emit(Let(total, x.ZERO))
    each(low, whole, lambda item: low.code.emit(Let(total, x.add(Var(total), x.ONE))), node)
    return Num(Var(total), 0, 1 << 31)


def _accumulated(low: Lowering, whole: Value, node: ast.AST, *, product: bool) -> Num:
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
        else:
            bounds[:] = [bounds[0] + rounds * min(item.low, 0), bounds[1] + rounds * max(item.high, 0)]
        low.code.emit(Let(total, x.binary("mul" if product else "add", Var(total), item.code)))

    each(low, whole, add, node)
    result = in_range(low, Num(Var(total), *bounds), node)
    assert isinstance(result, Num)
    return result


def _isinstance(low: Lowering, value: Value, cls: Value, node: ast.AST) -> Expr:
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
    number = int(union.optional)
    for alternative in union.alternatives:
        cls: Any = getattr(alternative, "cls", None)
        cls = cls.shapes[0] if isinstance(alternative, RecordType) else cls
        size = scalar_count(alternative) if union.coded else 1
        if isinstance(cls, type) and issubclass(cls, wanted):
            inside = x.both(x.binary("sle", Const(number), tag), x.binary("slt", tag, Const(number + size)))
            result = x.either(result, inside)
        number += size
    return result


def _pair(low: Lowering, first: Value, second: Value, node: ast.AST) -> Value:
    first, second = unwrap(low.code, first, node), unwrap(low.code, second, node)
    if not (isinstance(first, Sym) and isinstance(second, Sym) and first.cls is second.cls):
        low.code.refuse(node, "a pair of these values")
    low.code.check(x.negate(x.eq(first.code, second.code)), node)
    mask = x.binary("or", x.place_at(x.ONE, first.code), x.place_at(x.ONE, second.code))
    return Packed(PairType(first.cls.kmc_type), (mask,))


def method(low: Lowering, owner: Value, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a value."""
    if isinstance(owner, Net):
        return net_method(low, owner, name, node, scope)
    if isinstance(owner, Packed | Stored) and isinstance(owner.type, UnionType):
        owner = unwrap(low.code, owner, node)
    if name == "set" and not node.args:
        return _record_set(low, owner, node, scope)
    if isinstance(owner, SeqLiteral) or (isinstance(owner, Packed | Stored) and isinstance(owner.type, SeqType)):
        return seq_method(low, owner, name, node, scope)
    return map_method(low, owner, name, node, scope)


def _record_set(low: Lowering, owner: Value, node: ast.Call, scope: Scope) -> Value:
    base = owner.value if isinstance(owner, Received) else owner
    if isinstance(base, Packed | Stored) and _may_be_several(base.type):
        return _any_record_set(low, base, node, scope)
    declared = getattr(base, "type", None)
    if not isinstance(declared, RecordType) or not isinstance(base, Rec | Packed | Stored):
        low.code.refuse(node, "'set' of this value")
    cls = declared.cls
    changes = {}
    for keyword in node.keywords:
        if keyword.arg not in cls.fields:
            low.code.refuse(node, f"field '{keyword.arg}', which {cls.__name__} does not have", "check the spelling")
        changes[keyword.arg] = admitted(low, low.evaluate(keyword.value, scope), cls.fields[keyword.arg], node)
    if isinstance(base, Rec):
        return Rec(declared, base.base, {**base.fields, **changes})
    return Rec(declared, base, changes)


def _may_be_several(declared: Type) -> bool:
    """Whether a value of a type may be a record of one class or something else."""
    return isinstance(declared, UnionType) or (isinstance(declared, RecordType) and len(declared.cls.shapes) > 1)


def _any_record_set(low: Lowering, base: Packed | Stored, node: ast.Call, scope: Scope) -> Value:
    """`set` of a value that may be a record of several classes: of the class that it has."""
    assert isinstance(base.type, UnionType | RecordType)
    whole = base.type if isinstance(base.type, UnionType) else UnionType(tuple(expanded(base.type)), optional=False)
    records = [(here, item) for here, item in alternatives(low.code, base) if _is_record(item)]
    is_any: Expr = x.ZERO
    for here, _ in records:
        is_any = x.either(is_any, here)
    low.code.check(is_any, node)
    if len(records) == 1:
        return _record_set(low, records[0][1], node, scope)
    names = [low.code.fresh("changed") for _ in range(layout_of(base.type).words)]
    low.code.emit(*(Let(name, x.ZERO) for name in names))
    for here, item in records:

        def change(item: Value = item) -> None:
            parts = pack(low.code, _record_set(low, item, node, scope), whole, node)
            low.code.emit(*(Let(name, word) for name, word in zip(names, parts, strict=True)))

        low.code.branch(here, low.code.capture(change))
    return Packed(base.type, tuple(map(Var, names)))


def _is_record(value: Value) -> bool:
    return isinstance(value, Packed | Stored) and isinstance(value.type, RecordType)
