"""Scopes: what the names of a resolved expression stand for while it is translated.

A name is a local of the generated Python, or it is delayed: an expression in its own scope, translated anew wherever it
is read. Delay is TLA+'s own meaning of operators and LET, so inlining never changes a count. Bindings are unique
objects, so no scope can capture a name of another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias
from weakref import WeakValueDictionary

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    BuiltinExpr,
    Expression,
    LambdaExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class TypedSource:
    """Python source of a value, its shape, and whether it is a set of records that a variable holds: a network."""

    source: str
    shape: Shape
    is_network: bool = False


@dataclass(frozen=True, slots=True)
class Delayed:
    """An expression or an argument, and the scope of its names."""

    expression: Argument
    scope: TranslationScope


@dataclass(frozen=True, slots=True)
class SpecLocal:
    """A local of the generated code; `origin` is what it was computed from, None for a variable of a loop.

    `is_lazy` says that the code is evaluated wherever the local is read, and may have no value there.
    """

    code: TypedSource
    origin: Delayed | None = None
    is_lazy: bool = False


@dataclass(frozen=True, slots=True)
class LetScope:
    """The scope around a definition of a LET."""

    scope: TranslationScope


Entry: TypeAlias = Delayed | SpecLocal | LetScope
Name: TypeAlias = NameBinding | OperatorDefinition


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TranslationScope:
    """The entries of all names that are bound here.

    The same entries in the same scope give the same scope, so that what is read twice is translated once.
    """

    entries: Mapping[Name, Entry] = field(default_factory=lambda: MappingProxyType({}))
    _inner: WeakValueDictionary[object, TranslationScope] = field(default_factory=WeakValueDictionary, repr=False)

    def bind(self, pairs: Iterable[tuple[Name, Entry]]) -> TranslationScope:
        """Return the scope with more entries."""
        more = dict(pairs)
        if not more:
            return self
        key = tuple((name, id(entry) if isinstance(entry, SpecLocal) else entry) for name, entry in more.items())
        inner = self._inner.get(key)
        if inner is None:
            inner = self._inner[key] = TranslationScope({**self.entries, **more})
        return inner

    def with_definitions(self, let: LetExpr) -> TranslationScope:
        """Return the scope inside of a LET, with every definition delayed."""
        scope = self
        for definition in let.definitions:
            scope = scope.bind(((definition, LetScope(scope)),))
        return scope


def expression_of(delayed: Delayed) -> Expression:
    """Return a delayed expression, which is not an operator passed as an argument."""
    assert not isinstance(delayed.expression, OperatorReferenceExpr | LambdaExpr)
    return delayed.expression


ROOT = TranslationScope()


def applied(node: ApplyExpr, scope: TranslationScope) -> Delayed | SpecLocal:
    """Return the body of the operator that is applied, its parameters delayed; a LET's local where it is one."""
    operator, arguments = node.operator, tuple(Delayed(argument, scope) for argument in node.arguments)
    while isinstance(operator, NameBinding):
        entry = scope.entries.get(operator)
        if not isinstance(entry, Delayed):
            raise refusal(f"the operator {operator.name}", node.place)
        if isinstance(entry.expression, LambdaExpr):
            pairs = zip(entry.expression.parameters, arguments, strict=True)
            return Delayed(entry.expression.body, entry.scope.bind(pairs))
        if not isinstance(entry.expression, OperatorReferenceExpr):
            raise refusal(f"the operator {operator.name}", node.place)
        if isinstance(entry.expression.operator, str):
            return _builtin(node, entry.expression.operator, arguments)
        operator, scope = entry.expression.operator, entry.scope
    return _applied_definition(node, operator, arguments, scope)


def _applied_definition(
    node: ApplyExpr, definition: OperatorDefinition, arguments: tuple[Delayed, ...], scope: TranslationScope
) -> Delayed | SpecLocal:
    entry = scope.entries.get(definition)
    if isinstance(entry, SpecLocal):
        return entry
    if definition.recursive:
        raise refusal(f"the recursive operator {definition.name}", node.place)
    if definition.body is None:
        raise refusal(f"{definition.name}", node.place)
    around = entry.scope if isinstance(entry, LetScope) else scope if definition.is_local else ROOT
    return Delayed(definition.body, around.bind(zip(definition.parameters, arguments, strict=True)))


def _builtin(node: ApplyExpr, spelling: str, arguments: tuple[Delayed, ...]) -> Delayed:
    """Return a built-in operator that was passed as an argument, applied."""
    bindings = tuple(NameBinding(f"argument{index}", node.place) for index in range(len(arguments)))
    reads = tuple(BoundExpr(place=node.place, binding=binding) for binding in bindings)
    applied_builtin = BuiltinExpr(place=node.place, operator=spelling, arguments=reads)
    return Delayed(applied_builtin, ROOT.bind(zip(bindings, arguments, strict=True)))


def head(expression: Argument, scope: TranslationScope) -> tuple[Expression, TranslationScope]:
    """Follow names, applications and LETs to the expression that decides what the value is.

    A name that is a local stays as it is.
    """
    while True:
        match expression:
            case BoundExpr():
                entry = scope.entries.get(expression.binding)
                if not isinstance(entry, Delayed):
                    return expression, scope
                expression, scope = entry.expression, entry.scope
            case ApplyExpr(operator=OperatorDefinition(recursive=True)):
                return expression, scope
            case ApplyExpr():
                target = applied(expression, scope)
                if isinstance(target, SpecLocal):
                    return expression, scope
                expression, scope = target.expression, target.scope
            case BuiltinExpr(operator="TLCEval", arguments=(inner,)):
                expression = inner
            case LetExpr(body=body):
                scope = scope.with_definitions(expression)
                expression = body
            case OperatorReferenceExpr() | LambdaExpr():
                raise refusal("an operator as a value", expression.place)
            case _:
                return expression, scope


def local_of(expression: Expression, scope: TranslationScope) -> SpecLocal | None:
    """Return the local that an expression is the name of, if it is one."""
    match expression:
        case BoundExpr():
            entry = scope.entries.get(expression.binding)
        case ApplyExpr():
            entry = scope.entries.get(expression.operator)
        case _:
            entry = None
    return entry if isinstance(entry, SpecLocal) else None
