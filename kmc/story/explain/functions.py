"""The source of a function of a spec, and a call of it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any

from kmc.lang.tree import definition_of
from kmc.story.explain.scopes import Binding, Context, Label, Wording

_COMPREHENSIONS = ast.SetComp | ast.ListComp | ast.DictComp
_LONG = 50
"""The length from which a name replaces an expression in the text."""


def source_of(function: Any, files: Collection[str]) -> ast.FunctionDef | None:
    """The definition of a function in one of `files`; None for any other, or where the file has changed."""
    if not isinstance(function, FunctionType) or function.__code__.co_filename not in files:
        return None
    definition = definition_of(function)
    if definition is None or [argument.arg for argument in definition.args.args] != _names(function):
        return None
    return definition


def _names(function: FunctionType) -> list[str]:
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def scope_of(function: FunctionType, bound: Mapping[str, Binding], wording: Wording) -> Context:
    """The scope in the body of a function whose parameters are bound."""
    outer = inspect.getclosurevars(function).nonlocals
    around = {name: Binding(value, wording.of_value(value, name)) for name, value in outer.items()}
    return Context(function.__globals__, {**around, **bound})


def of_call(node: ast.Call, scope: Context, wording: Wording) -> tuple[FunctionType, dict[str, Binding]] | None:
    """The function of the spec that an expression calls, and its parameters; None where that is not plain."""
    if not isinstance(node.func, ast.Name):
        return None
    bound = scope.bound.get(node.func.id)
    function = scope.module.get(node.func.id) if bound is None else bound.value
    if not isinstance(function, FunctionType):
        return None
    given = {name: let(value, name, scope, wording) for name, value in _by_name(node, function).items()}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in given and parameter.default is not inspect.Parameter.empty:
            given[name] = Binding(parameter.default, wording.of_value(parameter.default, name))
    return (function, given) if set(given) == set(_names(function)) else None


def _by_name(node: ast.Call, function: FunctionType) -> dict[str, ast.expr]:
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    return {**dict(zip(_names(function), node.args, strict=False)), **named}


def let(node: ast.expr, name: str, scope: Context, wording: Wording) -> Binding:
    """A name bound to an expression."""
    label = Label(name) if isinstance(node, _COMPREHENSIONS) else wording.label(node, scope)
    if label is None:
        text = wording.text(node, scope)
        label = Label(text if len(text) <= _LONG else name)
    return Binding(scope.value(node), label, (node, scope))
