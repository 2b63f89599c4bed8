r"""A second meaning of resolved TLA+, by the book and slow: formulas are evaluated on pairs of whole states.

It knows what `support.modules.random_actions` draws. Arguments are passed by name, so nothing is cached. `ways`
enumerates an action on dictionaries, as TLC's rules say: one for every way in which the action can be true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BooleanExpr,
    BoundExpr,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    IfExpr,
    LetExpr,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    PrimeExpr,
    QuantifiedExpr,
    SetEnumerationExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)

Bindings = dict[NameBinding, Any]
Partial = dict[int, int]
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
    "#": lambda a, b: a != b,
    "\\in": lambda a, b: a in b,
    "=>": lambda a, b: not a or b,
    "..": lambda a, b: set(range(a, b + 1)),
}


class ByName:
    """An argument, and the bindings where it was written."""

    def __init__(self, node: Argument, bindings: Bindings) -> None:
        self.node = node
        self.bindings = bindings


def value(node: Any, bindings: Bindings, state: Any, successor: Any) -> Any:
    """Return the value of an expression; states are mappings or sequences of numbers."""

    def inner(part: Any, more: Bindings | None = None) -> Any:
        return value(part, {**bindings, **(more or {})}, state, successor)

    match node:
        case NumberExpr() | BooleanExpr():
            return node.value
        case VariableExpr(index=index):
            return state[index]
        case PrimeExpr(body=body):
            return value(body, bindings, successor, None)
        case UnchangedExpr(body=body):
            return inner(body) == value(body, bindings, successor, None)
        case TupleExpr(items=items):
            return tuple(map(inner, items))
        case SetEnumerationExpr(items=items):
            return set(map(inner, items))
        case ConjunctionExpr(items=items):
            return all(map(inner, items))
        case DisjunctionExpr(items=items):
            return any(map(inner, items))
        case IfExpr():
            return inner(node.then if inner(node.condition) else node.otherwise)
        case QuantifiedExpr(kind=kind, ranges=(bound,), body=body):
            found = (inner(body, {bound.bindings[0]: choice}) for choice in inner(bound.domain))
            return any(found) if kind == "\\E" else all(found)
        case LetExpr(body=body):
            return inner(body)
        case BoundExpr(binding=binding):
            held = bindings[binding]
            return value(held.node, held.bindings, state, successor) if isinstance(held, ByName) else held
        case ApplyExpr(operator=OperatorDefinition() as operator, arguments=arguments):
            return inner(operator.body, called(operator, arguments, bindings))
        case EnabledExpr(action=action):
            return next(ways([(action, bindings)], state, {}, len(state), for_enabled=True), None) is not None
        case BuiltinExpr(operator=operator, arguments=arguments):
            return _ARITHMETIC[operator](*map(inner, arguments))
    raise AssertionError(node)


def called(operator: OperatorDefinition, arguments: tuple[Argument, ...], bindings: Bindings) -> Bindings:
    """Return the bindings of the parameters of an operator, by name."""
    return {name: ByName(given, bindings) for name, given in zip(operator.parameters, arguments, strict=True)}


Work = list[tuple[Any, Bindings]]


def ways(work: Work, state: Any, known: Partial, size: int, for_enabled: bool = False) -> Iterator[Partial]:
    """Enumerate the ways to make all formulas of `work` true, from the first one on."""
    if not work:
        yield known
        return
    (node, bindings), rest = work[0], work[1:]

    def again(parts: Work, more: Partial | None = None) -> Iterator[Partial]:
        now = known if more is None else {**known, **more}
        if len(parts) == len(rest) and len(now) == size and not for_enabled:
            # TLC only evaluates what is left.
            if all(value(part, inner, state, now) for part, inner in rest):
                yield now
            return
        yield from ways(parts, state, now, size, for_enabled)

    match node:
        case ConjunctionExpr(items=items):
            yield from ways([(item, bindings) for item in items] + rest, state, known, size, for_enabled)
        case DisjunctionExpr(items=items):
            for item in items:
                yield from ways([(item, bindings), *rest], state, known, size, for_enabled)
        case QuantifiedExpr(kind=kind, ranges=(bound,), body=body):
            choices = sorted(value(bound.domain, bindings, state, known))
            parts: Work = [(body, {**bindings, bound.bindings[0]: choice}) for choice in choices]
            if kind == "\\E":
                for part in parts:
                    yield from ways([part, *rest], state, known, size, for_enabled)
            else:
                yield from ways(parts + rest, state, known, size, for_enabled) if parts else again(rest)
        case IfExpr():
            branch = node.then if value(node.condition, bindings, state, known) else node.otherwise
            yield from ways([(branch, bindings), *rest], state, known, size, for_enabled)
        case BuiltinExpr(operator="=>", arguments=(premise, conclusion)):
            holds = value(premise, bindings, state, known)
            yield from ways([(conclusion, bindings), *rest], state, known, size, for_enabled) if holds else again(rest)
        case LetExpr(body=body):
            yield from ways([(body, bindings), *rest], state, known, size, for_enabled)
        case ApplyExpr(operator=OperatorDefinition() as operator, arguments=arguments):
            inner = {**bindings, **called(operator, arguments, bindings)}
            yield from ways([(operator.body, inner), *rest], state, known, size, for_enabled)
        case BoundExpr(binding=binding) if isinstance(bindings[binding], ByName):
            held = bindings[binding]
            yield from ways([(held.node, held.bindings), *rest], state, known, size, for_enabled)
        case UnchangedExpr(body=TupleExpr(items=items)):
            indices = [item.index for item in items if isinstance(item, VariableExpr)]
            if all(known.get(index, state[index]) == state[index] for index in indices):
                yield from again(rest, {index: state[index] for index in indices})
        case BuiltinExpr(operator="=" | "\\in" as operator, arguments=(left, right)) if (
            index := assigned(left, bindings)
        ) is not None:
            found = value(right, bindings, state, known)
            choices = [found] if operator == "=" else sorted(found)
            if index in known:
                choices = [known[index]] if known[index] in choices else []
            for choice in choices:
                yield from again(rest, {index: choice})
        case _:
            if value(node, bindings, state, known):
                yield from again(rest)


def assigned(node: Any, bindings: Bindings) -> int | None:
    """Return the variable that the left side of an equation assigns."""
    if isinstance(node, PrimeExpr):
        held = node.body
        while isinstance(held, BoundExpr) and isinstance(bindings[held.binding], ByName):
            bindings, held = bindings[held.binding].bindings, bindings[held.binding].node
        return held.index if isinstance(held, VariableExpr) else None
    if isinstance(node, BoundExpr) and isinstance(bindings[node.binding], ByName):
        return assigned(bindings[node.binding].node, bindings[node.binding].bindings)
    return None
