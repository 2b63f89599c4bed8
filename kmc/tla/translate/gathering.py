r"""A recursion that goes through a set and adds some of its elements to another set, as a filter.

`F(S, acc)`, which is `acc` for an empty S and else `F(S \ {m}, IF P(m) THEN acc \union {m} ELSE acc)` for any element m
of S, is `acc \union {m \in S : P(m)}` in whatever order CHOOSE takes the elements. P depends on neither `acc` nor S.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmc.errors import SpecError
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    BooleanExpr,
    BoundExpr,
    BuiltinExpr,
    ChooseExpr,
    Expression,
    IfExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    SetEnumerationExpr,
)
from kmc.tla.shapes.shape import NOTHING, SetShape, Shape, join
from kmc.tla.translate.iteration import iterable
from kmc.tla.translate.narrowing import guard, operand
from kmc.tla.translate.scope import ROOT, LetScope, SpecLocal, TranslationScope, TypedSource, head, local_of
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import TRUE, TlaBoolean


@dataclass(frozen=True, slots=True)
class _Gathering:
    """The parameters of a recursion, and the set that each call hands on, in the scope of that call."""

    rest: NameBinding
    gathered: NameBinding
    element: SpecLocal
    next_set: Expression
    scope: TranslationScope


def gathered(t: Translation, node: ApplyExpr, scope: TranslationScope, want: Shape) -> TypedSource | None:
    """Translate the application of such a recursion; None for another one."""
    definition = node.operator
    assert isinstance(definition, OperatorDefinition)
    if definition.is_local or len(definition.parameters) != 2 or definition.body is None:
        return None
    for index in (0, 1):
        rest, kept = definition.parameters[index], definition.parameters[1 - index]
        if _gathering(definition, (rest, kept), SpecLocal(TypedSource("element", NOTHING))) is None:
            continue
        try:
            elements, shape = iterable(t, node.arguments[index], scope)
            base = t.value(node.arguments[1 - index], scope, want)
            local = t.names.fresh("element")
            found = _gathering(definition, (rest, kept), SpecLocal(TypedSource(local, shape)))
            test = None if found is None else _is_added(t, found, found.next_set, found.scope)
        except SpecError:
            continue
        if test is not None:
            some = f"{{{local} for {local} in {elements} if {test}}}"
            whole = f"{base.source}.send_all({some})" if base.is_network else f"({base.source} | {some})"
            return TypedSource(whole, join(base.shape, SetShape(shape)), base.is_network)
    return None


def _gathering(
    definition: OperatorDefinition, parameters: tuple[NameBinding, NameBinding], element: SpecLocal
) -> _Gathering | None:
    """Recognise the recursion by its body, in which the element that CHOOSE takes is a local."""
    rest, kept = parameters
    body, scope = head(definition.body, ROOT)  # type: ignore[arg-type]  # it has a body
    if not isinstance(body, IfExpr) or not _is_end(body.condition, scope, rest) or not _is(body.then, scope, kept):
        return None
    if not isinstance(body.otherwise, LetExpr):
        return None
    chosen: OperatorDefinition | None = None
    for one in body.otherwise.definitions:
        is_chosen = not one.parameters and _is_any_element(one, scope, rest)
        chosen = one if is_chosen else chosen
        scope = scope.bind(((one, element if is_chosen else LetScope(scope)),))
    call = body.otherwise.body
    if chosen is None or not isinstance(call, ApplyExpr) or call.operator is not definition:
        return None
    given = dict(zip(definition.parameters, call.arguments, strict=True))
    less, inner = head(given[rest], scope)
    is_without = isinstance(less, BuiltinExpr) and less.operator == "\\" and _is(operand(less, 0), inner, rest)
    if not is_without or not _is_single(operand(less, 1), inner, element):  # type: ignore[arg-type]  # as tested
        return None
    return _Gathering(rest, kept, element, given[kept], scope)  # type: ignore[arg-type]  # it is compared as a set


def _is(node: Expression, scope: TranslationScope, name: NameBinding) -> bool:
    inner, _ = head(node, scope)
    return isinstance(inner, BoundExpr) and inner.binding is name


def _is_end(node: Expression, scope: TranslationScope, rest: NameBinding) -> bool:
    """Return whether a condition is `S = {}`."""
    inner, scope = head(node, scope)
    if not isinstance(inner, BuiltinExpr) or inner.operator != "=":
        return False
    empty, _ = head(operand(inner, 1), scope)
    return _is(operand(inner, 0), scope, rest) and isinstance(empty, SetEnumerationExpr) and not empty.items


def _is_any_element(definition: OperatorDefinition, scope: TranslationScope, rest: NameBinding) -> bool:
    r"""Return whether a definition is `CHOOSE m \in S : TRUE`."""
    node = definition.body
    if not isinstance(node, ChooseExpr) or node.range is None or node.range.is_pattern:
        return False
    is_any = isinstance(node.body, BooleanExpr) and node.body.value
    return is_any and _is(node.range.domain, scope, rest)


def _is_single(node: Expression, scope: TranslationScope, element: SpecLocal) -> bool:
    """Return whether a set has the element as the only one."""
    inner, scope = head(node, scope)
    return isinstance(inner, SetEnumerationExpr) and len(inner.items) == 1 and _reads(inner.items[0], scope, element)


def _reads(node: Expression, scope: TranslationScope, element: SpecLocal) -> bool:
    return local_of(*head(node, scope)) is element


def _is_added(t: Translation, found: _Gathering, node: Expression, scope: TranslationScope) -> str | None:
    """Return the condition under which a set is the gathered one with the element; None for another set."""
    node, scope = head(node, scope)
    if _is(node, scope, found.gathered):
        return "False"
    match node:
        case IfExpr():
            known = t.constant(*head(node.condition, scope))
            if isinstance(known, TlaBoolean):
                return _is_added(t, found, node.then if known is TRUE else node.otherwise, scope)
            test, classes = guard(t, node.condition, scope)
            with t.narrowed(classes):
                then = _is_added(t, found, node.then, scope)
            otherwise = _is_added(t, found, node.otherwise, scope)
            if then is None or otherwise is None:
                return None
            return f"({test})" if (then, otherwise) == ("True", "False") else f"({then} if {test} else {otherwise})"
        case BuiltinExpr(operator="\\union"):
            is_grown = _is(operand(node, 0), scope, found.gathered)
            return "True" if is_grown and _is_single(operand(node, 1), scope, found.element) else None
    return None
