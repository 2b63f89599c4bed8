"""Closures of sets: enumerations, filters, maps, products, sets of functions and records, and CHOOSE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from kmc.errors import EvaluationError
from kmc.tla.resolved.nodes import (
    ChooseExpr,
    FunctionSetExpr,
    ProductExpr,
    RecordSetExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
)
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.frames import Code, Frame, Test
from kmc.tla.run.lazy import stored_value
from kmc.tla.run.logic import Binder, binder
from kmc.tla.run.scopes import RunScope
from kmc.tla.values import sets
from kmc.tla.values.failures import never_evaluated, nothing_to_choose, wrong_kind
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaModelValue, Value
from kmc.tla.values.order import ordered, short_text
from kmc.tla.values.sets import (
    AnySet,
    CombinedSet,
    FunctionSet,
    Interval,
    ProductSet,
    RecordSet,
    as_set,
    member,
    refuse_mixture,
)

_CHOICES_EXAMINED = 50
"""How often a CHOOSE is examined for a second element, which costs as much as the CHOOSE itself."""

SetNode = SetEnumerationExpr | SetFilterExpr | SetMapExpr | ProductExpr | FunctionSetExpr | RecordSetExpr


def value(compiler: NodeCompiler, node: SetNode, scope: RunScope) -> Code:
    """Compile a set."""
    match node:
        case SetEnumerationExpr(items=items):
            return _enumeration(tuple(compiler.stored(item, scope) for item in items), node)
        case SetFilterExpr():
            return _filter(compiler, node, scope)
        case SetMapExpr():
            return _map(compiler, node, scope)
        case ProductExpr(sets=sets):
            factors = tuple(_set(compiler, factor, scope, "\\X") for factor in sets)
            return lambda frame: ProductSet(tuple(factor(frame) for factor in factors))
        case FunctionSetExpr(domain=domain, codomain=codomain):
            arguments, results = _set(compiler, domain, scope, "[S -> T]"), _set(compiler, codomain, scope, "[S -> T]")
            return lambda frame: FunctionSet(arguments(frame), results(frame))
        case RecordSetExpr(fields=fields):
            parts = {name: _set(compiler, values, scope, "[a: S]") for name, values in fields}
            return lambda frame: RecordSet({name: part(frame) for name, part in parts.items()})
        case _:
            assert_never(node)


def _set(compiler: NodeCompiler, node: Any, scope: RunScope, operator: str) -> Code:
    """Compile an expression that must be a set."""
    code = compiler.value(node, scope)
    place = node.place

    def run(frame: Frame) -> AnySet:
        found = code(frame)
        if isinstance(found, (frozenset, SymbolicSet)):
            return found
        raise wrong_kind(operator, "a set", stored_value(found)).at(place)

    return run


def _enumeration(items: tuple[Code, ...], node: SetEnumerationExpr) -> Code:
    place = node.place
    if len(items) == 1:
        only = items[0]
        return lambda frame: frozenset((only(frame),))

    def run(frame: Frame) -> frozenset[Value]:
        found = [item(frame) for item in items]
        if len(set(map(type, found))) > 1:
            try:
                refuse_mixture(found)
            except EvaluationError as error:
                raise error.at(place) from None
        return frozenset(found)

    return run


def _filter(compiler: NodeCompiler, node: SetFilterExpr, scope: RunScope) -> Code:
    r"""Compile `{x \in S: P}`; a filter of a set without a list is symbolic, as in TLC."""
    base = _set(compiler, node.range.domain, scope, "{x \\in S: P}")
    inner, _, bind = binder(compiler, (node.range,), scope)
    condition = compiler.test(node.condition, inner, "{x \\in S: P}")
    is_pattern = node.range.is_pattern

    def run(frame: Frame) -> AnySet:
        values = base(frame)
        if isinstance(values, (frozenset, Interval)):
            return _kept(ordered(values), frame, bind, condition, is_pattern)
        return _symbolic(values, frame[:])

    def _symbolic(values: AnySet, frame: Frame) -> AnySet:
        def test(element: Value) -> bool:
            if not member(element, values):
                return False
            own = frame[:]
            bind(own, (element,) if is_pattern else element)
            return condition(own)

        can_list = isinstance(values, SymbolicSet) and values.is_finite
        return CombinedSet(
            lambda: f"{{x \\in {short_text(values)}: ...}}",
            test,
            (lambda: _kept(ordered(values), frame, bind, condition, is_pattern)) if can_list else None,
        )

    return run


def _kept(values: Iterable[Value], frame: Frame, bind: Binder, condition: Test, is_pattern: bool) -> frozenset[Value]:
    found = []
    for element in values:
        bind(frame, (element,) if is_pattern else element)
        if condition(frame):
            found.append(element)
    return frozenset(found)


def _map(compiler: NodeCompiler, node: SetMapExpr, scope: RunScope) -> Code:
    r"""Compile `{e: x \in S}`."""
    inner, choices, bind = binder(compiler, node.ranges, scope)
    body = compiler.stored(node.body, inner)

    def run(frame: Frame) -> frozenset[Value]:
        found = []
        for choice in choices(frame):
            bind(frame, choice)
            found.append(body(frame))
        return frozenset(found)

    return run


def union_of_parts(compiler: NodeCompiler, node: SetEnumerationExpr | SetMapExpr, scope: RunScope) -> Code:
    r"""Compile `UNION {S, T}` and `UNION {e: x \in S}`, whose parts need no list, such as `[S -> Int]`."""
    if isinstance(node, SetEnumerationExpr):
        codes = tuple(_set(compiler, item, scope, "UNION") for item in node.items)
        return lambda frame: sets.union_of([code(frame) for code in codes])
    inner, choices, bind = binder(compiler, node.ranges, scope)
    body = _set(compiler, node.body, inner, "UNION")

    def run(frame: Frame) -> AnySet:
        parts = []
        for choice in choices(frame):
            bind(frame, choice)
            parts.append(body(frame))
        return sets.union_of(parts)

    return run


def choose(compiler: NodeCompiler, node: ChooseExpr, scope: RunScope) -> Code:
    r"""Compile `CHOOSE x \in S: P`: the first element in order that satisfies P."""
    place = node.place
    if node.range is None:

        def refuse(_: Frame) -> Any:
            raise never_evaluated("CHOOSE without a set", "TLC needs a set to enumerate").at(place)

        return refuse
    inner, choices, bind = binder(compiler, (node.range,), scope)
    condition = compiler.test(node.body, inner, "CHOOSE")
    domain = compiler.value(node.range.domain, scope)
    examination = _Examination(compiler, node)
    is_pattern = node.range.is_pattern

    def run(frame: Frame) -> Any:
        choice: Any
        for choice in choices(frame):
            bind(frame, choice)
            if condition(frame):
                found = choice[0] if is_pattern else choice
                if examination.is_due and has_names(found):
                    examination.run(frame[:], found, choices, bind, condition)
                return found
        raise nothing_to_choose(short_text(as_set(domain(frame), "CHOOSE"))).at(place)

    return run


def has_names(value: Value) -> bool:
    """Return whether TLC's order of a value depends on its numbering of strings and model values."""
    if isinstance(value, (str, TlaModelValue)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return any(map(has_names, value))
    return isinstance(value, FunctionValue) and (
        any(map(has_names, value.values)) or any(map(has_names, value.domain.keys))
    )


class _Examination:
    """Search for a second element that a CHOOSE could have found: which is first depends on where names stand."""

    def __init__(self, compiler: NodeCompiler, node: ChooseExpr) -> None:
        self._warnings = compiler.warnings
        self._place = node.place
        self._left = _CHOICES_EXAMINED

    @property
    def is_due(self) -> bool:
        """Whether the CHOOSE is still examined."""
        return self._left > 0

    def run(self, frame: Frame, found: Value, choices: Any, bind: Binder, condition: Test) -> None:
        """Warn if an element after the one that was found satisfies the condition, too."""
        self._left -= 1
        try:
            for choice in choices(frame):
                bind(frame, choice)
                element = choice[0] if isinstance(choice, tuple) and choice and choice[0] is found else choice
                if element is not found and element != found and condition(frame):
                    self._warn(found, element)
                    return
        except EvaluationError:
            return

    def _warn(self, found: Value, other: Value) -> None:
        self._left = 0
        place = f"{self._place.path}:{self._place.line}:{self._place.column}"
        text = (
            f"{place}: this CHOOSE has a choice, such as {short_text(found)} or {short_text(other)}: kmc takes the one"
            " whose names TLC reads first, so another order of names in the files gives another result"
        )
        if text not in self._warnings:  # a constant expression may be evaluated in several programs
            self._warnings.append(text)
