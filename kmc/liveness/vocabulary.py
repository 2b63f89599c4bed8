"""The words of which a spec makes temporal formulas.

Each is a function that returns a tree and evaluates nothing. `and_`, `or_` and `not_` are named as in Python's module
`operator`, since the plain words are Python's own; operators without a word in Python have TLA+'s name in words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import FunctionType, GeneratorType
from typing import Any, TypeAlias

from kmc.errors import Span, SpecError
from kmc.lang.errors.blame import caller_span
from kmc.lang.guards import advice_on_condition
from kmc.lang.order import ordered
from kmc.lang.showing import shown
from kmc.liveness.formulas import (
    NODES,
    Always,
    And,
    Enabled,
    Eventually,
    Fair,
    FairActions,
    ForAll,
    Formula,
    FunctionLeaf,
    Iff,
    Implies,
    LeadsTo,
    NextStep,
    Not,
    Or,
    ThereExists,
    Truth,
)

Predicate: TypeAlias = Callable[..., Any]
Operand: TypeAlias = Formula | Predicate | bool
"""A formula, or a value that becomes one: a function of a state, of a step, an action, or a Bool of constants."""

NEXT = NextStep()
"""Next: the steps of all actions."""

FAIR_ACTIONS = FairActions()
"""The fairness of all actions that are declared with `fair=`."""


_CONNECTIVES = "of formulas, write and_(f, g), or_(f, g), not_(f), implies(f, g) or iff(f, g)"
for _node in NODES:
    shown.register(_node, lambda _: "a temporal formula")
    advice_on_condition.register(_node, lambda _: _CONNECTIVES)


def as_formula(value: object, span: Span | None = None) -> Formula:
    """The formula that `value` represents; SpecError (KMC701) if it represents none."""
    if isinstance(value, NODES):
        return value
    if isinstance(value, bool):
        return Truth(value)
    if isinstance(value, FunctionType):
        return FunctionLeaf(value, span=span or caller_span())
    advice = "write a formula, or a function of a state: lambda st: st.x == 1"
    if isinstance(value, tuple | list):
        advice = "write and_(...) around several formulas"
    elif isinstance(value, GeneratorType):
        advice = "write the action without arguments in parentheses, or steps(action, argument)"
    elif value is None:
        advice = "return a formula"
    raise SpecError("KMC701", f"{shown(value)} is not a formula", span or caller_span(), advice)


def always(formula: Operand) -> Always:
    """[]formula; of a predicate of a step, [][A]_vars."""
    return Always(as_formula(formula), caller_span())


def eventually(formula: Operand) -> Eventually:
    """<>formula; of a predicate of a step, <><<A>>_vars."""
    return Eventually(as_formula(formula), caller_span())


def always_eventually(formula: Operand) -> Always:
    """[]<>formula: infinitely often; of a predicate of a step, []<><<A>>_vars."""
    return Always(Eventually(as_formula(formula), caller_span()), caller_span())


def eventually_always(formula: Operand) -> Eventually:
    """<>[]formula: from some time on for ever; of a predicate of a step, <>[][A]_vars."""
    return Eventually(Always(as_formula(formula), caller_span()), caller_span())


def leads_to(premise: Operand, goal: Operand) -> LeadsTo:
    """premise ~> goal: whenever the premise holds, the goal holds then or later."""
    return LeadsTo(as_formula(premise), as_formula(goal), caller_span())


def and_(*formulas: Operand) -> And:
    """The conjunction of formulas of one level: states, steps or temporal."""
    return And(tuple(as_formula(formula) for formula in formulas))


def or_(*formulas: Operand) -> Or:
    """The disjunction of formulas of one level: states, steps or temporal."""
    return Or(tuple(as_formula(formula) for formula in formulas))


def not_(formula: Operand) -> Not:
    """~formula."""
    return Not(as_formula(formula))


def implies(premise: Operand, conclusion: Operand) -> Implies:
    """premise => conclusion."""
    return Implies(as_formula(premise), as_formula(conclusion))


def iff(left: Operand, right: Operand) -> Iff:
    """left <=> right."""
    return Iff(as_formula(left), as_formula(right))


def for_all(values: Iterable[Any], formula: Callable[[Any], Operand]) -> ForAll:
    """\\A x \\in values : formula(x)."""
    return ForAll(*_cases(values, formula))


def there_exists(values: Iterable[Any], formula: Callable[[Any], Operand]) -> ThereExists:
    """\\E x \\in values : formula(x)."""
    return ThereExists(*_cases(values, formula))


def _cases(values: Iterable[Any], formula: Callable[[Any], Operand]) -> tuple[str, tuple[tuple[Any, Formula], ...]]:
    span = caller_span()
    if not isinstance(formula, FunctionType) or len(inspect.signature(formula).parameters) != 1:
        advice = "write lambda x: and the formula for x"
        raise SpecError("KMC701", "the formula of a quantifier is a function of one value", span, advice)
    (variable,) = inspect.signature(formula).parameters
    try:
        members = ordered(values)
    except TypeError:
        raise SpecError("KMC701", f"{shown(values)} is not a set of values", span, "name a set or a type") from None
    return variable, tuple((value, as_formula(formula(value), span)) for value in members)


def steps(action: Predicate, *arguments: Any, **named: Any) -> FunctionLeaf:
    """The steps of an action with these arguments: BecomeLeader(s). An omitted argument ranges over all its values."""
    return _steps(action, arguments, named)


def enabled(action: Operand, *arguments: Any, **named: Any) -> Enabled:
    """ENABLED of an action, or of a predicate of a step: a step of it is possible, even one that changes nothing."""
    return Enabled(_operand(action, arguments, named), caller_span())


def weak_fairness(action: Operand, *arguments: Any, **named: Any) -> Fair:
    """WF_vars: an action that stays enabled is taken infinitely often."""
    return Fair(False, _operand(action, arguments, named), caller_span())


def strong_fairness(action: Operand, *arguments: Any, **named: Any) -> Fair:
    """SF_vars: an action that is enabled infinitely often is taken infinitely often."""
    return Fair(True, _operand(action, arguments, named), caller_span())


def _operand(action: Operand, arguments: tuple[Any, ...], named: dict[str, Any]) -> Formula:
    if arguments or named:
        return _steps(action, arguments, named)
    return as_formula(action)


def _steps(action: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> FunctionLeaf:
    return FunctionLeaf(action, arguments, tuple(named.items()), is_action=True, span=caller_span())
