"""Lowering of calls: helpers of the spec, functions of the language, records, and methods of values."""

from __future__ import annotations

import ast
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr, Let, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.map_operations import admitted, map_method
from kmc.compiler.lowering.network_methods import net_method
from kmc.compiler.lowering.sequences import seq_method
from kmc.compiler.lowering.words import lowered_word
from kmc.compiler.values.packing import (
    alternatives,
    collection,
    pack,
)
from kmc.compiler.values.scope import Scope, definition, is_spec_function, scope_of, syntax
from kmc.compiler.values.value import (
    Closure,
    Generator,
    Net,
    Packed,
    Precomputed,
    Python,
    Rec,
    Received,
    SeqLiteral,
    Stored,
    Value,
)
from kmc.lang.tree import yields
from kmc.lang.types import RecordMeta, RecordType, SeqType, Type, UnionType
from kmc.runtime.state_layout import expanded, layout_of, shape_type


def call(low: Lowering, node: ast.Call, scope: Scope) -> Value:
    """The value of a call."""
    if isinstance(node.func, ast.Attribute):
        owner = low.evaluate(node.func.value, scope)
        if not isinstance(owner, Python):
            return method(low, owner, node.func.attr, node, scope)
    function = low.evaluate(node.func, scope)
    if isinstance(function, Precomputed) and not node.args and not node.keywords:
        low.code.check_deferred(function.failure)
        return function.value
    if isinstance(function, Closure):
        if isinstance(function.node, ast.FunctionDef) and yields(function.node):
            return Generator(*bound_call(low, node, scope))
        return _closure(low, function, node, scope)
    if not isinstance(function, Python):
        low.code.refuse(node, "a call of this value")
    if is_spec_function(function.object):
        return _helper(low, function.object, node, scope)
    if isinstance(function.object, RecordMeta):
        return _record(low, function.object, node, scope)
    return lowered_word(low, function.object, node, scope)


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
    defaults = dict(zip(reversed(names), (low.evaluate(d, scope) for d in reversed(arguments.defaults)), strict=False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = low.evaluate(default, scope)
    return defaults


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
        callee, home = function.node, function.scope
    elif isinstance(function, Python) and is_spec_function(function.object):
        callee, home = definition(function.object), scope_of(function.object)
    else:
        low.code.refuse(node, "a call of this value")
    names = [argument.arg for argument in (*callee.args.args, *callee.args.kwonlyargs)]
    return callee, _arguments(low, node, scope, names, _defaults(low, callee.args, home)), home


def _closure(low: Lowering, closure: Closure, node: ast.Call, scope: Scope) -> Value:
    names = [argument.arg for argument in (*closure.node.args.args, *closure.node.args.kwonlyargs)]
    bound = _arguments(low, node, scope, names, _defaults(low, closure.node.args, closure.scope))
    return low.call_function(None, bound, closure.node, closure.scope)


def _record(low: Lowering, cls: RecordMeta, node: ast.Call, scope: Scope) -> Value:
    fields = {keyword.arg: low.evaluate(keyword.value, scope) for keyword in node.keywords if keyword.arg}
    if node.args or set(fields) != set(cls.fields):
        low.code.refuse(node, f"these fields of {cls.__name__}", f"{cls.__name__} has {', '.join(cls.fields)}")
    declared = shape_type(cls)
    return Rec(declared, None, {name: admitted(low, fields[name], cls.fields[name], node) for name in cls.fields})


def method(low: Lowering, owner: Value, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a value."""
    if isinstance(owner, Net):
        return net_method(low, owner, name, node, scope)
    if isinstance(owner, Packed | Stored) and isinstance(owner.type, UnionType):
        owner = collection(low.code, owner, node)
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
            packed = pack(low.code, _record_set(low, item, node, scope), whole, node)
            low.code.emit(*(Let(name, word) for name, word in zip(names, packed, strict=True)))

        low.code.branch(here, low.code.capture(change))
    return Packed(base.type, tuple(map(Var, names)))


def _is_record(value: Value) -> bool:
    return isinstance(value, Packed | Stored) and isinstance(value.type, RecordType)
