r"""Mistakes of level: primes of primes, temporal formulas inside of actions, actions where a formula is meant.

The levels of definitions are settled first: a recursive definition, or one that the `.cfg` file replaces, has its level
from definitions that are resolved after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmc.errors import SpecError
from kmc.tla.resolved.levels import ACTION, CONSTANT, LEVEL_NAMES, STATE, TEMPORAL, level_of, parts_of
from kmc.tla.resolved.model import Assumption
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    Argument,
    BoxActionExpr,
    BuiltinExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    EventuallyExpr,
    ExceptExpr,
    FairnessExpr,
    FunctionApplicationExpr,
    FunctionSetExpr,
    LeadsToExpr,
    LetExpr,
    OperatorDefinition,
    PrimeExpr,
    ProductExpr,
    RecordSetExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
    TupleExpr,
    UnchangedExpr,
)

_LOGIC = frozenset(("~", "=>", "<=>", "-+->"))
_OF_VALUES: dict[type, str] = {
    ChooseExpr: "CHOOSE",
    ExceptExpr: "EXCEPT",
    FunctionApplicationExpr: "a function application",
    FunctionSetExpr: "a set of functions",
    ProductExpr: r"'\X'",
    RecordSetExpr: "a set of records",
    SetEnumerationExpr: "a set",
    SetFilterExpr: "a set",
    SetMapExpr: "a set",
    TupleExpr: "a tuple",
}
"""The expressions that have no temporal formula as a part, with the word for each in an error."""


def settle_levels(definitions: Iterable[OperatorDefinition]) -> None:
    """Compute the levels of definitions anew until none changes."""
    bodies = [(definition, definition.body) for definition in definitions if definition.body is not None]
    changed = True
    while changed:
        changed = False
        for definition, body in bodies:
            level = max(definition.level, level_of(body))
            changed |= level != definition.level
            definition.level = level


def check_assumption(assumption: Assumption) -> None:
    """Raise KMC021 if an assumption is not constant."""
    _check(assumption.condition, CONSTANT, "an ASSUME")
    check_levels(assumption.condition)


def check_levels(expression: Argument) -> None:
    """Raise KMC021 for the first part of an expression whose level its operator does not take."""
    _check_parts(expression)
    for part in parts_of(expression):
        check_levels(part)


def _check_parts(node: Argument) -> None:
    match node:
        case PrimeExpr(body=body):
            _check(body, STATE, "a prime")
        case UnchangedExpr(body=body):
            _check(body, STATE, "UNCHANGED")
        case EnabledExpr(action=action):
            _check(action, ACTION, "ENABLED")
        case BoxActionExpr(action=action, subscript=subscript) | AngleActionExpr(action=action, subscript=subscript):
            _check(action, ACTION, "an action with a subscript")
            _check(subscript, STATE, "a subscript")
        case FairnessExpr(kind=kind, action=action, subscript=subscript):
            _check(action, ACTION, kind)
            _check(subscript, STATE, f"the subscript of {kind}")
        case AlwaysExpr(body=body):
            _check_formula(body, "[]", BoxActionExpr, "[A]_v")
        case EventuallyExpr(body=body):
            _check_formula(body, "<>", AngleActionExpr, "<<A>>_v")
        case LeadsToExpr(premise=premise, conclusion=conclusion):
            _check_formula(premise, "~>", AngleActionExpr, "<<A>>_v")
            _check_formula(conclusion, "~>", AngleActionExpr, "<<A>>_v")
        case ConjunctionExpr(items=items):
            _check_mixture(items, "/\\")
        case DisjunctionExpr(items=items):
            _check_mixture(items, "\\/")
        case BuiltinExpr(operator="=>" | "<=>" as operator, arguments=arguments):
            _check_mixture(arguments, operator)
        case BuiltinExpr(operator=operator, arguments=arguments) if operator not in _LOGIC:
            for argument in arguments:
                _check(argument, ACTION, f"'{operator}'")
        case LetExpr(definitions=definitions):
            for definition in definitions:
                if definition.body is not None:
                    check_levels(definition.body)
        case _ if type(node) in _OF_VALUES:
            for part in parts_of(node):
                _check(part, ACTION, _OF_VALUES[type(node)], "contain")


def _check_mixture(items: Iterable[Argument], operator: str) -> None:
    """Refuse an action beside a temporal formula."""
    levels = {level_of(item): item for item in items}
    if ACTION in levels and TEMPORAL in levels:
        message = f"'{operator}' joins an action and a temporal formula"
        help_line = "write an action as [][A]_v; a formula of states has no primes and no UNCHANGED"
        raise SpecError("KMC021", message, levels[ACTION].place, help_line)


def _check(part: Argument, highest: int, operator: str, verb: str = "be applied to") -> None:
    level = level_of(part)
    if level > highest:
        message = f"{operator} cannot {verb} a formula of {LEVEL_NAMES[level]} level"
        article = "an" if LEVEL_NAMES[highest][0] in "aeiou" else "a"
        raise SpecError("KMC021", message, part.place, f"it needs {article} {LEVEL_NAMES[highest]} expression")


def _check_formula(
    part: Argument, operator: str, action: type[BoxActionExpr] | type[AngleActionExpr], shape: str
) -> None:
    """Refuse an action where a formula of behaviours is meant, unless it has the one shape that is a formula."""
    if level_of(part) == ACTION and not isinstance(part, action):
        message = f"'{operator}' is applied to an action"
        raise SpecError("KMC021", message, part.place, f"write the action as {shape}")
