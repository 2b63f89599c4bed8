r"""Expressions that TLC evaluates whole before it uses a part of them: the filter of a set, a record, `{a, b}`.

`any(... for j in S if s[j])` ends at the first j that will do. TLC evaluates `{j \\in S : s[j]}` first, and stops where
s[j] has no value for some j. So the condition is evaluated for all elements, unless it has a value for each of them.
In the same way `[a |-> e, b |-> f].b` evaluates e, and `x \\in {e, f}` both.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmc.errors import SpecError
from kmc.tla.resolved.nodes import (
    Argument,
    BoundRange,
    BuiltinExpr,
    Expression,
    FunctionSetExpr,
    ProductExpr,
    RecordSetExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import AtomShape, BooleanShape, NumberShape, alternatives_of
from kmc.tla.translate.iteration import loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.scope import TranslationScope, head
from kmc.tla.translate.translation import Translation

_MADE_OF_SETS = ("\\union", "\\intersect", "\\", "SUBSET", "Seq")
_SCALARS = (AtomShape, BooleanShape, NumberShape)
_ONE_BY_ONE = (FunctionSetExpr, ProductExpr, RecordSetExpr)


def listed_whole(t: Translation, domains: tuple[Argument, ...], scope: TranslationScope) -> str:
    """Return the conditions, each with ` and ` behind it, that evaluate filters whose condition may have no value."""
    return "".join(f"{test} and " for domain in domains for test in _evaluated(t, domain, scope))


def evaluated(t: Translation, parts: Iterable[Argument], scope: TranslationScope) -> list[str]:
    """Return conditions that evaluate the numbers, atoms and truth values among some parts that may have no value."""
    codes = [t.value(part, scope) for part in parts if not is_total(t, part, scope, trusts_guards=False)]
    kinds = [alternatives_of(code.shape) for code in codes]
    scalars = [bool(plain) and all(isinstance(one, _SCALARS) for one in plain) for plain in kinds]
    return [f"({code.source} == {code.source})" for code, is_scalar in zip(codes, scalars, strict=True) if is_scalar]


def evaluated_set(t: Translation, domain: Argument, scope: TranslationScope) -> list[str]:
    """Return conditions that evaluate what a set is made of: a test of an element would end at the first part."""
    node, inner = head(domain, scope)
    match node:
        case SetEnumerationExpr(items=items):
            return evaluated(t, items, inner)
        case BuiltinExpr(operator="..", arguments=bounds):
            return evaluated(t, bounds, inner)
        case BuiltinExpr(operator="UNION", arguments=(sets,)):
            outer, around = head(sets, inner)
            return _made_of(t, outer.items if isinstance(outer, SetEnumerationExpr) else (), around)
        case BuiltinExpr(operator=operator, arguments=parts) if operator in _MADE_OF_SETS:
            return _made_of(t, parts, inner)
        case ProductExpr(sets=parts):
            return _made_of(t, parts, inner)
        case RecordSetExpr(fields=fields):
            return _made_of(t, [part for _, part in fields], inner)
        case FunctionSetExpr(domain=keys, codomain=values):
            return _made_of(t, (keys, values), inner)
        case _:
            return []


def _made_of(t: Translation, parts: Iterable[Argument], scope: TranslationScope) -> list[str]:
    """Return conditions that evaluate the sets that another one is made of."""
    found: list[str] = []
    for part in parts:
        tests = [*_evaluated(t, part, scope), *evaluated_set(t, part, scope)]
        found += tests or _listed(t, part, scope)
    return found


def _listed(t: Translation, part: Argument, scope: TranslationScope) -> list[str]:
    """Return the condition that evaluates a set that may have no value, unless kmc's language has no such set."""
    if is_total(t, part, scope) or isinstance(head(part, scope)[0], _ONE_BY_ONE):
        return []
    try:
        source = t.source(part, scope)
    except SpecError:
        return []
    return [f"({source} == {source})"]


def domains_of(ranges: tuple[BoundRange, ...]) -> tuple[Argument, ...]:
    """Return the sets of some ranges."""
    return tuple(bound.domain for bound in ranges)


def _evaluated(t: Translation, domain: Argument, scope: TranslationScope) -> list[str]:
    node, inner = head(domain, scope)
    if isinstance(node, BuiltinExpr) and node.operator == "UNION":
        sets, around = head(node.arguments[0], inner)
        _refuse_partial_functions(t, (sets, around))
        return (
            [test for bound in sets.ranges for test in _evaluated(t, bound.domain, around)]
            if isinstance(sets, SetMapExpr)
            else []
        )
    if not isinstance(node, SetFilterExpr) or is_total(t, node, inner):
        return []
    base, _ = head(node.range.domain, inner)
    if isinstance(base, _ONE_BY_ONE) or (isinstance(base, BuiltinExpr) and base.operator == "SUBSET"):
        return []  # TLC filters such a set element by element
    inside = loops(t, (node.range,), inner)
    if inside is None:
        return []
    condition = guard(t, node.condition, inside[0])[0]
    return [f"all(({condition}) == ({condition}) {inside[1]})"]


def _refuse_partial_functions(t: Translation, sets: tuple[Expression, TranslationScope]) -> None:
    r"""Refuse `UNION {[S(y) -> T(y)] : y \in U}` unless S(y) and T(y) have values for every y: TLC evaluates these."""
    node, scope = sets
    body = head(node.body, scope)[0] if isinstance(node, SetMapExpr) else node
    if not isinstance(node, SetMapExpr) or not isinstance(body, FunctionSetExpr):
        return
    inside = loops(t, node.ranges, scope, may_repeat=True)
    if inside is None:
        return
    body, around = head(node.body, inside[0])
    assert isinstance(body, FunctionSetExpr)
    if not all(is_total(t, part, around) for part in (body.domain, body.codomain)):
        raise refusal("a union of sets of functions whose domain or codomain may have no value", node.place)
