r"""CHOOSE: the first element, in the order of the interpreter, that satisfies a condition.

The least number is a minimum. Where the possible elements are known, as strings, model values and the elements of a
constant set are, each is tested in turn. Another set has no order in kmc's language, so its CHOOSE is refused.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import BoundExpr, ChooseExpr, Expression
from kmc.tla.shapes.shape import AtomShape, BooleanShape, NumberShape, Shape
from kmc.tla.translate.iteration import choose, iterable
from kmc.tla.translate.logic import either
from kmc.tla.translate.membership import membership
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.ranks import least_record
from kmc.tla.translate.refusal import refusal
from kmc.tla.translate.scope import SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import FALSE, TRUE, Value

_CANDIDATES_MAX = 24


def chosen(t: Translation, node: ChooseExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `CHOOSE x \in S : P`."""
    if node.range is None or node.range.is_pattern:
        raise refusal("this CHOOSE", node.place)
    numbers = _least_number(t, node, scope)
    if numbers is not None:
        return numbers
    candidates, is_whole = _candidates(t, node.range.domain, scope)
    if not candidates:
        record = least_record(t, node, scope)
        if record is not None:
            return record
    if not 0 < len(candidates) <= _CANDIDATES_MAX:
        raise refusal("a CHOOSE from a set whose elements are not known before", node.place)
    code: TypedSource | None = None
    for value in reversed(candidates):
        element = t.literal(value, want)
        inner = scope.bind(((node.range.bindings[0], SpecLocal(element)),))
        test = guard(t, node.body, inner)[0]
        if not is_whole:
            binding = node.range.bindings[0]
            bound = TranslationScope().bind(((binding, SpecLocal(element)),))
            read = BoundExpr(place=node.place, binding=binding)
            inside = membership(t, read, bound, node.range.domain, scope)
            test = inside if test == "True" else f"({inside}) and ({test})"
        if code is None:
            code = TypedSource(f"checked({element.source}, {test})", element.shape)
        else:
            code = either(test, element, code)
    assert code is not None
    return code


def _least_number(t: Translation, node: ChooseExpr, scope: TranslationScope) -> TypedSource | None:
    """Return the least number that satisfies the condition, None for a set of anything else."""
    assert node.range is not None
    if _constant_set(t, node.range.domain, scope) is not None:
        return None
    choice = choose(t, node.range.domain, scope, node.range.bindings[0].name)
    if choice is None or not isinstance(choice.entry, SpecLocal):
        return None
    code = choice.entry.code
    if not isinstance(code.shape, NumberShape):
        return None
    inner = scope.bind(((node.range.bindings[0], choice.entry),))
    clauses = " ".join(clause.text for clause in choice.clauses)
    return TypedSource(f"min({code.source} {clauses} if {guard(t, node.body, inner)[0]})", code.shape)


def _constant_set(t: Translation, domain: Expression, scope: TranslationScope) -> frozenset[Value] | None:
    """Return a constant set, unless it is one of numbers, which has a least element without a list."""
    value = t.constant(*head(domain, scope))
    if not isinstance(value, frozenset) or (value and all(type(item) is int for item in value)):
        return None
    return value


def _candidates(t: Translation, domain: Expression, scope: TranslationScope) -> tuple[list[Value], bool]:
    """Return the possible elements of a set in their order, and whether these are the elements."""
    constant = _constant_set(t, domain, scope)
    if constant is not None:
        return t.in_order(constant), True
    node, inner = head(domain, scope)
    _, shape = iterable(t, node, inner)
    match shape:
        case AtomShape(atoms):
            if any(group.is_symmetric and atoms & set(group.atoms) for group in t.names.groups):
                raise refusal("a CHOOSE among values that SYMMETRY permutes", domain.place)
            return t.in_order(frozenset(atoms)), False
        case BooleanShape():
            return [FALSE, TRUE], False
        case _:
            return [], False
