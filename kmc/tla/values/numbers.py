"""Arithmetic as TLC has it: division rounds down, and moduli are positive. Numbers have no largest one."""

from __future__ import annotations

from kmc.tla.values.failures import outside_arithmetic, wrong_kind
from kmc.tla.values.kinds import Value

_EXPONENT_MAX = 100_000


def number(operator: str, value: Value) -> int:
    """Return the value, which is a number; EvaluationError KMC258 if it is not."""
    if type(value) is int:
        return value
    raise wrong_kind(operator, "numbers", value)


def divided(first: int, second: int) -> int:
    r"""Return `first \\div second`, rounded down."""
    if second == 0:
        raise outside_arithmetic(f"{first} \\div 0", "the divisor is 0")
    return first // second


def remainder(first: int, second: int) -> int:
    """Return `first % second`."""
    if second <= 0:
        raise outside_arithmetic(f"{first} % {second}", "the modulus is not positive")
    return first % second


def power(first: int, second: int) -> int:
    """Return `first ^ second`."""
    if not 0 <= second <= _EXPONENT_MAX:
        raise outside_arithmetic(f"{first} ^ {second}", "the exponent is negative or very large")
    if first == second == 0:
        raise outside_arithmetic("0 ^ 0", "the base and the exponent are 0")
    return int(first**second)
