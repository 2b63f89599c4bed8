"""The meanings of the names in a function whose source is read, and not run.

Values never change, so a local name, and a parameter of a function that is called, is the expression that it was given.
That makes `me.votes`, in a function that got `st.servers[i]` for `me`, a read of `st.servers[i].votes`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kmc.lang.tree import file_of

MISSING = object()
"""The value of an expression that is not a constant."""


@dataclass(frozen=True, slots=True)
class Anything:
    """A value of which only a name is known, such as the state, or an element of a collection."""

    text: str


@dataclass(frozen=True, slots=True)
class GivenExpression:
    """An expression, and the names that it was written with."""

    node: ast.expr
    names: NameMeanings


@dataclass(frozen=True, slots=True)
class Local:
    """A function that is defined inside of another one."""

    node: ast.FunctionDef
    names: NameMeanings


@dataclass(frozen=True, slots=True)
class AnyOfMeanings:
    """The meanings that a name may have after branches that assign it differently."""

    meanings: tuple[Meaning, ...]


Meaning: TypeAlias = "Anything | GivenExpression | Local | AnyOfMeanings"


@dataclass(frozen=True, slots=True, eq=False)
class NameMeanings:
    """The local names of a function, and its module's."""

    local: Mapping[str, Meaning]
    globals: Mapping[str, Any]

    def with_names(self, **more: Meaning) -> NameMeanings:
        """These names and more."""
        return replace(self, local={**self.local, **more})

    def joined(self, other: NameMeanings) -> NameMeanings:
        """The names after two branches."""
        joined = dict(self.local)
        for name, meaning in other.local.items():
            mine = joined.get(name)
            if mine is None:
                joined[name] = meaning
            elif mine is not meaning:
                joined[name] = AnyOfMeanings((mine, meaning))
        return replace(self, local=joined)

    def constant(self, node: ast.expr) -> Any:
        """The value of an expression that is one in every state; MISSING of another."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name not in self.local:
                return self.globals.get(name, MISSING)
            case ast.Name(id=name):
                meaning = self.local[name]
                return meaning.names.constant(meaning.node) if isinstance(meaning, GivenExpression) else MISSING
            case ast.Attribute(value=inner, attr=name):
                holder = self.constant(inner)
                return MISSING if holder is MISSING else getattr(holder, name, MISSING)
            case ast.Set(elts=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = [self.constant(element) for element in elements]
                return MISSING if any(value is MISSING for value in values) else tuple(values)
            case _:
                return MISSING

    def text(self, node: ast.expr) -> str:
        """A text for the value of an expression: equal texts are equal values within one step."""
        match node:
            case ast.Name(id=name):
                return self._meant(name)
            case ast.Attribute(value=inner, attr=name):
                return f"{self.text(inner)}.{name}"
            case ast.Subscript(value=inner, slice=index):
                return f"{self.text(inner)}[{self.text(index)}]"
            case ast.Constant(value=value):
                return repr(value)
            case _:
                return at_its_place(node)

    def _meant(self, name: str) -> str:
        meaning = self.local.get(name)
        match meaning:
            case None:
                return f"::{name}"
            case Anything(text):
                return text
            case GivenExpression(node, names):
                return names.text(node)
            case AnyOfMeanings(meanings):
                return "|".join(str(id(each)) for each in meanings)
            case Local(node):
                return at_its_place(node)


def at_its_place(node: ast.expr | ast.stmt | ast.arg) -> str:
    """A text for the value that is made at a place."""
    return f"<{file_of(node)}:{node.lineno}:{node.col_offset}>"


def bound(target: ast.expr, names: NameMeanings) -> NameMeanings:
    """The names after a loop or comprehension has given its target any element."""
    targets = {node.id: Anything(at_its_place(node)) for node in ast.walk(target) if isinstance(node, ast.Name)}
    return names.with_names(**targets)


def called(
    node: ast.FunctionDef | ast.Lambda, call: ast.Call | None, caller: NameMeanings, home: NameMeanings
) -> NameMeanings:
    """The names of a function that is called; without a call, its parameters may be anything."""
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    meanings: dict[str, Meaning] = {}
    for argument in (*parameters, *arguments.kwonlyargs):
        meanings[argument.arg] = Anything(at_its_place(argument))
    for argument, default in zip(reversed(parameters), reversed(arguments.defaults), strict=False):
        meanings[argument.arg] = GivenExpression(default, home)
    if call is not None:
        for argument, value in zip(parameters, call.args, strict=False):
            if not isinstance(value, ast.Starred):
                meanings[argument.arg] = GivenExpression(value, caller)
        for keyword in call.keywords:
            if keyword.arg in meanings:
                meanings[keyword.arg] = GivenExpression(keyword.value, caller)
    return home.with_names(**meanings)


def home_of(function: Callable[..., Any]) -> NameMeanings:
    """The names around a function of a spec's file."""
    return NameMeanings({}, function.__globals__)
