r"""From resolved expressions to closures over frames: references, applications, and what kind of closure a node needs.

A `Code` returns a value, a `Test` a bool of Python, a `Listing` the elements of a set; each node is compiled to what
its place needs. A constant expression is evaluated once, when it is needed first. What enumerates actions is in
`kmc.tla.run.actions`, and the other rooms of nodes are in `logic`, `collections` and `builtins`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from kmc.budget import polled
from kmc.errors import EvaluationError
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BooleanExpr,
    BoundExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    EventuallyExpr,
    ExceptExpr,
    FairnessExpr,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    FunctionSetExpr,
    IfExpr,
    LambdaExpr,
    LeadsToExpr,
    LetExpr,
    ModelValueExpr,
    NameBinding,
    NumberExpr,
    OperatorReferenceExpr,
    OwnVariableExpr,
    PrimeExpr,
    ProductExpr,
    QuantifiedExpr,
    RecordExpr,
    RecordSetExpr,
    RecursiveFunctionExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
    StringExpr,
    TupleExpr,
    UnboundedExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.run import actions, applications, builtins, collections, functions, logic
from kmc.tla.run.analysis import Analysis
from kmc.tla.run.closures import as_test, as_value, once, primed_mode, refusal, stored_code, test_once
from kmc.tla.run.frames import NEXT, STATE, UNASSIGNED, Act, Code, Frame, Listing, Test
from kmc.tla.run.lazy import stored_value
from kmc.tla.run.scopes import FunctionAct, RunScope, Slot, Substitute, Units
from kmc.tla.values.failures import never_evaluated, read_before_assigned, wrong_kind
from kmc.tla.values.kinds import SymbolicSet, TlaModelValue, truth
from kmc.tla.values.order import ordered
from kmc.tla.values.sets import Interval

_LITERALS = (NumberExpr, StringExpr, BooleanExpr, ModelValueExpr)
_FORMULAS = (
    BooleanExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    QuantifiedExpr,
    UnchangedExpr,
    EnabledExpr,
    BoxActionExpr,
    AngleActionExpr,
)
_NEVER_SYMBOLIC = (
    *_LITERALS,
    *_FORMULAS,
    VariableExpr,
    TupleExpr,
    RecordExpr,
    SetEnumerationExpr,
    SetMapExpr,
    FunctionApplicationExpr,
    FieldAccessExpr,
    ExceptExpr,
    ChooseExpr,
)


class Compiler:
    """The closures of one model. `variables` are their names, `warnings` texts about what may differ from TLC."""

    def __init__(self, variables: tuple[str, ...]) -> None:
        self.variables = variables
        self.analysis = Analysis()
        self.units = Units()
        self.warnings: list[str] = []
        self.function_acts: dict[NameBinding, FunctionAct] = {}

    def level(self, node: Argument, scope: RunScope) -> int:
        """Return the level of an expression at its place: 0 constant, 1 state, 2 action, 3 temporal."""
        facts = self.analysis.facts(node)
        level = facts.level
        for binding in facts.free:
            meaning = scope.meanings.get(binding)
            if isinstance(meaning, Substitute):
                inner = self.level(meaning.argument, meaning.scope)
                level = max(level, 2 if inner and binding in facts.shifted else inner)
        return level

    # Kinds of closures

    def act(self, node: Argument, scope: RunScope) -> Act:
        """Compile a formula to what enumerates the ways in which it can be true."""
        return actions.act(self, node, scope)

    def value(self, node: Argument, scope: RunScope) -> Code:
        """Compile an expression to a closure that returns its value, which may be a symbolic set or a lazy function."""
        if isinstance(node, _LITERALS) or not self.is_constant(node, scope):
            return self._value(node, scope)
        return once(self._value(node, scope))

    def is_constant(self, node: Argument, scope: RunScope) -> bool:
        """Return whether an expression has one value at its place, which depends on nothing that a frame has."""
        if isinstance(node, (LambdaExpr, OperatorReferenceExpr)):
            return False
        facts = self.analysis.facts(node)
        if facts.level:
            return False
        for binding in facts.free:
            meaning = scope.meanings.get(binding)
            if not isinstance(meaning, Substitute) or not self.is_constant(meaning.argument, meaning.scope):
                return False
        return True

    def stored(self, node: Argument, scope: RunScope) -> Code:
        """Compile an expression to a closure that returns its value as it is stored in states and other values."""
        code = self.value(node, scope)
        if isinstance(node, _NEVER_SYMBOLIC) or (isinstance(node, BuiltinExpr) and builtins.is_plain(node.operator)):
            return code
        meaning = scope.meanings.get(node.binding) if isinstance(node, BoundExpr) else None
        if isinstance(meaning, Slot) and not meaning.is_deferred:
            return code
        if self.is_constant(node, scope):
            return once(stored_code(code, node.place))
        return stored_code(code, node.place)

    def test(self, node: Argument, scope: RunScope, operator: str = "a formula") -> Test:
        """Compile a formula to a closure that returns a bool of Python; `operator` names what needs the formula."""
        match node:
            case BooleanExpr(value=value):
                return lambda _: value
            case ConjunctionExpr(items=items):
                return logic.conjunction(tuple(self.test(item, scope, "/\\") for item in items))
            case DisjunctionExpr(items=items):
                return logic.disjunction(tuple(self.test(item, scope, "\\/") for item in items))
            case QuantifiedExpr():
                return logic.quantified(self, node, scope)
            case UnchangedExpr(body=body):
                return logic.unchanged(self, body, scope)
            case EnabledExpr():
                return logic.enabled(self, node, scope)
            case BoxActionExpr(action=action, subscript=subscript):
                return logic.disjunction((self.test(action, scope, "[A]_v"), logic.unchanged(self, subscript, scope)))
            case AngleActionExpr(action=action, subscript=subscript):
                stutters = logic.unchanged(self, subscript, scope)
                return logic.conjunction((self.test(action, scope, "<<A>>_v"), lambda frame: not stutters(frame)))
            case IfExpr(condition=condition, then=then, otherwise=otherwise):
                return logic.conditional(
                    self.test(condition, scope, "IF"), self.test(then, scope), self.test(otherwise, scope)
                )
            case LetExpr():
                inner, prepare = applications.let(self, node, scope)
                return logic.prepared(prepare, self.test(node.body, inner))
            case BuiltinExpr(operator=name) if builtins.is_formula(name):
                test = builtins.test(self, node, scope)
                return test_once(test) if self.is_constant(node, scope) else test
            case _:
                return as_test(self.value(node, scope), operator, node.place)

    def listing(self, node: Argument, scope: RunScope) -> Listing:
        """Compile a set to a closure that returns its elements in TLC's order."""
        code = self.value(node, scope)
        place = node.place

        def elements(frame: Frame) -> Iterable[Any]:
            values = code(frame)
            if type(values) is frozenset:
                return ordered(values)
            if isinstance(values, SymbolicSet):
                try:
                    return polled(values.elements())
                except EvaluationError as error:
                    raise error.at(place) from None
            raise wrong_kind("\\in", "a set on the right", stored_value(values)).at(place)

        if not self.is_constant(node, scope):
            return elements

        def kept(frame: Frame) -> Iterable[Any]:
            values = code(frame)
            return range(values.low, values.high + 1) if isinstance(values, Interval) else tuple(elements(frame))

        return once(kept)

    # Values

    def _value(self, node: Argument, scope: RunScope) -> Code:
        match node:
            case NumberExpr(value=constant):
                return lambda _: constant
            case StringExpr(value=text):
                return lambda _: text
            case BooleanExpr(value=holds):
                return lambda _: truth(holds)
            case ModelValueExpr(name=name):
                atom = TlaModelValue(name)
                return lambda _: atom
            case OwnVariableExpr(current=current) if not scope.mode.primed:
                return self.value(current, scope)
            case VariableExpr() | OwnVariableExpr():
                return self._variable(node, scope)
            case BoundExpr(binding=binding):
                return applications.bound(self, binding, scope)
            case ApplyExpr():
                return applications.applied(self, node, scope)
            case PrimeExpr(body=body):
                return self.value(body, scope.in_mode(primed_mode(scope.mode, node.place)))
            case BuiltinExpr():
                return builtins.value(self, node, scope)
            case LambdaExpr() | OperatorReferenceExpr():
                raise never_evaluated("an operator without arguments", "it has no value").at(node.place)
            case AlwaysExpr() | EventuallyExpr() | LeadsToExpr() | FairnessExpr():
                return refusal("a temporal formula", "it has no value in a state", node.place)
            case _:
                return self._compound(node, scope)

    def _compound(self, node: Any, scope: RunScope) -> Code:
        match node:
            case IfExpr(condition=condition, then=then, otherwise=otherwise):
                return logic.conditional(
                    self.test(condition, scope, "IF"), self.value(then, scope), self.value(otherwise, scope)
                )
            case CaseExpr():
                return logic.case(self, node, scope)
            case LetExpr():
                inner, prepare = applications.let(self, node, scope)
                return logic.prepared(prepare, self.value(node.body, inner))
            case ChooseExpr():
                return collections.choose(self, node, scope)
            case UnboundedExpr(kind=kind):
                return refusal(f"{kind} without a set", "TLC needs a set to enumerate", node.place)
            case SetEnumerationExpr() | SetFilterExpr() | SetMapExpr() | ProductExpr() | FunctionSetExpr():
                return collections.value(self, node, scope)
            case RecordSetExpr():
                return collections.value(self, node, scope)
            case FunctionConstructorExpr() | RecursiveFunctionExpr() | FunctionApplicationExpr() | ExceptExpr():
                return functions.value(self, node, scope)
            case RecordExpr() | FieldAccessExpr() | TupleExpr():
                return functions.value(self, node, scope)
            case ConjunctionExpr() | DisjunctionExpr() | QuantifiedExpr() | UnchangedExpr() | EnabledExpr():
                return as_value(self.test(node, scope))
            case BoxActionExpr() | AngleActionExpr():
                return as_value(self.test(node, scope))
            case _:
                assert_never(node)

    def _variable(self, node: VariableExpr | OwnVariableExpr, scope: RunScope) -> Code:
        index, name, place = node.index, node.name, node.place
        if not scope.mode.primed:

            def current(frame: Frame) -> Any:
                return frame[STATE][index]

            return current

        def primed(frame: Frame) -> Any:
            value = frame[NEXT][index]
            if value is UNASSIGNED:
                raise read_before_assigned(name).at(place)
            return value

        return primed
