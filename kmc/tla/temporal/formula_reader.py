"""From a temporal formula of a module to a formula of `kmc.liveness`, as TLC reads it.

Everything temporal is followed: connectives, quantifiers over constant sets, definitions with parameters, LET. What is
left are predicates of states and of steps, which stay as they are written. A formula for which TLC has no meaning is a
SpecError at its place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import product
from typing import NoReturn

from kmc.errors import SpecError
from kmc.liveness.formulas import (
    Always,
    And,
    Eventually,
    Fair,
    ForAll,
    Formula,
    Iff,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
)
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BoundRange,
    BoxActionExpr,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    EventuallyExpr,
    Expression,
    FairnessExpr,
    IfExpr,
    LambdaExpr,
    LeadsToExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
    QuantifiedExpr,
)
from kmc.tla.run.program import ModuleProgram
from kmc.tla.temporal.levels_in_scope import ACTION, CONSTANT, STATE, level_in_scope
from kmc.tla.temporal.predicates import ModuleStatePredicate, ModuleStepPredicate
from kmc.tla.temporal.scopes import FormulaClosing, GivenArgument, TemporalScope
from kmc.tla.temporal.texts import SourceTexts
from kmc.tla.values.kinds import TRUE, Value
from kmc.tla.values.order import ordered
from kmc.tla.values.sets import as_set


class FormulaReader:
    """Reads the temporal formulas of one program; equal predicates become one."""

    def __init__(self, program: ModuleProgram) -> None:
        self._program = program
        self._closing = FormulaClosing()
        self._texts = SourceTexts()
        self._of_states: dict[Hashable, ModuleStatePredicate] = {}

    def formula(self, expression: Expression, scope: TemporalScope | None = None) -> Formula:
        """The formula that an expression means; SpecError (KMC711) if temporal logic does not allow it."""
        scope = scope if scope is not None else TemporalScope()
        level = level_in_scope(expression, scope)
        if level == CONSTANT:
            return Truth(self._program.evaluate(self._closing.closed(expression, scope), None) is TRUE)
        if level == STATE:
            return StatePredicate(self._of_state(expression, scope), expression.place)
        if level == ACTION:
            _refuse(expression, "an action is not a temporal formula", "write [][A]_v or <><<A>>_v")
        return self._temporal(expression, scope)

    def _temporal(self, expression: Expression, scope: TemporalScope) -> Formula:
        match expression:
            case ConjunctionExpr(items=items):
                return And(tuple(self.formula(item, scope) for item in items))
            case DisjunctionExpr(items=items):
                return Or(tuple(self.formula(item, scope) for item in items))
            case BuiltinExpr():
                return self._connected(expression, scope)
            case QuantifiedExpr():
                return self._quantified(expression, scope)
            case IfExpr(condition=condition, then=then, otherwise=otherwise):
                test = self.formula(condition, scope)
                return And((Implies(test, self.formula(then, scope)), Or((test, self.formula(otherwise, scope)))))
            case AlwaysExpr(body=BoxActionExpr() as step):
                return Always(self._step(step, scope), expression.place)
            case AlwaysExpr(body=body):
                return Always(self.formula(body, scope), expression.place)
            case EventuallyExpr(body=AngleActionExpr() as step):
                return Eventually(self._step(step, scope), expression.place)
            case EventuallyExpr(body=body):
                return Eventually(self.formula(body, scope), expression.place)
            case LeadsToExpr(premise=premise, conclusion=conclusion):
                return LeadsTo(self.formula(premise, scope), self.formula(conclusion, scope), expression.place)
            case FairnessExpr():
                return self._fair(expression, scope)
            case _:
                return self._defined(expression, scope)

    def _defined(self, expression: Expression, scope: TemporalScope) -> Formula:
        """The formula behind a name: a definition, an argument, a LET."""
        match expression:
            case LetExpr(definitions=definitions, body=body):
                return self.formula(body, scope.with_let(definitions))
            case BoundExpr(binding=name):
                meaning = scope.meanings.get(name)
                if isinstance(meaning, GivenArgument):
                    return self._applied(meaning, (), scope, expression)
            case ApplyExpr(operator=OperatorDefinition() as definition, arguments=arguments):
                if definition.body is not None and not definition.recursive:
                    inside = scope.with_arguments(definition.parameters, arguments, scope)
                    return self.formula(definition.body, inside)
            case ApplyExpr(operator=NameBinding() as name, arguments=arguments):
                meaning = scope.meanings.get(name)
                if isinstance(meaning, GivenArgument):
                    return self._applied(meaning, arguments, scope, expression)
        return _refuse(expression, *_NOT_TEMPORAL)

    def _applied(
        self, given: GivenArgument, arguments: tuple[Argument, ...], scope: TemporalScope, expression: Expression
    ) -> Formula:
        """The formula of a parameter with its argument, applied to arguments if it is an operator."""
        at = given.scope
        match given.argument:
            case LambdaExpr(parameters=parameters, body=body):
                return self.formula(body, at.with_arguments(parameters, arguments, scope))
            case OperatorReferenceExpr(operator=OperatorDefinition() as definition) if definition.body is not None:
                return self.formula(definition.body, at.with_arguments(definition.parameters, arguments, scope))
            case OperatorReferenceExpr(operator=NameBinding() as name):
                meaning = at.meanings.get(name)
                if isinstance(meaning, GivenArgument):
                    return self._applied(meaning, arguments, scope, expression)
            case OperatorReferenceExpr():
                pass
            case operand if not arguments:
                return self.formula(operand, at)
        return _refuse(expression, *_NOT_TEMPORAL)

    def _connected(self, expression: BuiltinExpr, scope: TemporalScope) -> Formula:
        parts = [self.formula(part, scope) for part in expression.arguments if isinstance(part, Expression)]
        match expression.operator, parts:
            case "~", [part]:
                return Not(part)
            case "=>", [premise, conclusion]:
                return Implies(premise, conclusion)
            case "<=>", [left, right]:
                return Iff(left, right)
        return _refuse(expression, *_NOT_TEMPORAL)

    def _quantified(self, expression: QuantifiedExpr, scope: TemporalScope) -> Formula:
        return self._over(expression, expression.ranges, scope)

    def _over(self, quantified: QuantifiedExpr, ranges: tuple[BoundRange, ...], scope: TemporalScope) -> Formula:
        """The formula for all values of some ranges, one name after another."""
        if not ranges:
            return self.formula(quantified.body, scope)
        first, rest = ranges[0], ranges[1:]
        kind = ForAll if quantified.kind == "\\A" else ThereExists
        cases: list[tuple[object, Formula]] = []
        for values in self._values(first, scope):
            inside = scope.with_values(first.bindings, values)
            shown = values[0] if len(first.bindings) == 1 else values
            cases.append((shown, self._over(quantified, rest, inside)))
        names = [binding.name for binding in first.bindings]
        return kind(names[0] if len(names) == 1 else f"<<{', '.join(names)}>>", tuple(cases))

    def _values(self, bound: BoundRange, scope: TemporalScope) -> Iterator[tuple[Value, ...]]:
        """The values of the names of a range, in order."""
        if level_in_scope(bound.domain, scope) != CONSTANT:
            what = "a temporal formula is quantified over a set that is not constant"
            _refuse(bound.domain, what, "quantify over a set of constants, and say in the formula which members count")
        members = ordered(as_set(self._program.evaluate(self._closing.closed(bound.domain, scope), None), "\\in"))
        if not bound.is_pattern:
            yield from product(members, repeat=len(bound.bindings))
            return
        for member in members:
            if not isinstance(member, tuple) or len(member) != len(bound.bindings):
                _refuse(
                    bound.domain, "a member of this set is not a tuple of that length", "write a set of such tuples"
                )
            yield member

    def _of_state(self, expression: Expression, scope: TemporalScope) -> ModuleStatePredicate:
        key = self._closing.key(expression, scope)
        if key not in self._of_states:
            closed = self._closing.closed(expression, scope)
            text = self._texts.text(expression, scope)
            self._of_states[key] = ModuleStatePredicate(key, text, closed, self._program)
        return self._of_states[key]

    def _step(self, step: BoxActionExpr | AngleActionExpr, scope: TemporalScope) -> StepPredicate:
        """[A]_v or <<A>>_v as a predicate of steps; its text is that of A."""
        text = self._texts.text(step.action, scope)
        key = self._closing.key(step, scope)
        predicate = ModuleStepPredicate(key, text, self._closing.closed(step, scope), self._program)
        return StepPredicate(predicate, step.place, self._texts.text(step.subscript, scope))

    def _fair(self, expression: FairnessExpr, scope: TemporalScope) -> Fair:
        action, subscript, place = expression.action, expression.subscript, expression.place
        step = AngleActionExpr(action=action, subscript=subscript, place=place)
        possible = EnabledExpr(action=step, stand_ins=expression.stand_ins, place=place)
        text = self._texts.text(action, scope)
        key = (FairnessExpr, self._closing.key(action, scope), self._closing.key(subscript, scope))
        enabled = ModuleStatePredicate(
            ("ENABLED", key), f"ENABLED {text}", self._closing.closed(possible, scope), self._program
        )
        taken = ModuleStepPredicate(key, text, self._closing.closed(step, scope), self._program, enabled)
        return Fair(
            expression.kind == "SF",
            StepPredicate(taken, place, self._texts.text(subscript, scope), _name_of(action) or text),
            place,
            StatePredicate(enabled, place),
        )


def _name_of(action: Expression) -> str:
    """The name of an action, if it is the application of a definition."""
    return action.operator.name if isinstance(action, ApplyExpr) else ""


_NOT_TEMPORAL = (
    "this is not a temporal formula that can be checked",
    "use /\\, \\/, ~, =>, <=>, [], <>, ~>, WF and SF, IF, and \\A and \\E over constant sets",
)


def _refuse(expression: Expression, message: str, advice: str) -> NoReturn:
    raise SpecError("KMC711", message, expression.place, advice)
