"""Tables: a recursion over few possible inputs, evaluated for each of them when the module is translated.

A chain of helpers cannot say every recursion, as one whose value is a set of sequences. Where it depends on a few sets
or numbers of known elements only, its value for each of these is a constant. A value of an input that is not in the
table fails an assertion, as a value outside of a type does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, combinations, product
from types import FrameType

from kmc.errors import EvaluationError, Span, SpecError
from kmc.lang.naming import snake_case
from kmc.tla.resolved.nodes import (
    Argument,
    BooleanExpr,
    BoundExpr,
    Expression,
    LambdaExpr,
    ModelValueExpr,
    NameBinding,
    NumberExpr,
    OperatorReferenceExpr,
    SetEnumerationExpr,
    StringExpr,
)
from kmc.tla.shapes.shape import NOTHING, AtomShape, BooleanShape, NumberShape, SequenceShape, SetShape, Shape
from kmc.tla.translate.literals import have_several_lengths
from kmc.tla.translate.logic import either
from kmc.tla.translate.names import identifier, unique
from kmc.tla.translate.scope import ROOT, Delayed, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation, WrittenLine
from kmc.tla.values.kinds import FALSE, TRUE, FunctionValue, TlaBoolean, TlaModelValue, Value
from kmc.tla.values.order import sorted_values

_ENTRIES_MAX = 64
_PARTS_MAX = 4096
_CALLS_MAX = 500_000


class _LongEvaluation(Exception):
    """The end of an evaluation that takes too many calls."""


def tabulated(t: Translation, name: str, node: Expression, scope: TranslationScope) -> TypedSource | None:
    """Return a call of a helper that has the value of an expression for each value of the names in it.

    None where these have too many values, and where the table is too large or takes too long to evaluate.
    """
    inputs: dict[str, TypedSource] = {}
    names = _inputs(t, node, scope, inputs)
    if not names:
        return None
    entries = list(_products([_values(t, code.shape) for code in inputs.values()]))
    if not 0 < len(entries) <= _ENTRIES_MAX:
        return None
    closed = [
        _closed(t, node, scope, {name: dict(zip(inputs, given, strict=True))[source] for name, source in names.items()})
        for given in entries
    ]
    values = _evaluated(t, closed)
    if values is None:
        return None
    found = list(zip(entries, values, strict=True))
    parameters = [TypedSource(f"input_{index}", code.shape) for index, code in enumerate(inputs.values(), start=1)]
    code = _chain(t, parameters, found)
    return None if code is None else _call(t, name, code, parameters, list(inputs), node.place)


def _evaluated(t: Translation, expressions: Iterable[Expression | None]) -> list[Value | None] | None:
    """Return the value of each expression, None for one that has none; None for all if one is open or they are long."""
    found: list[Value | None] = []
    parts = 0
    with _few_calls():
        for expression in expressions:
            if expression is None:
                return None
            try:
                value = t.program.evaluate(expression, None)
            except EvaluationError:
                found.append(None)
                continue
            except _LongEvaluation:
                return None
            found.append(value)
            parts += _parts(value)
            if parts > _PARTS_MAX:
                return None
    return found


@contextmanager
def _few_calls() -> Iterator[None]:
    """End an evaluation after some calls of Python, whose number is the same on every machine."""
    if sys.getprofile() is not None:
        yield  # a profiler, which would lose its calls
        return
    left = _CALLS_MAX

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= event == "call"
        if left < 0:
            raise _LongEvaluation

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def _parts(value: Value) -> int:
    """Return how many values a value is written of, at any depth."""
    match value:
        case frozenset() | tuple():
            return 1 + sum(map(_parts, value))
        case FunctionValue():
            return 1 + sum(map(_parts, value.values))
        case _:
            return 1


def _call(
    t: Translation, name: str, code: TypedSource, parameters: list[TypedSource], given: list[str], place: Span
) -> TypedSource:
    """Write the helper of a table, unless it is written already, and return its call."""
    signature = f"({', '.join(parameter.source for parameter in parameters)}):"
    body = WrittenLine(1, f"return {code.source}", place)
    helper = next((known for known, lines in t.helpers.items() if lines[1:] == [body]), None)
    if helper is None:
        helper = unique(snake_case(identifier(name)), t.helpers)
        t.helpers[helper] = [WrittenLine(0, f"def {helper}_level_0{signature}", place), body]
    return TypedSource(f"{helper}_level_0({', '.join(given)})", code.shape)


def _inputs(
    t: Translation, node: Expression, scope: TranslationScope, inputs: dict[str, TypedSource]
) -> dict[NameBinding, str] | None:
    """Find the names whose values decide that of an expression, and their sources; None if one has no value."""
    names: dict[NameBinding, str] = {}
    origins: dict[NameBinding, tuple[Expression, TranslationScope]] = {}
    for name in t.facts.of(node).free:
        entry = scope.entries.get(name)
        if not isinstance(name, NameBinding) or name.arity or not isinstance(entry, Delayed | SpecLocal):
            return None
        read = BoundExpr(place=node.place, binding=name)
        if t.constant(read, scope) is not None:
            continue
        inner, home = head(read, scope)
        same = next((other for other, seen in origins.items() if _are_same(t, (inner, home), seen)), None)
        if same is not None:
            names[name] = names[same]
            continue
        try:
            code = t.value(read, scope)
        except SpecError:
            return None
        origins[name] = (inner, home)
        inputs[code.source] = code
        names[name] = code.source
    return names


def _are_same(
    t: Translation, one: tuple[Expression, TranslationScope], other: tuple[Expression, TranslationScope]
) -> bool:
    """Return whether two names are read from one expression, in which all names mean the same."""
    free = t.facts.of(one[0]).free
    return one[0] is other[0] and all(one[1].entries.get(name) is other[1].entries.get(name) for name in free)


def _closed(
    t: Translation, node: Expression, scope: TranslationScope, values: Mapping[NameBinding, Value]
) -> Expression | None:
    """Return the expression with values of its names, None if it depends on more."""
    given = ((name, Delayed(_written(value, node.place), ROOT)) for name, value in values.items())
    closed: Argument | None = t.closed(node, scope.bind(given))
    return None if isinstance(closed, LambdaExpr | OperatorReferenceExpr) else closed


def _chain(
    t: Translation, inputs: list[TypedSource], found: list[tuple[tuple[Value, ...], Value | None]]
) -> TypedSource | None:
    """Write the table as one test after another; the last one is an assertion."""
    known = [value for _, value in found if value is not None]
    elements = [one for value in known if isinstance(value, frozenset) for one in value]
    want = SetShape(SequenceShape(NOTHING)) if have_several_lengths(elements) else NOTHING
    code: TypedSource | None = None
    for given, value in reversed(found):
        if value is None:
            continue
        literal = t.literal(value, want)
        tests = [
            f"{item.source} == {t.literal(one, item.shape).source}" for item, one in zip(inputs, given, strict=True)
        ]
        test = f"({' and '.join(tests)})"
        if code is None:
            code = TypedSource(f"checked({literal.source}, {test})", literal.shape)
        else:
            code = either(test, literal, code)
    return code


def _products(choices: list[list[Value] | None]) -> Iterator[tuple[Value, ...]]:
    known = [choice for choice in choices if choice is not None]
    return product(*known) if len(known) == len(choices) else iter(())


def _values(t: Translation, shape: Shape) -> list[Value] | None:
    """Return the values of a shape, if they are few and no symmetry permutes them."""
    match shape:
        case BooleanShape():
            return [FALSE, TRUE]
        case NumberShape(int() as least, int() as greatest) if greatest - least < _ENTRIES_MAX:
            return list(range(least, greatest + 1))
        case AtomShape(atoms):
            permuted = {atom for group in t.names.groups if group.is_symmetric for atom in group.atoms}
            return None if atoms & permuted else list(sorted_values(frozenset(atoms)))
        case SetShape(element):
            elements = _values(t, element)
            if elements is None or len(elements) >= _ENTRIES_MAX.bit_length():
                return None
            subsets = chain.from_iterable(combinations(elements, size) for size in range(len(elements) + 1))
            return [frozenset(subset) for subset in subsets]
        case _:
            return None


def _written(value: Value, place: Span) -> Expression:
    """Return a value of `_values` as an expression."""
    match value:
        case TlaBoolean():
            return BooleanExpr(place=place, value=value.holds)
        case int():
            return NumberExpr(place=place, value=value)
        case str():
            return StringExpr(place=place, value=value)
        case TlaModelValue():
            return ModelValueExpr(place=place, name=value.name)
        case frozenset():
            return SetEnumerationExpr(place=place, items=tuple(_written(one, place) for one in sorted_values(value)))
        case _:
            raise AssertionError(value)
