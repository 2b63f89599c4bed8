r"""The operators of the language and of the standard modules.

Operators of logic and comparison are tests; the others work on stored values, except those of sets, whose operands may
be symbolic. What TLC computes from its own run (`TLCGet`, `TLCSet`), from chance or from the clock is refused before
anything runs (`kmc.tla.run.refusals`).
"""

from __future__ import annotations

import operator as arithmetic
from collections.abc import Callable
from itertools import permutations
from typing import Any

from kmc.errors import EvaluationError, Span
from kmc.tla.resolved.nodes import BuiltinExpr, NumberExpr, SetEnumerationExpr, SetMapExpr
from kmc.tla.run import applications, collections, logic
from kmc.tla.run.closures import as_test
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.frames import Code, Frame, Test
from kmc.tla.run.lazy import LazyFunction, stored_value
from kmc.tla.run.scopes import RunScope
from kmc.tla.values import functions, numbers, sequences, sets
from kmc.tla.values.failures import failed_assertion, never_evaluated, wrong_kind
from kmc.tla.values.kinds import TRUE, SymbolicSet, TlaBoolean, TlaModelValue, Value, truth
from kmc.tla.values.order import equal, ordered, written

_CONSTANTS: dict[str, Any] = {
    "Nat": sets.NATURALS,
    "Int": sets.INTEGERS,
    "Real": sets.INTEGERS,
    "STRING": sets.STRINGS,
    "BOOLEAN": sets.BOOLEANS,
    "Any": sets.ANYTHING,
}

_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": arithmetic.add,
    "-": arithmetic.sub,
    "*": arithmetic.mul,
    "\\div": numbers.divided,
    "%": numbers.remainder,
    "^": numbers.power,
}

_ORDERS: dict[str, Callable[[int, int], bool]] = {
    "<": arithmetic.lt,
    "<=": arithmetic.le,
    ">": arithmetic.gt,
    ">=": arithmetic.ge,
    "\\leq": arithmetic.le,
    "\\geq": arithmetic.ge,
}

_OF_SETS: dict[str, Callable[..., Any]] = {
    "\\union": lambda first, second: sets.union(_set("\\union", first), _set("\\union", second)),
    "\\intersect": lambda first, second: sets.intersection(_set("\\intersect", first), _set("\\intersect", second)),
    "\\": lambda first, second: sets.difference(_set("\\", first), _set("\\", second)),
    "SUBSET": lambda base: sets.PowerSet(_set("SUBSET", base)),
    "UNION": lambda base: sets.big_union(_set("UNION", base)),
    "Seq": lambda base: sets.SequenceSet(_set("Seq", base)),
    "kSubset": lambda count, base: sets.SubsetsOfSize(count, _set("kSubset", base)),
    "IsFiniteSet": lambda base: truth(sets.is_finite(_set("IsFiniteSet", base))),
    "Cardinality": lambda base: sets.size_of(_set("Cardinality", base)),
    "DOMAIN": lambda function: function.domain if isinstance(function, LazyFunction) else sets.domain_of(function),
}

_OF_VALUES: dict[str, Callable[..., Any]] = {
    "-.": lambda number: -numbers.number("-.", number),
    "..": lambda low, high: sets.Interval(numbers.number("..", low), numbers.number("..", high)),
    "\\o": sequences.concatenated,
    "\\circ": sequences.concatenated,
    "Len": sequences.length,
    "Append": sequences.appended,
    "Head": sequences.head,
    "Tail": sequences.tail,
    "SubSeq": sequences.part,
    ":>": lambda key, image: functions.function_of({key: image}),
    "@@": functions.merged,
    "ToString": written,
    "TLCEval": lambda value: value,
    "Print": lambda _, value: value,
    "PrintT": lambda _: TRUE,
    "\\X": lambda *factors: sets.ProductSet(tuple(_set("\\X", factor) for factor in factors)),
    "TLCDefer": lambda _: TRUE,
    "TLCNoOp": lambda value: value,
    "TLCCache": lambda value, _: value,
    "TLCModelValue": lambda name: TlaModelValue(name),
    "Permutations": lambda base: permutations_of(_set("Permutations", base)),
}

_TESTS = frozenset(
    ("=", "#", "/=", "\\in", "\\notin", "\\subseteq", "~", "/\\", "\\/", "=>", "<=>", "\\equiv", "AssertEq", *_ORDERS)
)
_UNSTORED = (SymbolicSet, LazyFunction)
_SYMBOLIC = frozenset(
    ("UNION", "\\union", "\\intersect", "\\", "SUBSET", "Seq", "kSubset", "DOMAIN", "..", "\\X", *_CONSTANTS)
)


def _set(operator: str, value: Any) -> sets.AnySet:
    return sets.as_set(stored_value(value) if isinstance(value, LazyFunction) else value, operator)


def is_formula(operator: str) -> bool:
    """Return whether an operator is compiled to a test."""
    return operator in _TESTS


def is_plain(operator: str) -> bool:
    """Return whether the value of an operator is never a symbolic set."""
    return operator not in _SYMBOLIC and operator != "Print"


def is_known(operator: str) -> bool:
    """Return whether the operator can be evaluated."""
    return (
        operator in _TESTS
        or operator in _NUMBERS
        or operator in _OF_SETS
        or operator in _OF_VALUES
        or operator
        in (
            *_CONSTANTS,
            "SelectSeq",
            "SortSeq",
            "Assert",
        )
    )


def value(compiler: NodeCompiler, node: BuiltinExpr, scope: RunScope) -> Code:
    """Compile a built-in operator for its value."""
    name, place = node.operator, node.place
    if name in _CONSTANTS:
        constant = _CONSTANTS[name]
        return lambda _: constant
    if name in _TESTS:
        holds = test(compiler, node, scope)
        return lambda frame: truth(holds(frame))
    if name in _NUMBERS:
        first, second = (compiler.value(argument, scope) for argument in node.arguments)
        return _arithmetic(name, first, second, place)
    if name == "UNION" and isinstance(node.arguments[0], (SetEnumerationExpr, SetMapExpr)):
        return collections.union_of_parts(compiler, node.arguments[0], scope)
    if name in _OF_SETS:
        return _called(_OF_SETS[name], [compiler.value(argument, scope) for argument in node.arguments], place)
    if name in _OF_VALUES:
        return _called(_OF_VALUES[name], [compiler.stored(argument, scope) for argument in node.arguments], place)
    if name in ("SelectSeq", "SortSeq"):
        return _with_operator(compiler, node, scope)
    if name == "Assert":
        return _assertion(compiler, node, scope)

    def refuse(_: Frame) -> Any:
        raise never_evaluated(f"'{name}'", "kmc has no meaning for it").at(place)

    return refuse


def _called(function: Callable[..., Any], codes: list[Code], place: Span) -> Code:
    """Return the code of a function of Python on values."""
    if len(codes) == 1:
        only = codes[0]

        def call_one(frame: Frame) -> Any:
            operand = only(frame)
            try:
                return function(operand)
            except EvaluationError as error:
                raise error.at(place) from None

        return call_one

    def call(frame: Frame) -> Any:
        operands = [code(frame) for code in codes]
        try:
            return function(*operands)
        except EvaluationError as error:
            raise error.at(place) from None

    return call


def _arithmetic(name: str, left: Code, right: Code, place: Span) -> Code:
    function = _NUMBERS[name]

    def run(frame: Frame) -> int:
        first, second = left(frame), right(frame)
        if type(first) is int and type(second) is int:
            try:
                return function(first, second)
            except EvaluationError as error:
                raise error.at(place) from None
        raise wrong_kind(name, "numbers", stored_value(second if type(first) is int else first)).at(place)

    return run


# Tests


def test(compiler: NodeCompiler, node: BuiltinExpr, scope: RunScope) -> Test:
    """Compile an operator of logic or comparison to a test."""
    name, place = node.operator, node.place
    if name == "~":
        holds = compiler.test(node.arguments[0], scope, "~")
        return lambda frame: not holds(frame)
    if name in ("/\\", "\\/"):
        parts = tuple(compiler.test(argument, scope, name) for argument in node.arguments)
        return logic.conjunction(parts) if name == "/\\" else logic.disjunction(parts)
    if name in ("=>", "<=>", "\\equiv"):
        premise, conclusion = (compiler.test(argument, scope, name) for argument in node.arguments)
        if name == "=>":
            return lambda frame: not premise(frame) or conclusion(frame)
        return lambda frame: premise(frame) is conclusion(frame)
    left, right = (compiler.value(argument, scope) for argument in node.arguments)
    if name in ("=", "#", "/=", "AssertEq"):
        is_constant = compiler.is_constant(node.arguments[1], scope)
        return (_equality_with_constant if is_constant else _equality)(left, right, name in ("=", "AssertEq"), place)
    if name in _ORDERS:
        limit = node.arguments[1]
        if isinstance(limit, NumberExpr):
            return _order_with_number(name, left, limit.value, place)
        return _order(name, left, right, place)
    if name == "\\subseteq":
        return _relation(
            lambda one, other: sets.is_subset(_set(name, one), _set(name, other)), left, right, True, place
        )
    return _relation(_is_member, left, right, name == "\\in", place)


def _is_member(element: Any, values: Any) -> bool:
    if isinstance(element, LazyFunction):
        element = element.listed()
    return sets.member(element, values)


def _equality(left: Code, right: Code, wanted: bool, place: Span) -> Test:
    def run(frame: Frame) -> bool:
        first, second = left(frame), right(frame)
        if first is second:
            return wanted
        kind = type(first)
        if kind is type(second) and (kind is int or kind is str):
            return (first == second) is wanted
        if isinstance(first, TlaModelValue) and isinstance(second, TlaModelValue) and not first.type_letter:
            return not wanted
        try:
            if isinstance(first, _UNSTORED) or isinstance(second, _UNSTORED):
                return equal(stored_value(first), stored_value(second)) is wanted
            return equal(first, second) is wanted
        except EvaluationError as error:
            raise error.at(place) from None

    return run


def _equality_with_constant(left: Code, right: Code, wanted: bool, place: Span) -> Test:
    general = _equality(left, right, wanted, place)
    known: list[Any] = []

    def run(frame: Frame) -> bool:
        first = left(frame)
        if not known:
            known.append(right(frame))
        second = known[0]
        if first is second:
            return wanted
        kind = type(first)
        if kind is type(second):
            if kind is int or kind is str:
                return (first == second) is wanted
            if kind is TlaModelValue and not first.type_letter:
                return not wanted
        return general(frame)

    return run


def _order(name: str, left: Code, right: Code, place: Span) -> Test:
    function = _ORDERS[name]

    def run(frame: Frame) -> bool:
        first, second = left(frame), right(frame)
        if type(first) is int and type(second) is int:
            return function(first, second)
        raise wrong_kind(name, "numbers", stored_value(second if type(first) is int else first)).at(place)

    return run


def _order_with_number(name: str, left: Code, number: int, place: Span) -> Test:
    function = _ORDERS[name]

    def run(frame: Frame) -> bool:
        first = left(frame)
        if type(first) is int:
            return function(first, number)
        raise wrong_kind(name, "numbers", stored_value(first)).at(place)

    return run


def _relation(function: Callable[[Any, Any], bool], left: Code, right: Code, wanted: bool, place: Span) -> Test:
    def run(frame: Frame) -> bool:
        first, second = left(frame), right(frame)
        try:
            return function(first, second) is wanted
        except EvaluationError as error:
            raise error.at(place) from None

    return run


# Operators that take operators, or that fail


def _with_operator(compiler: NodeCompiler, node: BuiltinExpr, scope: RunScope) -> Code:
    """Compile SelectSeq and SortSeq."""
    items, given = node.arguments
    sequence = compiler.stored(items, scope)
    is_selection = node.operator == "SelectSeq"
    slots, code = applications.operator_code(compiler, given, 1 if is_selection else 2, scope)
    holds = as_test(code, node.operator, given.place)
    place = node.place

    def select(frame: Frame) -> Value:
        kept = []
        for item in sequences.items_of("SelectSeq", sequence(frame), place):
            frame[slots[0]] = item
            if holds(frame):
                kept.append(item)
        return tuple(kept)

    def sort(frame: Frame) -> Value:
        def before(first: Any, second: Any) -> bool:
            frame[slots[0]], frame[slots[1]] = first, second
            return holds(frame)

        # The insertions are those of TLC: an operator that orders not all items strictly has their result too.
        kept: list[Value] = []
        for item in sequences.items_of("SortSeq", sequence(frame), place):
            at = len(kept)
            while at and before(item, kept[at - 1]):
                at -= 1
            kept.insert(at, item)
        return tuple(kept)

    return select if is_selection else sort


def _assertion(compiler: NodeCompiler, node: BuiltinExpr, scope: RunScope) -> Code:
    condition = compiler.test(node.arguments[0], scope, "Assert")
    message = compiler.stored(node.arguments[1], scope)
    place = node.place

    def run(frame: Frame) -> TlaBoolean:
        if condition(frame):
            return TRUE
        found = message(frame)
        raise failed_assertion(found if isinstance(found, str) else written(found)).at(place)

    return run


def permutations_of(base: sets.AnySet) -> frozenset[Value]:
    """Return the permutations of a set, as functions on it."""
    keys = ordered(base)
    return frozenset(functions.function_of(dict(zip(keys, images, strict=True))) for images in permutations(keys))
