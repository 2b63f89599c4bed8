"""Helpers that call themselves: each declares the type of its result, and its values are checked to be of that type.

Compiled code writes the levels of a recursion one into the other, as many as it assumes that there are, and each level
needs the type of what the next one gives. So the type belongs to the meaning of the helper, in the interpreter too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from kmc.errors import DomainError
from kmc.lang.admission import admitter
from kmc.lang.tree import walk
from kmc.lang.types import Type

RESULT = "__kmc_result__"
"""The name under which a rewritten helper that calls itself finds `result_of`."""


def calls_itself(node: ast.FunctionDef) -> bool:
    """Return whether a function at the top level of a file uses itself, and no other value of its name in it."""
    inside = [inner for statement in node.body for inner in walk(statement)]
    if node.name in _own_names(node, inside):
        return False
    return any(isinstance(inner, ast.Name) and inner.id == node.name for inner in inside)


def _own_names(node: ast.FunctionDef, inside: list[ast.AST]) -> set[str]:
    """The names that mean something else in a function: its parameters, inner functions and variables."""
    taken = node.args
    own = {one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)}
    own |= {inner.name for inner in inside if isinstance(inner, ast.FunctionDef)}
    elements = {id(name) for inner in inside if isinstance(inner, ast.comprehension) for name in walk(inner.target)}
    stores = (inner for inner in inside if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store))
    return own | {name.id for name in stores if id(name) not in elements}


def result_type(function: object) -> Type | None:
    """The declared type of the result of a helper that calls itself; None for anything else."""
    if not isinstance(function, FunctionType) or RESULT not in function.__code__.co_names:
        return None
    declared: Type = function.__annotations__["return"]
    return declared


def result_of(function: Callable[..., Any], value: Any) -> Any:
    """Return the result of a helper that calls itself. Raises DomainError if it is not of the declared type."""
    declared = result_type(function)
    assert declared is not None, "only such helpers are rewritten"
    try:
        return admitter(declared)(value)
    except DomainError as error:
        message = f"the result of '{function.__name__}': {error.message}"
        raise DomainError(error.code, message, help=error.help) from None
