r"""Expressions that TLC evaluates whole before it uses a part of them: the filter of a set that it lists.

`any(... for j in S if s[j])` ends at the first j that will do. TLC evaluates `{j \\in S : s[j]}` first, and stops where
s[j] has no value for some j. So the condition is evaluated for all elements, unless it has a value for each of them.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    Argument,
    BoundRange,
    BuiltinExpr,
    FunctionSetExpr,
    ProductExpr,
    RecordSetExpr,
    SetFilterExpr,
)
from kmc.tla.translate.iteration import loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.scope import TranslationScope, head
from kmc.tla.translate.translation import Translation

_ONE_BY_ONE = (FunctionSetExpr, ProductExpr, RecordSetExpr)


def listed_whole(t: Translation, domains: tuple[Argument, ...], scope: TranslationScope) -> str:
    """Return the conditions, each with ` and ` behind it, that evaluate filters whose condition may have no value."""
    return "".join(f"{test} and " for domain in domains for test in _evaluated(t, domain, scope))


def domains_of(ranges: tuple[BoundRange, ...]) -> tuple[Argument, ...]:
    """Return the sets of some ranges."""
    return tuple(bound.domain for bound in ranges)


def _evaluated(t: Translation, domain: Argument, scope: TranslationScope) -> list[str]:
    node, inner = head(domain, scope)
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
