r"""CHOOSE: the first element, in the order of the interpreter, that satisfies a condition.

The least number is a minimum. Where the possible elements are known, as strings, model values and the elements of a
constant set are, each is tested in turn. Another set has no order in kmc's language: there, all elements that satisfy
the condition have to give one value, and compiled code stops where they give several. So the value of
`(CHOOSE m \in S : P).f` may be known where that of the CHOOSE is not.
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.tla.resolved.nodes import BoundExpr, BuiltinExpr, ChooseExpr, Expression, SetEnumerationExpr
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import NOTHING, Atom, AtomShape, BooleanShape, NumberShape, SetShape, Shape
from kmc.tla.translate.iteration import choose, iterable
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.logic import either
from kmc.tla.translate.membership import membership
from kmc.tla.translate.narrowing import guard, operand
from kmc.tla.translate.ranks import least_record
from kmc.tla.translate.scope import SpecLocal, TranslationScope, TypedSource, expression_of, head, local_of
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import FALSE, TRUE, FunctionValue, Value

_CANDIDATES_MAX = 24


def chosen(t: Translation, node: ChooseExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `CHOOSE x \in S : P`."""
    first = first_in_order(t, node, scope, want)
    if first is not None:
        return first
    empty = _empty_subset(t, node, scope)
    if empty is None:
        return only_value(t, node, scope, lambda element: element, want)
    test, code = empty
    return code if test == "True" else either(test, code, only_value(t, node, scope, lambda element: element, want))


def _empty_subset(t: Translation, node: ChooseExpr, scope: TranslationScope) -> tuple[str, TypedSource] | None:
    """Return whether the empty set satisfies the condition, and that set: it is the first one in `SUBSET S`."""
    assert node.range is not None
    domain, inner = head(node.range.domain, scope)
    if not isinstance(domain, BuiltinExpr) or domain.operator != "SUBSET":
        return None
    empty = TypedSource("set()", SetShape(NOTHING))
    test, _ = guard(t, node.body, scope.bind(((node.range.bindings[0], SpecLocal(empty)),)))
    base = operand(domain, 0)
    if not is_total(t, base, inner, trusts_guards=False):
        source = t.source(base, inner)
        empty = TypedSource(f"checked(set(), {source} == {source})", empty.shape)
    return test, empty


def only_value(
    t: Translation,
    node: ChooseExpr,
    scope: TranslationScope,
    part: Callable[[Expression], Expression],
    want: Shape = NOTHING,
) -> TypedSource:
    """Return a part of the chosen element, which is the same for all elements that satisfy the condition.

    A map has one value for its key 0; compiled code stops at several, and where there is none.
    """
    assert node.range is not None
    binding, domain = node.range.bindings[0], node.range.domain
    choice = choose(t, domain, scope, binding.name)
    if choice is None or not (binding in t.facts.of(node.body).free or _may_have_one(t, domain, scope)):
        what = "a CHOOSE from a set whose elements are not known before, or which SYMMETRY permutes"
        raise refusal(what, node.place)
    inner = scope.bind(((binding, choice.entry),))
    test, found = guard(t, node.body, inner)
    with t.narrowed(found):
        value = t.value(part(BoundExpr(place=node.place, binding=binding)), inner, want)
    clauses = " ".join(clause.text for clause in choice.clauses)
    source = f"{{0: {value.source} {clauses} if {test}}}[0]"
    t.choices[source] = node.place
    return TypedSource(source, value.shape)


def _may_have_one(t: Translation, domain: Expression, scope: TranslationScope) -> bool:
    """Return whether a set may have one element by what it is, as no constant, parameter or enumeration has."""
    node, scope = head(domain, scope)
    local = local_of(node, scope)
    if local is not None:
        return local.origin is not None and _may_have_one(t, expression_of(local.origin), local.origin.scope)
    return not isinstance(node, SetEnumerationExpr) and t.constant(node, scope) is None


def first_in_order(t: Translation, node: ChooseExpr, scope: TranslationScope, want: Shape) -> TypedSource | None:
    """Return the first element that satisfies the condition, None where compiled code does not know the order."""
    if node.range is None or node.range.is_pattern:
        raise refusal("this CHOOSE", node.place)
    numbers = _least_number(t, node, scope)
    if numbers is not None:
        return numbers
    candidates, is_whole = _candidates(t, node.range.domain, scope)
    if not candidates:
        return least_record(t, node, scope)
    if len(candidates) > _CANDIDATES_MAX:
        return None
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
    value: Value | None = t.constant(*head(domain, scope))
    if value is None:
        value = t.listed(domain, scope)  # a product, which is not listed anywhere else
    if not isinstance(value, frozenset) or (value and all(type(item) is int for item in value)):
        return None
    return value


def _candidates(t: Translation, domain: Expression, scope: TranslationScope) -> tuple[list[Value], bool]:
    """Return the possible elements of a set in their order, and whether these are the elements."""
    constant = _constant_set(t, domain, scope)
    if constant is not None:
        return _unless_permuted(t, t.in_order(constant)), True
    node, inner = head(domain, scope)
    _, shape = iterable(t, node, inner)
    match shape:
        case AtomShape(atoms):
            return _unless_permuted(t, t.in_order(frozenset(atoms))), False
        case BooleanShape():
            return [FALSE, TRUE], False
        case _:
            return [], False


def _unless_permuted(t: Translation, values: list[Value]) -> list[Value]:
    """Return the values, none if there are some that SYMMETRY permutes: these have no order."""
    permuted = {atom for group in t.names.groups if group.is_symmetric for atom in group.atoms}
    return [] if any(_mentions(value, permuted) for value in values) else values


def _mentions(value: object, atoms: set[Atom]) -> bool:
    match value:
        case frozenset() | tuple():
            return any(_mentions(item, atoms) for item in value)
        case FunctionValue():
            return any(_mentions(item, atoms) for pair in value.items() for item in pair)
        case _:
            return value in atoms
