r"""ENABLED A as a condition: whether some way through A assigns values to primed variables and makes all of A true.

The conjuncts are walked as those of an action are, with what is assigned so far; a choice is an `any` around the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    BoundExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    Expression,
    IfExpr,
    NameBinding,
    OwnVariableExpr,
    PrimeExpr,
    QuantifiedExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.resolved.own_variables import with_own_variables
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import BOOLEAN, NOTHING, Shape
from kmc.tla.translate.eager import domains_of, listed_whole
from kmc.tla.translate.iteration import choose, loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.narrowing import guard, operand
from kmc.tla.translate.scope import TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Assigned, StateReading, Translation

Part = tuple[Expression, TranslationScope]


def enabled(t: Translation, node: EnabledExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate ENABLED."""
    if t.is_primed or t.reading is StateReading.INITIAL:
        raise refusal("ENABLED of a new state", node.place)
    before = t.reading, t.assigned
    t.reading = StateReading.ACTION
    try:
        action, _ = with_own_variables(node, len(t.shapes))
        return TypedSource(f"({_possible(t, [(action, scope)], {})})", BOOLEAN)
    finally:
        t.reading, t.assigned = before


def _possible(t: Translation, parts: Sequence[Part], assigned: Assigned) -> str:
    """Return whether formulas can be true together, after some variables have got their values."""
    t.assigned = assigned
    if not parts:
        return "True"
    (node, scope), rest = parts[0], parts[1:]
    node, scope = head(node, scope)
    if not t.deep.has_primes(node, scope):
        return _guarded(t, (node, scope), rest, assigned)
    match node:
        case ConjunctionExpr():
            return _possible(t, [*((item, scope) for item in node.items), *rest], assigned)
        case DisjunctionExpr():
            ways = [f"({_possible(t, [(item, scope), *rest], assigned)})" for item in node.items]
            return f"({' or '.join(ways)})"
        case IfExpr():
            test, found = guard(t, node.condition, scope)
            with t.narrowed(found):
                then = _possible(t, [(node.then, scope), *rest], assigned)
            return f"({then} if {test} else {_possible(t, [(node.otherwise, scope), *rest], assigned)})"
        case QuantifiedExpr(kind="\\E"):
            inside = loops(t, node.ranges, scope)
            if inside is None:
                return "False"
            whole = listed_whole(t, domains_of(node.ranges), scope)
            return f"{whole}any({_possible(t, [(node.body, inside[0]), *rest], assigned)} {inside[1]})"
        case BuiltinExpr(operator="=" | "\\in"):
            return _assigning(t, node, scope, rest, assigned)
        case AngleActionExpr():
            return _possible(t, [(node.action, scope), (_changing(node), scope), *rest], assigned)
        case BoxActionExpr():
            unchanged = UnchangedExpr(node.subscript, place=node.place)
            either = DisjunctionExpr((node.action, unchanged), place=node.place)
            return _possible(t, [(either, scope), *rest], assigned)
        case UnchangedExpr():
            return _unchanging(t, node.body, scope, rest, assigned)
        case CaseExpr():
            return _case(t, node, scope, rest, assigned)
        case QuantifiedExpr():
            raise refusal("ENABLED of this formula", node.place)
        case _:
            return _guarded(t, (node, scope), rest, assigned)


def _case(t: Translation, node: CaseExpr, scope: TranslationScope, rest: Sequence[Part], assigned: Assigned) -> str:
    """Translate CASE: the first arm whose condition is true decides, and TLC stops where there is none."""
    source = "checked(False, False)"
    if node.other is not None:
        source = _possible(t, [(node.other, scope), *rest], assigned)
    for condition, value in reversed(node.arms):
        t.assigned = assigned
        test, found = guard(t, condition, scope)
        with t.narrowed(found):
            then = _possible(t, [(value, scope), *rest], assigned)
        source = f"({then} if {test} else {source})"
    return source


def _changing(node: AngleActionExpr) -> Expression:
    """Return v' # v, which is a condition on values that are assigned."""
    return BuiltinExpr("~", (UnchangedExpr(node.subscript, place=node.place),), place=node.place)


def _guarded(t: Translation, part: Part, rest: Sequence[Part], assigned: Assigned) -> str:
    if _lacks_values(t, part, assigned):
        return "checked(False, False)"
    test, found = guard(t, *part)
    with t.narrowed(found):
        inner = _possible(t, rest, assigned)
    return test if inner == "True" else f"({test} and {inner})"


def _lacks_values(t: Translation, part: Part, assigned: Assigned) -> bool:
    """Return whether a part is v' # v where the action has not given all variables of v a value: TLC stops there."""
    match part[0]:
        case BuiltinExpr(operator="~", arguments=(UnchangedExpr(body=body),)):
            items = [item for item, _ in _items(body, part[1])]
            return any(isinstance(item, VariableExpr) and item.index not in assigned for item in items)
    return False


def _assigning(
    t: Translation, node: BuiltinExpr, scope: TranslationScope, rest: Sequence[Part], assigned: Assigned
) -> str:
    index = _target(operand(node, 0), scope)
    if index is None or index in assigned:
        return _guarded(t, (node, scope), rest, assigned)
    shape = t.shapes[index] if index < len(t.shapes) else NOTHING
    if node.operator == "=":
        code, is_defined = (
            t.value(operand(node, 1), scope, shape),
            is_total(t, operand(node, 1), scope, trusts_guards=False),
        )
        inner = _possible(t, rest, {**assigned, index: code})
        # TLC computes the value of a variable that nothing reads afterwards, and may stop there.
        return inner if is_defined else f"({code.source} == {code.source} and {inner})"
    name = t.model.variables[index] if index < len(t.shapes) else "value"
    chosen = choose(t, operand(node, 1), scope, name)
    if chosen is None:
        return "False"
    binding = NameBinding("chosen", node.place)
    bound = TranslationScope().bind(((binding, chosen.entry),))
    code = t.value(BoundExpr(place=node.place, binding=binding), bound, shape)
    inner = _possible(t, rest, {**assigned, index: code})
    whole = listed_whole(t, (operand(node, 1),), scope)
    return f"{whole}any({inner} {' '.join(clause.text for clause in chosen.clauses)})"


def _unchanging(
    t: Translation, node: Expression, scope: TranslationScope, rest: Sequence[Part], assigned: Assigned
) -> str:
    tests, now = list[str](), dict(assigned)
    for item, inner in _items(node, scope):
        if not isinstance(item, VariableExpr | OwnVariableExpr):
            raise refusal("UNCHANGED of anything but variables", node.place)
        code = assigned.get(item.index)
        current = t.value(item, inner)
        if code is not None:
            tests.append(f"{code.source} == {current.source}")
        elif isinstance(item, OwnVariableExpr):
            now[item.index] = current
            if not is_total(t, item.current, inner, trusts_guards=False):
                tests.append(f"{current.source} == {current.source}")
        else:
            now.setdefault(item.index, None)
    return " and ".join([*tests, _possible(t, rest, now)])


def _items(node: Expression, scope: TranslationScope) -> list[Part]:
    node, scope = head(node, scope)
    if isinstance(node, TupleExpr):
        return [part for item in node.items for part in _items(item, scope)]
    return [(node, scope)]


def _target(node: Expression, scope: TranslationScope) -> int | None:
    node, scope = head(node, scope)
    if not isinstance(node, PrimeExpr):
        return None
    node, scope = head(node.body, scope)
    return node.index if isinstance(node, VariableExpr | OwnVariableExpr) else None
