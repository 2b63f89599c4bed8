"""The table of handlers: how each class of expressions, and each built-in operator, becomes a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kmc.errors import SpecError
from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    ApplyExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    ExceptExpr,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    IfExpr,
    OwnVariableExpr,
    PrimeExpr,
    ProductExpr,
    QuantifiedExpr,
    RecordExpr,
    RecordSetExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import MapShape, Shape
from kmc.tla.translate import (
    choosing,
    collections,
    enabled,
    functions,
    logic,
    recursion,
    sequences,
    temporal_atoms,
    updates,
)
from kmc.tla.translate.eager import domains_of, evaluated_set, listed_whole
from kmc.tla.translate.iteration import has_other_order, loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.narrowing import operand
from kmc.tla.translate.scope import TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation

Handler = Callable[[Translation, Any, TranslationScope, Shape], TypedSource]
"""A function that translates nodes of one class."""


def _variable(t: Translation, node: VariableExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    return t.narrowed_code(t.variable(node.index, node.place))


def _own_variable(t: Translation, node: OwnVariableExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    return t.variable(node.index, node.place) if t.is_primed else t.value(node.current, scope, want)


_DECIDED = re.compile(r"\b(True|False)\b")  # a part of a test that the shape decides
_WRITTEN = (TupleExpr, RecordExpr, FunctionConstructorExpr, SetEnumerationExpr, SetMapExpr)


def _evaluated(handler: Handler) -> Handler:
    """Return a handler that evaluates its operands where a shape or a part decides: TLC stops at one without value."""

    def handled(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
        code, left = handler(t, node, scope, want), operand(node, 0)
        parts = "".join(f"{test} and " for test in evaluated_set(t, operand(node, 1), scope))
        whole = listed_whole(t, (operand(node, 1),), scope) + parts
        if whole:
            code = replace(code, source=f"({whole}{code.source})")
        if is_total(t, left, scope, trusts_guards=False):
            return code
        try:
            value = t.value(left, scope)
        except SpecError:
            return code  # kmc's language has no such value, so its parts are tested one by one
        source = value.source
        is_read = t.shared.is_in(source, code.source) and not isinstance(head(left, scope)[0], _WRITTEN)
        # A map is tested key by key, and compiled code can compare few computed maps.
        is_read = is_read or (isinstance(value.shape, MapShape) and not t.shared.matches(_DECIDED.search, code.source))
        return code if is_read else replace(code, source=f"({source} == {source} and {code.source})")

    return handled


_OPERATORS: dict[str, Callable[[Translation, BuiltinExpr, TranslationScope, Shape], TypedSource]] = {
    "=": logic.equality,
    "#": logic.equality,
    "~": logic.negation,
    "=>": logic.implication,
    "<=>": logic.equivalence,
    "\\in": _evaluated(logic.membership_of),
    "\\notin": _evaluated(logic.membership_of),
    "\\subseteq": _evaluated(collections.subset_test),
    "\\union": collections.combined,
    "\\intersect": collections.combined,
    "\\": collections.combined,
    "SUBSET": collections.subsets,
    "UNION": collections.union_of_sets,
    "DOMAIN": collections.domain,
    "Cardinality": collections.cardinality,
    "BOOLEAN": collections.booleans,
    "IsFiniteSet": collections.finite,
    "..": collections.interval,
    "-.": collections.negative,
    "^": collections.power,
    **dict.fromkeys(("+", "-", "*", "%", "\\div"), collections.arithmetic),
    **dict.fromkeys(("<", ">", "<=", ">="), collections.ordered),
    "Assert": collections.asserted,
    "Print": collections.printed,
    "PrintT": collections.printed,
    "@@": functions.extended,
    ":>": functions.pair,
    **sequences.SEQUENCE_WORDS,
}


def _quantified(t: Translation, node: QuantifiedExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    code = logic.quantified(t, node, scope, want)
    whole = listed_whole(t, domains_of(node.ranges), scope)
    if has_other_order(t, node.ranges, scope):
        inside = loops(t, node.ranges, scope, may_repeat=True)
        if inside is not None and not is_total(t, node.body, inside[0], trusts_guards=False):
            raise refusal("a union of sets of functions in a quantifier whose body may have no value", node.place)
    return replace(code, source=f"({whole}{code.source})") if whole else code


def _builtin(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    handler = _OPERATORS.get(node.operator)
    if handler is None:
        raise refusal(f"the operator {node.operator}", node.place)
    return handler(t, node, scope, want)


HANDLERS: Mapping[type, Handler] = {
    VariableExpr: _variable,
    OwnVariableExpr: _own_variable,
    ApplyExpr: recursion.recursive_application,
    BuiltinExpr: _builtin,
    ConjunctionExpr: logic.conjunction,
    DisjunctionExpr: logic.disjunction,
    QuantifiedExpr: _quantified,
    IfExpr: logic.conditional,
    CaseExpr: logic.case,
    PrimeExpr: logic.prime,
    UnchangedExpr: logic.unchanged,
    ChooseExpr: choosing.chosen,
    SetEnumerationExpr: collections.enumeration,
    SetFilterExpr: collections.filtered,
    SetMapExpr: collections.mapped,
    ProductExpr: collections.described,
    RecordSetExpr: collections.described,
    RecordExpr: functions.record,
    TupleExpr: functions.tuple_,
    FunctionConstructorExpr: functions.constructor,
    FunctionApplicationExpr: functions.application,
    FieldAccessExpr: functions.field_access,
    ExceptExpr: updates.except_,
    EnabledExpr: enabled.enabled,
    BoxActionExpr: temporal_atoms.step_of_box,
    AngleActionExpr: temporal_atoms.step_of_angle,
}
