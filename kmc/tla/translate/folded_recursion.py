r"""Recursion over numbers that gives a function: `f[n \in Nat] == [x \in S |-> IF n = 0 THEN e ELSE ... f[n - 1] ...]`.

The value for n is a fold of the step over 1..n, which evaluates each of the functions once, as TLC does. A chain of
helpers would evaluate f[n - 1] at each element of S.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import Any

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    BuiltinExpr,
    Expression,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    IfExpr,
    LetExpr,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    RecursiveFunctionExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import NumberShape, join
from kmc.tla.translate.facts import children
from kmc.tla.translate.membership import in_domain
from kmc.tla.translate.scope import ROOT, Delayed, SpecLocal, TranslationScope, TypedSource
from kmc.tla.translate.translation import Translation

_ROUNDS_MAX = 6
_STEPS_MAX = 64


def folded_recursion(
    t: Translation, node: RecursiveFunctionExpr, around: TranslationScope, argument: Argument, scope: TranslationScope
) -> TypedSource | None:
    """Translate the application of a recursive function whose values are functions, None for another recursion."""
    body, number = node.body, node.ranges[0].bindings[0]
    if not isinstance(body, FunctionConstructorExpr) or not isinstance(body.body, IfExpr):
        return None
    begin = _compared_number(body.body.condition, number)
    base, step = replace(body, body=body.body.then), replace(body, body=body.body.otherwise)
    top, end = t.value(argument, scope), _end(t, node, around, argument, scope)
    if begin is None or end is None or not _uses(t, step, node.itself, number) or _names(t, base, node.itself):
        return None
    before = NameBinding("before", node.place)
    read = BoundExpr(place=node.place, binding=before)
    first = t.value(base, around.bind(((number, Delayed(NumberExpr(place=node.place, value=begin), ROOT)),)))
    so_far, at = t.names.fresh("so_far"), t.names.fresh(number.name)
    steps = NumberShape(begin + 1, begin + _STEPS_MAX)
    written, shape = _replaced(step, node.itself, read), first.shape
    for _ in range(_ROUNDS_MAX):
        pairs = ((number, SpecLocal(TypedSource(at, steps))), (before, SpecLocal(TypedSource(so_far, shape))))
        code = t.value(written, around.bind(pairs), shape)
        if join(shape, code.shape) == shape:
            source = f"fold(lambda {so_far}, {at}: {code.source}, {first.source}, range({begin + 1}, {end} + 1))"
            inside = in_domain(t, argument, scope, node.ranges[0].domain, around)
            return TypedSource(f"checked({source}, {inside} and {top.source} >= {begin})", shape)
        shape = join(shape, code.shape)
    raise refusal(f"the recursive {node.itself.name}, whose values keep growing", node.place)


def _end(
    t: Translation, node: RecursiveFunctionExpr, around: TranslationScope, argument: Argument, scope: TranslationScope
) -> str | None:
    """Return the number that the steps end at, None where compiled code knows no greatest one."""
    top, domain = t.value(argument, scope), t.listed(node.ranges[0].domain, around)
    match top.shape:
        case NumberShape(int(), int()):
            return top.source
        case NumberShape() if domain is not None:
            return f"min({top.source}, {max((one for one in domain if isinstance(one, int)), default=0)})"
    return None


def _compared_number(condition: Expression, number: NameBinding) -> int | None:
    """Return the number of `n = 0`, None for another condition."""
    match condition:
        case BuiltinExpr(operator="=", arguments=(BoundExpr(binding=binding), NumberExpr(value=value))):
            return value if binding is number else None
    return None


def _uses(t: Translation, node: Argument, itself: NameBinding, number: NameBinding) -> bool:
    """Return whether all that an expression says of the function is `f[n - 1]`."""
    match node:
        case FunctionApplicationExpr(function=BoundExpr(binding=binding), argument=argument) if binding is itself:
            match argument:
                case BuiltinExpr(operator="-", arguments=(BoundExpr(binding=of), NumberExpr(value=1))):
                    return of is number
            return False
        case BoundExpr(binding=binding):
            return binding is not itself
        case LetExpr() | ApplyExpr(operator=OperatorDefinition(is_local=True)):
            return not _names(t, node, itself)
    return all(_uses(t, child, itself, number) for child in children(node))


def _names(t: Translation, node: Argument, itself: NameBinding) -> bool:
    return itself in t.facts.of(node).free


def _replaced(node: Any, itself: NameBinding, read: Expression) -> Any:
    """Return an expression with `read` in place of the applications of the function."""
    match node:
        case FunctionApplicationExpr(function=BoundExpr(binding=binding)) if binding is itself:
            return read
        case tuple():
            parts = tuple(_replaced(part, itself, read) for part in node)
            return node if all(map(is_, parts, node)) else parts
        case OperatorDefinition() | NameBinding():
            return node
    if not is_dataclass(node) or isinstance(node, type):
        return node
    names = [one.name for one in fields(node) if one.name != "place"]
    changed = {name: _replaced(getattr(node, name), itself, read) for name in names}
    if all(getattr(node, name) is value for name, value in changed.items()):
        return node
    return replace(node, **changed)
