"""Formulas as TLA+ text, for people.

A lambda is shown as its author wrote it, a named function by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, assert_never

from kmc.errors import KmcError
from kmc.lang.tla import encode, text
from kmc.lang.tree import LAMBDA, lambda_of
from kmc.liveness.formulas import (
    ActionSteps,
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
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
    parts_of,
)
from kmc.liveness.negation import is_of_steps


def text_of(formula: Formula, free: frozenset[str] = frozenset()) -> str:
    """A formula as TLA+ writes it: `[]<>(st.x == 1)`, `WF_vars(BecomeLeader(n1))`.

    A variable of the scope around a lambda is replaced by its value; those in `free` keep their names.
    """
    match formula:
        case FunctionLeaf(function) | StatePredicate(function) | StepPredicate(function):
            return _function_text(function, free)
        case NextStep():
            return "Next"
        case FairActions():
            return "Fairness"
        case Truth(value):
            return "TRUE" if value else "FALSE"
        case ActionSteps(text=text):
            return text
        case Enabled(steps):
            return f"ENABLED {_operand(steps, free)}"
        case Not(part):
            return f"~{_operand(part, free)}"
        case And(parts):
            return _with_sign(" /\\ ", parts, "TRUE", free)
        case Or(parts):
            return _with_sign(" \\/ ", parts, "FALSE", free)
        case ForAll(variable):
            return _quantified("\\A", variable, " /\\ ", parts_of(formula), "TRUE", free)
        case ThereExists(variable):
            return _quantified("\\E", variable, " \\/ ", parts_of(formula), "FALSE", free)
        case Implies(premise, conclusion):
            return f"{_operand(premise, free)} => {_operand(conclusion, free)}"
        case Iff(left, right):
            return f"{_operand(left, free)} <=> {_operand(right, free)}"
        case Always(part):
            if is_of_steps(part):
                return f"[][{text_of(part, free)}]_{_subscript(part)}"
            return f"[]{_operand(part, free)}"
        case Eventually(part):
            if is_of_steps(part):
                return f"<><<{text_of(part, free)}>>_{_subscript(part)}"
            return f"<>{_operand(part, free)}"
        case LeadsTo(premise, goal):
            return f"{_operand(premise, free)} ~> {_operand(goal, free)}"
        case Fair(strong, steps):
            return f"{'SF' if strong else 'WF'}_{_subscript(steps)}({text_of(steps, free)})"
        case _:
            assert_never(formula)


def _subscript(steps: Formula) -> str:
    """The v of [A]_v: that of the first predicate of steps."""
    if isinstance(steps, StepPredicate):
        return steps.subscript
    return next((_subscript(part) for part in parts_of(steps) if is_of_steps(part)), "vars")


def group_of(steps: Formula) -> str:
    """The actions of which a set of steps consists: `BecomeLeader`, or `A \\/ B`."""
    return " \\/ ".join(dict.fromkeys(_groups(steps)))


def _groups(steps: Formula) -> Iterable[str]:
    if isinstance(steps, ActionSteps) or (isinstance(steps, StepPredicate) and steps.group):
        yield steps.group
    for part in parts_of(steps):
        yield from _groups(part)


def _quantified(
    quantifier: str, variable: str, sign: str, cases: tuple[Formula, ...], empty: str, free: frozenset[str]
) -> str:
    """With the quantifier where all cases look alike but for the variable."""
    texts = {text_of(case, free | {variable}) for case in cases}
    return f"{quantifier} {variable}: {texts.pop()}" if len(texts) == 1 else _with_sign(sign, cases, empty, free)


def _with_sign(sign: str, parts: tuple[Formula, ...], empty: str, free: frozenset[str]) -> str:
    if len(parts) == 1:
        return text_of(parts[0], free)
    return sign.join(_operand(part, free) for part in parts) or empty


def _operand(formula: Formula, free: frozenset[str]) -> str:
    """The text of a formula, in parentheses where something binds it."""
    text = text_of(formula, free)
    single = isinstance(formula, Not | Always | Eventually | Fair | Truth) or text.isidentifier()
    if text.startswith(("\\E", "\\A")):
        return f"({text})"
    if isinstance(formula, ActionSteps):
        single = True
    return text if single or (len(parts_of(formula)) == 1 and not isinstance(formula, Enabled)) else f"({text})"


def _function_text(function: Callable[..., Any], free: frozenset[str]) -> str:
    if function.__name__ != LAMBDA:
        return function.__name__
    return lambda_text(function, lambda value: text(encode(value)), free) or "lambda"


def lambda_text(
    function: Callable[..., Any], value_text: Callable[[Any], str], free: frozenset[str] = frozenset()
) -> str | None:
    """The text that a lambda returns, as written, with the values of the variables around it; None without a source.

    A value of the spec is named by `value_text`, a function or class by its own name; variables in `free` stay.
    """
    written = lambda_of(function)
    return None if written is None else ast.unparse(_Bound(function, value_text, free).visit(deepcopy(written.body)))


class _Bound(ast.NodeTransformer):
    """Puts values in the place of the variables that a function closes over."""

    def __init__(self, function: Callable[..., Any], value_text: Callable[[Any], str], free: frozenset[str]) -> None:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        texts = {name: _cell_text(cell, value_text) for name, cell in cells if name not in free}
        self._texts = {name: text for name, text in texts.items() if text is not None}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """The name, or the text of its value."""
        return ast.Name(self._texts.get(node.id, node.id), node.ctx)


def _cell_text(cell: Any, value_text: Callable[[Any], str]) -> str | None:
    """The text of a value that a function closes over; None where it has none yet, or none that says anything."""
    try:
        value = cell.cell_contents
    except ValueError:
        return None
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return None if name == LAMBDA else name
    try:
        return value_text(value)
    except (TypeError, KmcError):
        return None
