r"""Formulas as conditions: `/\`, `\/`, `~`, `=>`, quantifiers, IF, CASE, equality.

A conjunct says something about those after it: after `m.type = Vote`, `m` is of the classes whose `type` may be Vote.
The test of the class is written too, since the compiled code needs it to read fields that other classes lack.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.tla.resolved.nodes import (
    BoundExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    FunctionConstructorExpr,
    IfExpr,
    NameBinding,
    PrimeExpr,
    QuantifiedExpr,
    SetEnumerationExpr,
    TupleExpr,
    UnchangedExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    BOOLEAN,
    NOTHING,
    BooleanShape,
    MapShape,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join,
)
from kmc.tla.translate.alike import alike
from kmc.tla.translate.comparable import are_incomparable, kind_of, may_be_incomparable
from kmc.tla.translate.eager import evaluated
from kmc.tla.translate.iteration import loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.membership import membership
from kmc.tla.translate.narrowing import guard, guard_or_never, operand
from kmc.tla.translate.pointwise import points_of
from kmc.tla.translate.scope import Delayed, TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation


def truth(source: str) -> TypedSource:
    """Return a condition."""
    return TypedSource(source, BOOLEAN)


def conjunction(t: Translation, node: ConjunctionExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `/\`: a conjunct is read with what those before it say."""
    return truth(f"({' and '.join(_conjuncts(t, node.items, scope))})")


def _conjuncts(t: Translation, items: tuple[Expression, ...], scope: TranslationScope) -> list[str]:
    if not items:
        return []
    test, found = guard_or_never(t, items[0], scope)
    if found is None:
        return [test, *(["checked(False, False)"] if len(items) > 1 else [])]
    with t.narrowed(found):
        return [test, *_conjuncts(t, items[1:], scope)]


def disjunction(t: Translation, node: DisjunctionExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `\/`."""
    return truth(f"({' or '.join(_whole_guard(t, item, scope) for item in node.items)})")


def _whole_guard(t: Translation, node: Expression, scope: TranslationScope) -> str:
    source = guard(t, node, scope)[0]
    return f"({source})"


def implication(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `=>`; the conclusion is read with what the premise says."""
    premise, found = guard_or_never(t, operand(node, 0), scope)
    if found is None:
        return truth(f"(not ({premise}) or checked(False, False))")
    with t.narrowed(found):
        return truth(f"(not ({premise}) or {t.source(operand(node, 1), scope)})")


def negation(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `~`."""
    return truth(f"(not {_whole_guard(t, operand(node, 0), scope)})")


def equivalence(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `<=>`, at which TLC stops unless both operands are Booleans."""
    codes = [t.value(operand(node, index), scope) for index in (0, 1)]
    for index, code in enumerate(codes):
        plain = alternatives_of(code.shape)
        if plain and not any(isinstance(one, BooleanShape) for one in plain):
            return truth("checked(False, False)")
        if not all(isinstance(one, BooleanShape) for one in plain):
            raise refusal("an operand of <=> that may not be a Boolean", operand(node, index).place)
    return truth(f"({codes[0].source} == {codes[1].source})")


def quantified(t: Translation, node: QuantifiedExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `\A` and `\E` outside of a choice."""
    parts = _in_each_operand(t, node, scope)
    if parts is not None:
        return parts
    inside = loops(t, node.ranges, scope, may_repeat=True)
    if inside is None:
        return truth(str(node.kind == "\\A"))
    word = "any" if node.kind == "\\E" else "all"
    return truth(f"{word}({guard(t, node.body, inside[0])[0]} {inside[1]})")


def _in_each_operand(t: Translation, node: QuantifiedExpr, scope: TranslationScope) -> TypedSource | None:
    r"""Return a quantifier over `S \union T` as one over each, where one is a network; None for another set.

    Compiled code makes no network of the messages of two.
    """
    (first, *others) = node.ranges
    domain, inner = head(first.domain, scope)
    if others or len(first.bindings) > 1 or not isinstance(domain, BuiltinExpr) or domain.operator != "\\union":
        return None
    sides = (operand(domain, 0), operand(domain, 1))
    if not any(t.value(side, inner).is_network for side in sides):
        return None
    names = [NameBinding("side", side.place) for side in sides]
    around = scope.bind(zip(names, (Delayed(side, inner) for side in sides), strict=True))
    reads = [BoundExpr(place=name.place, binding=name) for name in names]
    each = tuple(replace(node, ranges=(replace(first, domain=read),)) for read in reads)
    whole = DisjunctionExpr if node.kind == "\\E" else ConjunctionExpr
    return t.value(whole(place=node.place, items=each), around)


def conditional(t: Translation, node: IfExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate IF as a value."""
    condition, found = guard_or_never(t, node.condition, scope)
    if found is None:
        return _never(condition, t.value(node.otherwise, scope, want))
    with t.narrowed(found):
        then = t.value(node.then, scope, want)
    otherwise = t.value(node.otherwise, scope, join(want, then.shape) if want == NOTHING else want)
    if isinstance(then.shape, SequenceShape) and then.shape.longest == 0 and isinstance(otherwise.shape, MapShape):
        with t.narrowed(found):
            then = t.value(node.then, scope, otherwise.shape)  # the empty function, as the other branch writes it
    return either(condition, then, otherwise)


def either(condition: str, then: TypedSource, otherwise: TypedSource) -> TypedSource:
    """Return the value of IF."""
    source = f"({then.source} if {condition} else {otherwise.source})"
    return TypedSource(source, join(then.shape, otherwise.shape), then.is_network or otherwise.is_network)


def _never(condition: str, otherwise: TypedSource) -> TypedSource:
    """Return a value whose other branch no state takes: its condition would need a class that does not exist."""
    return replace(otherwise, source=f"checked({otherwise.source}, not ({condition}))")


def case(t: Translation, node: CaseExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate CASE as a value; without OTHER, the value of the last arm is defined only under its test."""
    if node.other is None:
        arms, (condition, value) = node.arms[:-1], node.arms[-1]
        test, classes = guard(t, condition, scope)
        with t.narrowed(classes):
            last = t.value(value, scope, want)
        code = TypedSource(f"checked({last.source}, {test})", last.shape, last.is_network)
    else:
        arms, code = node.arms, t.value(node.other, scope, want)
    for condition, value in reversed(arms):
        test, found = guard_or_never(t, condition, scope)
        if found is None:
            code = _never(test, code)
            continue
        with t.narrowed(found):
            code = either(test, t.value(value, scope, want), code)
    return code


def prime(t: Translation, node: PrimeExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate an expression in the next state."""
    with t.priming(node.place):
        return t.value(node.body, scope, want)


def unchanged(t: Translation, node: UnchangedExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate UNCHANGED as a condition, item by item."""
    tests = [_same(t, item, inner, node) for item, inner in _items(node.body, scope)]
    return truth(f"({' and '.join(tests) or 'True'})")


def _items(node: Expression, scope: TranslationScope) -> list[tuple[Expression, TranslationScope]]:
    inner, inner_scope = head(node, scope)
    if not isinstance(inner, TupleExpr):
        return [(inner, inner_scope)]
    return [pair for item in inner.items for pair in _items(item, inner_scope)]


def _same(t: Translation, node: Expression, scope: TranslationScope, whole: UnchangedExpr) -> str:
    if points_of(t, (node, scope), (node, scope)) is not None:
        return _compared(t, "==", (PrimeExpr(place=whole.place, body=node), scope), (node, scope))
    before = t.source(node, scope)
    with t.priming(whole.place):
        return f"{t.source(node, scope)} == {before}"


# Equality


def equality(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `=` and `#`."""
    sign = "==" if node.operator == "=" else "!="
    left, right = operand(node, 0), operand(node, 1)
    if _is_known(t, left, scope) and not _is_known(t, right, scope):
        left, right = right, left  # the side that is not written out says how tuples are kept
    joiner = " and " if node.operator == "=" else " or "
    pairs = _item_pairs(left, right, scope)
    if pairs is not None:
        if not pairs:
            return truth(str(sign == "=="))
        test = f"({joiner.join(_compared(t, sign, *pair) for pair in pairs)})"
        tests = [test for pair in pairs[1:] for part, inner in pair for test in evaluated(t, (part,), inner)]
        return truth(f"({' and '.join([*tests, test])})" if tests else test)
    return truth(_compared(t, sign, (left, scope), (right, scope)))


def _item_pairs(
    left: Expression, right: Expression, scope: TranslationScope
) -> list[tuple[tuple[Expression, TranslationScope], tuple[Expression, TranslationScope]]] | None:
    """Return the items of two tuples that are written out; these are equal item by item."""
    one, one_scope = head(left, scope)
    other, other_scope = head(right, scope)
    if not (isinstance(one, TupleExpr) and isinstance(other, TupleExpr)) or len(one.items) != len(other.items):
        return None
    return [((a, one_scope), (b, other_scope)) for a, b in zip(one.items, other.items, strict=True)]


def _compared(
    t: Translation, sign: str, left: tuple[Expression, TranslationScope], right: tuple[Expression, TranslationScope]
) -> str:
    place = left[0].place
    points = points_of(t, left, right)
    if points is not None:
        unequal = _compared(t, "!=", points.left, points.right)
        return f"(count({unequal} {points.clause}) {'==' if sign == '==' else '>'} 0)"
    one = t.value(*left)
    if _is_empty(*right):
        empty = SetShape(NOTHING) if isinstance(head(*right)[0], SetEnumerationExpr) else SequenceShape(NOTHING)
        if are_incomparable(one.shape, empty):
            return f"checked({sign == '!='}, False)"
        if {"set", "function"} <= {kind_of(plain) for plain in alternatives_of(one.shape)}:
            raise refusal("comparing what may be a set or a function with an empty one", place)
        if isinstance(one.shape, RecordShape):
            # A record is not empty. What may have no value is evaluated, so the search stops where TLC does.
            is_sure = is_total(t, *left, trusts_guards=False)
            return str(sign == "!=") if is_sure else f"({one.source} {'!=' if sign == '==' else '=='} {one.source})"
        return f"(len({one.source}) {sign} 0)"
    other = t.value(*right, one.shape)
    one, other = alike(t, one, other, left[0].place)
    _refuse_unlike(one.shape, other.shape, left[0], place)
    if are_incomparable(one.shape, other.shape):
        return f"checked({sign == '!='}, False)"
    if may_be_incomparable(one.shape, other.shape):
        raise refusal("a comparison of values of several kinds, at which TLC stops where the kinds differ,", place)
    return f"({one.source} {sign} {other.source})"


def _is_known(t: Translation, node: Expression, scope: TranslationScope) -> bool:
    """Return whether an expression is written as its elements, or constant."""
    inner, scope = head(node, scope)
    is_written = isinstance(inner, TupleExpr | SetEnumerationExpr | FunctionConstructorExpr)
    return is_written or t.constant(inner, scope) is not None


def _is_empty(node: Expression, scope: TranslationScope) -> bool:
    inner, _ = head(node, scope)
    return isinstance(inner, TupleExpr | SetEnumerationExpr) and not inner.items


def _refuse_unlike(left: Shape, right: Shape, node: Expression, place: object) -> None:
    """Refuse to compare two representations of functions: the words of kmc would say that they differ."""
    kinds = [{_family(plain) for plain in alternatives_of(shape)} - {""} for shape in (left, right)]
    if kinds[0] and kinds[1] and not kinds[0] & kinds[1]:
        raise refusal("comparing a tuple with a function", node.place)


def _family(shape: Shape) -> str:
    match shape:
        case MapShape():
            return "map"
        case SequenceShape():
            return "sequence"
        case RecordShape(classes) if any(key.is_tuple for key in classes):
            return "tuple"
        case _:
            return ""


def membership_of(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `\in` and `\notin`."""
    source = membership(t, operand(node, 0), scope, operand(node, 1), scope)
    return truth(source if node.operator == "\\in" else f"(not {source})")
