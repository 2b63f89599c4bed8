"""Reads of fields that a view drops, for a warning: a spec whose behavior depends on such a field is not checked well.

A field that is read only to compute the next value of dropped fields is harmless. Invariant: this over-approximates, so
a spec without a warning has no harmful read. A name that was assigned a state counts as a state in the whole function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kmc.compiler.values.scope import definition, is_spec_function
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS


@dataclass(frozen=True, slots=True)
class Reading:
    """A read of a field that the view forgets: the field, the action or property that reads it, and the place."""

    field: str
    reader: str
    path: str
    line: int


def forgotten_reads(model: Model) -> tuple[Reading, ...]:
    """The first read of each forgotten field by each action and property of the model; empty without a view."""
    if model.view is None:
        return ()
    readers: list[tuple[str, Callable[..., Any], int]] = []
    forgotten: list[Reading] = []
    for action in model.spec.actions:
        readers.append((action.title, action.function, 1))
        if action.network in model.view.dropped:
            forgotten.append(Reading(action.network or "", action.title, action.span.path, action.span.line))
    readers += [(forgotten.name, forgotten.function, 1) for forgotten in model.abstractions]
    readers += [(prop.name, prop.function, kind.states) for kind in KINDS for prop in model.of(kind)]
    search = _Search(model.view.dropped)
    for name, function, states in readers:
        parameters = [argument.arg for argument in definition(function).args.args[:states]]
        reads = search.reads(function, frozenset(parameters))
        forgotten += [Reading(field, name, path, line) for field, (path, line) in reads.items()]
    return tuple(forgotten)


def view_warnings(model: Model, shown_path: Callable[[str], str]) -> tuple[str, ...]:
    """A warning for each field that the view forgets and that something reads; `shown_path` words a file's path."""
    warnings = []
    by_field: dict[str, list[Reading]] = {}
    for reading in forgotten_reads(model):
        by_field.setdefault(reading.field, []).append(reading)
    for name, readings in by_field.items():
        readers = list(dict.fromkeys(reading.reader for reading in readings))
        assert model.view is not None
        place = f"{shown_path(readings[0].path)}:{readings[0].line}"
        warnings.append(
            f"view {model.view.name} drops {name}, but {_listing(readers)} it ({place}): of states that differ in "
            "nothing else, one is expanded, so what only the others lead to may be missed."
        )
    return tuple(warnings)


def _listing(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} reads"
    return f"{', '.join(names[:-1])} and {names[-1]} read"


@dataclass(slots=True)
class _Search:
    """The reads of functions, each looked through once for the parameters that are states."""

    dropped: frozenset[str]
    _known: dict[tuple[int, frozenset[str]], dict[str, tuple[str, int]]] = field(default_factory=dict)

    def reads(self, function: Callable[..., Any], states: frozenset[str]) -> dict[str, tuple[str, int]]:
        """The forgotten fields that a function reads of the parameters `states`, each with its first place."""
        key = id(function), states
        if key not in self._known:
            node = definition(function)
            names = states | self._aliases(node, states)
            self._known[key] = {}
            for name, path, line in self._of(node, names, function.__globals__, function.__code__.co_filename):
                self._known[key].setdefault(name, (path, line))
        return self._known[key]

    def _aliases(self, node: ast.AST, states: frozenset[str]) -> frozenset[str]:
        """Other names of a state: `nxt = st.set(...)`, `old = st`."""
        names = states
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assign) and _is_state(inner.value, names):
                names |= {target.id for target in inner.targets if isinstance(target, ast.Name)}
        return names

    def _of(
        self, node: ast.AST, states: frozenset[str], names: dict[str, Any], path: str
    ) -> Iterator[tuple[str, str, int]]:
        if isinstance(node, ast.Attribute) and node.attr in self.dropped and _is_state(node.value, states):
            yield node.attr, path, node.lineno
        children = ast.iter_child_nodes(node)
        if isinstance(node, ast.Call):
            yield from self._called(node, states, names)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "set":
                kept = [keyword.value for keyword in node.keywords if keyword.arg not in self.dropped]
                children = iter([node.func, *node.args, *kept])
        for child in children:
            yield from self._of(child, states, names, path)

    def _called(self, node: ast.Call, states: frozenset[str], names: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
        function = _meaning(node.func, names)
        if not is_spec_function(function):
            return
        parameters = [argument.arg for argument in definition(function).args.args]
        given = {parameters[k] for k, value in enumerate(node.args) if k < len(parameters) and _is_state(value, states)}
        given |= {keyword.arg for keyword in node.keywords if keyword.arg and _is_state(keyword.value, states)}
        if given:
            for name, (path, line) in self.reads(function, frozenset(given)).items():
                yield name, path, line


def _is_state(node: ast.expr, states: frozenset[str]) -> bool:
    """Whether an expression is a state by its look: a name of one, or a change of one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "set":
        return _is_state(node.func.value, states)
    return isinstance(node, ast.Name) and node.id in states


def _meaning(node: ast.expr, names: dict[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=value, attr=attr):
            return getattr(_meaning(value, names), attr, None)
        case _:
            return None
