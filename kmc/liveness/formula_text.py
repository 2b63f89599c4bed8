"""Formulas as TLA+ text, for people.

A lambda is shown as its author wrote it, a named function by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, assert_never

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


def text_of(formula: Formula) -> str:
    """A formula as TLA+ writes it: `[]<>(st.x == 1)`, `WF_vars(BecomeLeader(n1))`."""
    match formula:
        case FunctionLeaf(function) | StatePredicate(function) | StepPredicate(function):
            return _function_text(function)
        case NextStep():
            return "Next"
        case FairActions():
            return "Fairness"
        case Truth(value):
            return "TRUE" if value else "FALSE"
        case ActionSteps(text=text):
            return text
        case Enabled(steps):
            return f"ENABLED {_operand(steps)}"
        case Not(part):
            return f"~{_operand(part)}"
        case And(parts):
            return _joined(" /\\ ", parts, "TRUE")
        case Or(parts):
            return _joined(" \\/ ", parts, "FALSE")
        case ForAll(variable):
            return _quantified(f"\\A {variable}: ", " /\\ ", parts_of(formula), "TRUE")
        case ThereExists(variable):
            return _quantified(f"\\E {variable}: ", " \\/ ", parts_of(formula), "FALSE")
        case Implies(premise, conclusion):
            return f"{_operand(premise)} => {_operand(conclusion)}"
        case Iff(left, right):
            return f"{_operand(left)} <=> {_operand(right)}"
        case Always(part):
            return f"[][{text_of(part)}]_vars" if is_of_steps(part) else f"[]{_operand(part)}"
        case Eventually(part):
            return f"<><<{text_of(part)}>>_vars" if is_of_steps(part) else f"<>{_operand(part)}"
        case LeadsTo(premise, goal):
            return f"{_operand(premise)} ~> {_operand(goal)}"
        case Fair(strong, steps):
            return f"{'SF' if strong else 'WF'}_vars({text_of(steps)})"
        case _:
            assert_never(formula)


def group_of(steps: Formula) -> str:
    """The actions of which a set of steps consists: `BecomeLeader`, or `A \\/ B`."""
    return " \\/ ".join(dict.fromkeys(_groups(steps)))


def _groups(steps: Formula) -> Iterable[str]:
    if isinstance(steps, ActionSteps):
        yield steps.group
    for part in parts_of(steps):
        yield from _groups(part)


def _quantified(prefix: str, sign: str, cases: tuple[Formula, ...], empty: str) -> str:
    """With the quantifier where all cases look alike, since lambdas are shown with the names of their variables."""
    texts = {text_of(case) for case in cases}
    return f"{prefix}{texts.pop()}" if len(texts) == 1 else _joined(sign, cases, empty)


def _joined(sign: str, parts: tuple[Formula, ...], empty: str) -> str:
    if len(parts) == 1:
        return text_of(parts[0])
    return sign.join(map(_operand, parts)) or empty


def _operand(formula: Formula) -> str:
    """The text of a formula, in parentheses where something binds it."""
    text = text_of(formula)
    single = isinstance(formula, Not | Always | Eventually | Fair | Truth) or text.isidentifier()
    if text.startswith(("\\E", "\\A")):
        return f"({text})"
    if isinstance(formula, ActionSteps):
        single = True
    return text if single or (len(parts_of(formula)) == 1 and not isinstance(formula, Enabled)) else f"({text})"


def _function_text(function: Callable[..., Any]) -> str:
    if function.__name__ != "<lambda>":
        return function.__name__
    written = lambda_of(function)
    return "lambda" if written is None else ast.unparse(written.body)


def lambda_of(function: Callable[..., Any]) -> ast.Lambda | None:
    """The source of a lambda; None for any other function, or where the source is not there."""
    if function.__name__ != "<lambda>":
        return None
    around = [node for node in _lambdas(function.__code__.co_filename) if _is_of(node, function)]
    # A lambda may lie in another on the same line.
    return max(around, key=lambda node: (node.lineno, node.col_offset), default=None)


@lru_cache(maxsize=64)
def _lambdas(path: str) -> tuple[ast.Lambda, ...]:
    try:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def _is_of(node: ast.Lambda, function: Callable[..., Any]) -> bool:
    """Whether the code of a function was made of this lambda: it begins on its line, and its body lies in it."""
    code = function.__code__
    places = [place for place in code.co_positions() if place[0] is not None and place[2] is not None]
    body = [
        (line, column) for line, _, column, _ in places if (line, column) >= (node.body.lineno, node.body.col_offset)
    ]
    end = (node.end_lineno or 0, node.end_col_offset or 0)
    inside = bool(body) and all(place < end for place in body)
    return node.lineno == code.co_firstlineno and inside
