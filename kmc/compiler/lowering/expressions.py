"""Lowering of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from kmc.budget import require_budget
from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Stmt, Var
from kmc.compiler.lowering.arithmetic import divided, in_range, power
from kmc.compiler.lowering.calls import call
from kmc.compiler.lowering.composite_sets import share_words, with_masks
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import as_set, check_elements, is_collection, materialize
from kmc.compiler.lowering.map_literals import as_list
from kmc.compiler.lowering.map_operations import subscript
from kmc.compiler.lowering.membership import may_be, member, same, subset
from kmc.compiler.lowering.sequences import between, is_sequence, joined, position
from kmc.compiler.lowering.set_lists import listed_operation
from kmc.compiler.lowering.union_fields import field_of
from kmc.compiler.values.code import Origin, flat
from kmc.compiler.values.masks import SetOperator, joined_masks
from kmc.compiler.values.packing import collection, is_none, pack
from kmc.compiler.values.scope import Scope, python_value
from kmc.compiler.values.value import (
    Bool,
    Closure,
    Comprehension,
    EmptySet,
    Joint,
    MapItems,
    MapLiteral,
    Messages,
    Num,
    Packed,
    Python,
    SeqLiteral,
    SetLiteral,
    SetOp,
    Several,
    Sym,
    Value,
)
from kmc.compiler.values.value_types import common_type, type_of
from kmc.lang.types import BoolType, IntType, SeqType, SetType
from kmc.runtime.state_layout import WORD, is_listed, key_count

_HARMLESS = 8
"""The number of values that may be computed instead of a branch around them."""


def evaluate(low: Lowering, node: ast.expr, scope: Scope) -> Value:
    """The value of an expression."""
    require_budget()
    match node:
        case ast.Constant(value=value):
            return in_range(low, python_value(value), node)
        case ast.Name():
            return low.name(node, scope)
        case ast.Attribute():
            return _attribute(low, node, scope)
        case ast.Call():
            return call(low, node, scope)
        case ast.Compare():
            return _compare(low, node, scope)
        case ast.BoolOp():
            return _bool_op(low, node, scope)
        case ast.UnaryOp():
            return _unary(low, node, scope)
        case ast.BinOp():
            return _bin_op(low, node, scope)
        case ast.IfExp():
            return _if_expression(low, node, scope)
        case ast.Subscript():
            return _subscript(low, node, scope)
        case ast.GeneratorExp():
            return Comprehension(node, scope.child())
        case ast.SetComp():
            comprehension = Comprehension(node, scope.child())
            # Evaluated twice at each level, a recursion would double with its depth.
            collected = as_set(low, comprehension) if low.levels else None
            if collected is not None:
                return collected
            check_elements(low, comprehension)
            return comprehension
        case ast.DictComp():
            return MapLiteral(node, scope.child())
        case ast.Dict(keys=keys, values=values):
            pairs = [(k, v) for k, v in zip(keys, values, strict=True) if k is not None]
            return MapItems(tuple((low.evaluate(k, scope), low.evaluate(v, scope)) for k, v in pairs))
        case ast.ListComp():
            return as_list(low, node, scope.child())
        case ast.Set(elts=elements):
            return _set_literal(low, [low.evaluate(item, scope) for item in elements], node)
        case ast.List(elts=elements):
            return SeqLiteral(tuple(low.evaluate(item, scope) for item in elements))
        case ast.Lambda():
            return Closure(node, scope.child())  # applied in the call that it is passed to, with the values of here
        case ast.Tuple(elts=elements):
            return Several(tuple(low.evaluate(item, scope) for item in elements))
        case _:
            low.code.refuse(node, f"'{type(node).__name__}' here")


def _subscript(low: Lowering, node: ast.Subscript, scope: Scope) -> Value:
    owner = collection(low.code, low.evaluate(node.value, scope), node)
    if isinstance(node.slice, ast.Slice):
        if not is_sequence(owner):
            low.code.refuse(node, "a slice of this value")
        return between(low, owner, node.slice, scope)
    key = low.evaluate(node.slice, scope)
    return position(low, owner, key, node) if is_sequence(owner) else subscript(low, owner, key, node)


def _attribute(low: Lowering, node: ast.Attribute, scope: Scope) -> Value:
    owner = low.evaluate(node.value, scope)
    if isinstance(owner, Python):
        if not hasattr(owner.object, node.attr):
            low.code.refuse(node, f"'{node.attr}' of {owner.object!r}")
        return python_value(getattr(owner.object, node.attr))
    return field_of(low, owner, node.attr, node)


def _compare(low: Lowering, node: ast.Compare, scope: Scope) -> Value:
    return Bool(_chain(low, node, low.kept(low.evaluate(node.left, scope)), 0, scope))


def _chain(low: Lowering, node: ast.Compare, left: Value, position: int, scope: Scope) -> Expr:
    """`a < b < c` from operator `position` on; the operands after a false comparison are not evaluated."""
    right = low.evaluate(node.comparators[position], scope)
    more = position + 1 < len(node.ops)
    _refuse_mixed(low, left, right, node)
    right = low.kept(right) if more else right
    result = _comparison(low, node.ops[position], left, right, node)
    if not more:
        return result
    return _if_needed(low, result, lambda: _chain(low, node, right, position + 1, scope), conjunction=True)


def _refuse_mixed(low: Lowering, left: Value, right: Value, node: ast.Compare) -> None:
    """To Python, True is 1 and False is 0; to a spec they are not: the literals 0 and 1 are compared with numbers
    only.
    """
    for one, other in ((left, right), (right, left)):
        if may_be(one, Bool, BoolType) and may_be(other, Num, IntType):
            literal = node.comparators[0]
            if isinstance(left, Bool) and isinstance(literal, ast.Constant) and literal.value in (0, 1):
                low.code.check(x.ZERO, node.left)
            else:
                low.code.refuse(node, "a Bool compared with a number", "compare numbers: 1 if b else 0")


def _comparison(low: Lowering, operator: ast.cmpop, left: Value, right: Value, node: Origin) -> Expr:
    match operator:
        case ast.Eq():
            return same(low, left, right, node)
        case ast.NotEq():
            return x.negate(same(low, left, right, node))
        case ast.Is():
            return is_none(left)
        case ast.IsNot():
            return x.negate(is_none(left))
        case ast.In():
            return member(low, left, right, node)
        case ast.NotIn():
            return x.negate(member(low, left, right, node))
    if isinstance(left, Several) and isinstance(right, Several):
        return _order_of_tuples(low, operator, left.items, right.items, node)
    first, second = (collection(low.code, value, node, SetType) for value in (left, right))
    first, second = (collection(low.code, value, node, IntType) for value in (first, second))
    if not isinstance(first, Num) and not isinstance(second, Num):
        return subset(low, operator, first, second, node)
    if not isinstance(first, Num) or not isinstance(second, Num):
        low.code.refuse(node, "an order of values that are not integers")
    a, b = first.code, second.code
    match operator:
        case ast.Lt():
            return x.ZERO if first.low >= second.high else x.binary("slt", a, b)
        case ast.LtE():
            return x.ONE if first.high <= second.low else x.binary("sle", a, b)
        case ast.Gt():
            return x.ZERO if first.high <= second.low else x.binary("slt", b, a)
        case _:
            return x.ONE if first.low >= second.high else x.binary("sle", b, a)


def _order_of_tuples(
    low: Lowering, operator: ast.cmpop, left: tuple[Value, ...], right: tuple[Value, ...], node: Origin
) -> Expr:
    """The order of tuples: that of the first items which differ, else that of their lengths."""
    if not left or not right:
        lengths = [Num(Const(len(items)), len(items), len(items)) for items in (left, right)]
        return _comparison(low, operator, lengths[0], lengths[1], node)
    strict: ast.cmpop = ast.Lt() if isinstance(operator, ast.Lt | ast.LtE) else ast.Gt()
    one, other = low.kept(left[0]), low.kept(right[0])
    first = _comparison(low, strict, one, other, node)
    later = _order_of_tuples(low, operator, left[1:], right[1:], node)
    return x.either(first, x.both(same(low, one, other, node), later))


def _bool_op(low: Lowering, node: ast.BoolOp, scope: Scope) -> Value:
    conjunction = isinstance(node.op, ast.And)
    result = low.truth(low.evaluate(node.values[0], scope), node.values[0])
    for operand in node.values[1:]:
        if isinstance(result, Const) and bool(result.value) != conjunction:
            return Bool(result)
        result = _connected(low, result, operand, scope, conjunction=conjunction)
    return Bool(result)


def _connected(low: Lowering, result: Expr, operand: ast.expr, scope: Scope, *, conjunction: bool) -> Expr:
    return _if_needed(low, result, lambda: low.truth(low.evaluate(operand, scope), operand), conjunction=conjunction)


def _if_needed(low: Lowering, result: Expr, operand: Callable[[], Expr], *, conjunction: bool) -> Expr:
    """`result and operand`, or `or`; the operand is evaluated only if it can matter, unless it is harmless code."""
    if isinstance(result, Const):
        return operand() if bool(result.value) == conjunction else result
    operands: list[Expr] = []
    draft = low.code.capture(lambda: operands.append(operand()))
    if _is_harmless(flat(draft)):
        low.code.emit(*flat(draft))
        return x.both(result, operands[0]) if conjunction else x.either(result, operands[0])
    name = low.code.fresh("b")
    low.code.emit(Let(name, result))
    low.code.into(draft, lambda: low.code.emit(Let(name, operands[0])))
    low.code.branch(Var(name) if conjunction else x.negate(Var(name)), draft)
    return Var(name)


def _is_harmless(body: tuple[Stmt, ...]) -> bool:
    """Whether statements only compute a few values: that costs less than a branch, and guards stay plain conditions."""
    return len(body) <= _HARMLESS and all(isinstance(statement, Let) for statement in body)


def _unary(low: Lowering, node: ast.UnaryOp, scope: Scope) -> Value:
    value = low.evaluate(node.operand, scope)
    if isinstance(node.op, ast.Not):
        return Bool(x.negate(low.truth(value, node.operand)))
    value = collection(low.code, value, node, IntType)
    if isinstance(node.op, ast.USub) and isinstance(value, Num):
        return Num(x.sub(x.ZERO, value.code), -value.high, -value.low)
    if isinstance(node.op, ast.UAdd) and isinstance(value, Num):
        return value
    low.code.refuse(node, "this operator")


def _bin_op(low: Lowering, node: ast.BinOp, scope: Scope) -> Value:
    left, right = low.evaluate(node.left, scope), low.evaluate(node.right, scope)
    if isinstance(node.op, ast.Add):
        first, second = (collection(low.code, value, node, SeqType) for value in (left, right))
        if is_sequence(first) and is_sequence(second):
            return joined(low, first, second, node)
    left, right = (materialize(low, collection(low.code, value, node, SetType), node) for value in (left, right))
    left, right = (collection(low.code, value, node, IntType) for value in (left, right))
    if isinstance(left, Num) and isinstance(right, Num):
        return in_range(low, _arithmetic(low, node, left, right), node)
    if isinstance(left, Num | Bool) and isinstance(right, Num | Bool):
        low.code.check(x.ZERO, node.left if isinstance(left, Bool) else node.right)
        return Num(x.ZERO, 0, 0)
    return _set_operation(low, node, left, right)


def _arithmetic(low: Lowering, node: ast.BinOp, left: Num, right: Num) -> Num:
    a, b = left.code, right.code
    match node.op:
        case ast.Add():
            return Num(x.add(a, b), left.low + right.low, left.high + right.high)
        case ast.Sub():
            return Num(x.sub(a, b), left.low - right.high, left.high - right.low)
        case ast.Mult():
            ends = [p * q for p in (left.low, left.high) for q in (right.low, right.high)]
            return Num(x.binary("mul", a, b), min(ends), max(ends))
        case ast.FloorDiv() if left.low >= 0 and right.low > 0:
            return Num(x.binary("udiv", a, b), left.low // right.high, left.high // right.low)
        case ast.Mod() if left.low >= 0 and right.low > 0:
            return Num(x.binary("urem", a, b), 0, min(left.high, right.high - 1))
        case ast.Pow():
            return power(low, left, right, node)
        case ast.FloorDiv() | ast.Mod():
            return divided(low, left, right, node, remainder=isinstance(node.op, ast.Mod))
    low.code.refuse(node, "this operator on numbers")


def _set_operation(low: Lowering, node: ast.BinOp, left: Value, right: Value) -> Value:
    if isinstance(left, EmptySet) and isinstance(right, EmptySet):
        return left
    if _are_messages(left) and _are_messages(right) and isinstance(node.op, ast.BitOr):
        assert isinstance(left, Messages | Joint)
        assert isinstance(right, Messages | Joint)
        networks = [value.networks if isinstance(value, Joint) else (value,) for value in (left, right)]
        return Joint((*networks[0], *networks[1]))
    left, right = with_masks(low, left, right, node)
    declared = common_type(left, right)
    if not isinstance(declared, SetType) or not share_words(left, right, declared):
        return _lazy_operation(low, node, left, right)
    if is_listed(declared):
        return listed_operation(low, _set_operator(low, node), left, right, declared, node)
    a, b = (pack(low.code, value, declared, node) for value in (left, right))
    return Packed(declared, joined_masks(_set_operator(low, node), a, b))


def _set_operator(low: Lowering, node: ast.BinOp) -> SetOperator:
    match node.op:
        case ast.BitOr():
            return "or"
        case ast.BitAnd():
            return "and"
        case ast.Sub():
            return "sub"
    low.code.refuse(node, "this operator on sets")


def _are_messages(value: Value) -> bool:
    """Whether a value is the messages of networks as they are in the state."""
    if isinstance(value, Joint):
        return True
    return isinstance(value, Messages) and not value.changes


def _lazy_operation(low: Lowering, node: ast.BinOp, left: Value, right: Value) -> Value:
    if not is_collection(left) or not is_collection(right):
        is_of_classes = isinstance(left, Python) and isinstance(right, Python)
        advice = "write isinstance(x, A) or isinstance(x, B)" if is_of_classes else None
        low.code.refuse(node, "this operator on these values", advice)
    return SetOp(_set_operator(low, node), left, right)


def _if_expression(low: Lowering, node: ast.IfExp, scope: Scope) -> Value:
    condition = low.truth(low.evaluate(node.test, scope), node.test)
    if isinstance(condition, Const):
        return low.evaluate(node.body if condition.value else node.orelse, scope)
    branches: list[Value] = []
    drafts = [
        low.code.capture(lambda branch=branch: branches.append(low.evaluate(branch, scope)))  # type: ignore[misc]  # bound now
        for branch in (node.body, node.orelse)
    ]
    value, setters = low.merge(branches, node)
    for draft, setter, mine in zip(drafts, setters, branches, strict=True):
        low.code.into(draft, lambda setter=setter, mine=mine: setter(mine))  # type: ignore[misc]  # bound now
    low.code.branch(condition, drafts[0], drafts[1])
    return value


def _set_literal(low: Lowering, items: list[Value], node: Origin) -> Value:
    if all(isinstance(item, Sym | Num | Bool) for item in items):
        kinds = {type_of(item) for item in items}
        declared = kinds.pop()
        if not kinds and isinstance(items[0], Sym) and declared is not None and key_count(declared) <= WORD:
            mask: Expr = x.ZERO
            for item in items:
                assert isinstance(item, Sym)
                mask = x.binary("or", mask, x.place_at(x.ONE, item.code))
            return Packed(SetType(declared), (mask,))
    return SetLiteral(tuple(items))
