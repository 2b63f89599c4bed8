"""The kinds of expressions: names, fields, operators, comparisons, literals and comprehensions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from kmc.compiler.checks.kinds.kind import (
    ANYTHING,
    BOOL,
    NONE,
    NOTHING,
    NUMBER,
    Kind,
    Kinds,
    any_of,
    elements,
    in_words,
    may_be_equal,
    of_type,
    of_value,
    one,
)
from kmc.compiler.checks.kinds.kind_inference import Inference, LocalKinds
from kmc.compiler.checks.kinds.kind_mistakes import attempted, not_a_key
from kmc.compiler.checks.kinds.kind_mixtures import bool_among_numbers, not_compared, not_of_sets, not_one_kind
from kmc.compiler.checks.kinds.kinds_of_calls import call
from kmc.lang.guards import number
from kmc.lang.numbers import power, remainder
from kmc.lang.seqs import in_order
from kmc.lang.symbols import Symbol
from kmc.lang.types import SymbolMeta

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: remainder,
    ast.Pow: power,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{op: _OPERATORS[op] for op in (ast.Lt, ast.LtE, ast.Gt, ast.GtE)},
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow)


def evaluate(inference: Inference, node: ast.expr, scope: LocalKinds) -> Kinds:
    """The kinds of an expression; the `Evaluate` of an inference."""
    match node:
        case ast.Constant(value=value):
            return of_value(value)
        case ast.Name(id=name):
            return _name(name, scope)
        case ast.Attribute():
            return _attribute(inference, node, scope)
        case ast.Call():
            return call(inference, node, scope)
        case ast.Subscript():
            return _looked_up(inference, node, scope)
        case ast.Compare():
            return _compared(inference, node, scope)
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            truth, _, _ = inference.condition(node, scope)
            return BOOL if truth is None else of_value(truth)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            truth, holding, failing = inference.condition(test, scope)
            first = inference.evaluate(body, holding) if truth is not False else NOTHING
            return any_of([first, inference.evaluate(orelse, failing) if truth is not True else NOTHING])
        case ast.BinOp():
            return _operated(inference, node, scope)
        case ast.UnaryOp(operand=operand):
            inference.refuse(attempted(lambda a: -number(a), inference.evaluate(operand, scope)), node, scope)
            return NUMBER
        case _:
            return _collected(inference, node, scope)


def _name(name: str, scope: LocalKinds) -> Kinds:
    if name in scope.names:
        return scope.names[name]
    return of_value(scope.frame.globals[name]) if name in scope.frame.globals else ANYTHING


def _attribute(inference: Inference, node: ast.Attribute, scope: LocalKinds) -> Kinds:
    owners = inference.evaluate(node.value, scope)
    if owners and all(kind.word == "symbols" for kind in owners):
        return any_of(of_value(getattr(kind.of, node.attr, None)) for kind in owners)
    attempt = attempted(lambda owner: _read(owner, node.attr), owners)
    inference.refuse(attempt, node, scope)
    if not owners:
        return owners
    read = [kind.of.fields.get(node.attr) if kind.word == "record" else None for kind in owners]
    fields = [declared for declared in read if declared is not None]
    methods = any(kind.word != "record" and kind.word != "None" for kind in owners)
    return ANYTHING if methods or not fields else any_of(map(of_type, fields))


def _read(owner: Any, name: str) -> None:
    fields = getattr(type(owner), "fields", None)
    if fields is not None:
        if name not in fields and name != "set":
            raise AttributeError(name=name, obj=owner)
    else:
        getattr(owner, name)


def _looked_up(inference: Inference, node: ast.Subscript, scope: LocalKinds) -> Kinds:
    bounds = [node.slice.lower, node.slice.upper] if isinstance(node.slice, ast.Slice) else [node.slice]
    keys_given = [inference.evaluate(bound, scope) for bound in bounds if bound is not None]
    owners = inference.evaluate(node.value, scope)
    if not owners:
        return owners
    if any(kind.word == "None" for kind in owners) and len(owners) > 1:
        owners -= {Kind("None")}
    if all(kind.word == "seq" for kind in owners):
        for kinds in keys_given:
            inference.refuse(attempted(number, kinds), node.slice, scope)
        return owners if isinstance(node.slice, ast.Slice) else any_of(kind.parts[0] for kind in owners)
    if isinstance(node.slice, ast.Slice):
        inference.refuse(attempted(lambda owner: owner[0:0], owners), node, scope)
        return ANYTHING
    (key,) = keys_given
    if all(kind.word == "map" for kind in owners):
        keys = any_of(kind.parts[0] for kind in owners)
        inference.refuse(not_a_key(key, keys, node.slice, node.value), node.slice, scope)
        return any_of(kind.parts[1] for kind in owners)
    if not any(kind.word in ("map", "network", "tuple") for kind in owners):
        inference.refuse(attempted(lambda owner: owner[1], owners), node, scope)
    return ANYTHING


def _operated(inference: Inference, node: ast.BinOp, scope: LocalKinds) -> Kinds:
    left, right = inference.evaluate(node.left, scope), inference.evaluate(node.right, scope)
    if isinstance(node.op, ast.Add) and left and all(kind.word == "seq" for kind in left):
        inference.refuse(attempted(lambda a, b: a + b, left, right), node, scope)
        return one(
            "seq", any_of(kind.parts[0] if kind.word == "seq" else ANYTHING for kind in (*left, *(right or left)))
        )
    operation = _OPERATORS.get(type(node.op))
    if operation is None:
        return ANYTHING
    arithmetic = isinstance(node.op, _ARITHMETIC)

    def operate(a: Any, b: Any) -> Any:
        return operation(number(a), number(b)) if arithmetic else operation(a, b)

    for operand, kinds in ((node.left, left), (node.right, right)) if arithmetic else ():
        inference.refuse(attempted(number, kinds), operand, scope)
    inference.refuse(attempted(operate, left, right), node, scope)
    if isinstance(node.op, ast.BitAnd | ast.BitOr):
        inference.refuse(not_of_sets(left, right, node.op), node, scope)
    inference.refuse(bool_among_numbers(left, right), node, scope)
    words = {kind.word for kind in (*(left or ()), *(right or ()))}
    if left is None or right is None or not left or not right:
        return ANYTHING
    if words == {"number"}:
        return NUMBER
    if words == {"set"}:
        return any_of([left, right]) if isinstance(node.op, ast.BitOr) else left
    return ANYTHING


def _compared(inference: Inference, node: ast.Compare, scope: LocalKinds) -> Kinds:
    left = inference.evaluate(node.left, scope)
    for op, after in zip(node.ops, node.comparators, strict=True):
        right = inference.evaluate(after, scope)
        match op:
            case ast.Eq() | ast.NotEq():
                inference.refuse(not_compared(left, right, node.left, after), node, scope)
                _note(inference, node, _never_equal(left, right, isinstance(op, ast.Eq)), scope)
            case ast.In() | ast.NotIn():
                inference.refuse(attempted(lambda whole: None in whole, right), after, scope)
                inference.refuse(bool_among_numbers(left, elements(right)), node, scope)
                _note(inference, node, _never_in(left, right, isinstance(op, ast.In)), scope)
            case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE():
                inference.refuse(attempted(_OPERATORS[type(op)], left, right), node, scope)
                inference.refuse(bool_among_numbers(left, right), node, scope)
        left = right
    constant = constant_of(node, scope)
    return of_value(constant) if isinstance(constant, bool) else BOOL


def constant_of(node: ast.expr, scope: LocalKinds) -> Any:
    """The value of a comparison of constants in this model; None where it is not known."""
    match node:
        case ast.Constant(value=bool() | int()):
            return node.value
        case ast.Name(id=name) if name not in scope.names:
            value = scope.frame.globals.get(name)
            return value if isinstance(value, (bool, int, Symbol, SymbolMeta)) else None
        case ast.Attribute(value=owner, attr=attr):
            return getattr(constant_of(owner, scope), attr, None)
        case ast.Call(func=ast.Name(id="len"), args=[whole]):
            value = constant_of(whole, scope)
            return len(value) if isinstance(value, SymbolMeta) else None
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sides = constant_of(left, scope), constant_of(right, scope)
            operation = _COMPARISONS.get(type(op))
            if operation is None or not all(isinstance(side, (bool, int, Symbol)) for side in sides):
                return None
            return None if attempted(operation, *map(of_value, sides)) else operation(*sides)
        case _:
            return None


def _note(inference: Inference, node: ast.Compare, why: str | None, scope: LocalKinds) -> None:
    """Note that a comparison always comes out alike; if it may not in another context, nothing is said of it."""
    position = scope.frame.path, node.lineno, node.col_offset
    if why is None:
        inference.always[position] = None
    else:
        inference.always.setdefault(position, f"{ast.unparse(node)} is always {why}")


def _never_equal(left: Kinds, right: Kinds, equal: bool) -> str | None:
    if not left or not right or NONE in (left, right) or may_be_equal(left, right):
        return None
    return f"{not equal}: {in_words(left)} never equals {in_words(right)}"


def _never_in(item: Kinds, whole: Kinds, within: bool) -> str | None:
    members = elements(whole)
    if not item or not members or item == NONE or may_be_equal(item, members):
        return None
    return f"{not within}: {in_words(item)} never equals an element, which is {in_words(members)}"


def _collected(inference: Inference, node: ast.expr, scope: LocalKinds) -> Kinds:
    """Literals and comprehensions."""
    match node:
        case ast.Set(elts=items):
            members = any_of([inference.evaluate(item, scope) for item in items])
            inference.refuse(not_one_kind(members), node, scope)
            return one("set", members)
        case ast.List(elts=items):
            return one("seq", any_of([inference.evaluate(item, scope) for item in items]))
        case ast.Tuple(elts=items):
            return one("tuple", *[inference.evaluate(item, scope) for item in items])
        case ast.Dict(keys=keys, values=values):
            kinds = [inference.evaluate(key, scope) for key in keys if key is not None]
            return one("map", any_of(kinds), any_of([inference.evaluate(value, scope) for value in values]))
        case ast.SetComp() | ast.ListComp() | ast.GeneratorExp():
            word = {ast.SetComp: "set", ast.ListComp: "seq", ast.GeneratorExp: "generator"}[type(node)]
            inner = _chosen(inference, node, scope, in_sequence=isinstance(node, ast.ListComp))
            return one(word, NOTHING if inner is None else inference.evaluate(node.elt, inner))
        case ast.DictComp(key=key, value=value):
            inner = _chosen(inference, node, scope)
            if inner is None:
                return one("map", NOTHING, NOTHING)
            return one("map", inference.evaluate(key, inner), inference.evaluate(value, inner))
        case _:
            return ANYTHING


def _chosen(
    inference: Inference,
    node: ast.SetComp | ast.ListComp | ast.GeneratorExp | ast.DictComp,
    scope: LocalKinds,
    *,
    in_sequence: bool = False,
) -> LocalKinds | None:
    """The scope of a comprehension's element; None where its conditions never hold."""
    for generator in node.generators:
        inner = scope.child()
        inference.bind(generator.target, inference.members(generator.iter, scope), inner)
        if in_sequence:
            inference.refuse(attempted(in_order, inference.evaluate(generator.iter, scope)), generator.iter, scope)
        scope = inner
        for condition in generator.ifs:
            truth, scope, _ = inference.condition(condition, scope)
            if truth is False:
                return None
    return scope
