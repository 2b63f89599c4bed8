"""Closures around closures: constants that are evaluated once, stored values, tests, refusals."""

from __future__ import annotations

from typing import Any

from kmc.errors import EvaluationError, Span
from kmc.tla.run.frames import Code, Frame, Test
from kmc.tla.run.lazy import stored_value
from kmc.tla.run.scopes import Mode
from kmc.tla.values.failures import never_evaluated, wrong_kind
from kmc.tla.values.kinds import FALSE, TRUE, FunctionValue, TlaBoolean, TlaModelValue

_STORED = frozenset((int, str, tuple, frozenset, FunctionValue, TlaBoolean, TlaModelValue))
"""The types of values that are stored as they are: neither symbolic sets nor lazy functions."""


def primed_mode(mode: Mode, place: Span) -> Mode:
    """Return the mode below a prime."""
    if mode.primed:
        raise never_evaluated("a prime below a prime", "there is no state after the next one").at(place)
    return Mode(mode.state, mode.next, True)


def refusal(construct: str, reason: str, place: Span) -> Code:
    """Return a closure that refuses to be evaluated: TLC refuses these only then."""

    def refuse(_: Frame) -> Any:
        raise never_evaluated(construct, reason).at(place)

    return refuse


def once(code: Code) -> Code:
    """Return a closure that evaluates a constant when it is needed first."""
    known: list[Any] = []

    def constant(frame: Frame) -> Any:
        if known:
            return known[0]
        value = code(frame)
        known.append(value)
        return value

    return constant


def test_once(test: Test) -> Test:
    """Return a test that evaluates a constant formula when it is needed first."""
    known: list[bool] = []

    def constant(frame: Frame) -> bool:
        if known:
            return known[0]
        holds = test(frame)
        known.append(holds)
        return holds

    return constant


def stored_code(code: Code, place: Span) -> Code:
    """Return a closure that lists the elements of symbolic sets and the pairs of lazy functions."""

    def stored(frame: Frame) -> Any:
        value = code(frame)
        if type(value) not in _STORED:
            try:
                return stored_value(value)
            except EvaluationError as error:
                raise error.at(place) from None
        return value

    return stored


def as_test(code: Code, operator: str, place: Span) -> Test:
    """Return the test of a value that must be TRUE or FALSE."""

    def test(frame: Frame) -> bool:
        value = code(frame)
        if value is TRUE:
            return True
        if value is FALSE:
            return False
        raise wrong_kind(operator, "TRUE or FALSE", stored_value(value)).at(place)

    return test


def as_value(test: Test) -> Code:
    """Return the code of a formula that is used as a value."""
    return lambda frame: TRUE if test(frame) else FALSE
