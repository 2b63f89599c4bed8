"""Numbers of a spec: `max`, `min`, `%` and `**`.

Python's `max` and `min` also accept partially ordered values such as sets. Then there can be several greatest values,
and the one that is returned depends on the order of a set in memory. Here they compare numbers, or numbers that a key
gives, and the element with the best key must be the only one.
"""

from __future__ import annotations

from typing import Any

from kmc.errors import EvaluationError
from kmc.lang.choosing import best_by_key
from kmc.lang.kinds import kind_in_words

_POWER_BITS_MAX = 1 << 20
"""The binary digits of the largest power: more than any state holds, and Python would compute for minutes."""


def greatest(*values: Any, **options: Any) -> Any:
    """`max(a, b)`, `max(numbers)`, `max(numbers, default=0)`, or `max(elements, key=number_of)`.

    EvaluationError unless numbers are compared, or if two different elements have the greatest key.
    """
    return _best("max", max, values, options)


def least(*values: Any, **options: Any) -> Any:
    """`min` of numbers, or of elements by a key, as `greatest`."""
    return _best("min", min, values, options)


def _best(name: str, best: Any, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
    key = options.get("key")
    if key is None:
        return _number(name, best(*values, **options), options)
    elements = list(values[0] if len(values) == 1 else values)
    if not elements and "default" in options:
        return options["default"]
    return best_by_key(name, elements, lambda element: _number(name, key(element), {}), best)


def remainder(number: Any, divisor: Any) -> Any:
    """`number % divisor`, which is not negative; EvaluationError (KMC282) for a negative divisor, as in TLC."""
    if type(divisor) is int and divisor < 0 and type(number) is int:
        message = f"{number} % {divisor} has no value in TLA+, whose divisors are positive"
        raise EvaluationError("KMC282", message, help="write -(a % b), or guard with > 0")
    return number % divisor


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent` as TLA+ has it: EvaluationError (KMC281) for a negative exponent and for 0 ** 0."""
    if type(base) is int and type(exponent) is int:
        if exponent < 0 or (base == 0 and exponent == 0):
            advice = "guard it: an exponent is at least 0, and at least 1 where the base may be 0"
            raise EvaluationError("KMC281", f"{base} ** {exponent} has no value", help=advice)
        if exponent * base.bit_length() > _POWER_BITS_MAX:
            raise EvaluationError("KMC281", f"{base} ** {exponent} is too large", help="bound the exponent")
    return base**exponent


def _number(name: str, result: Any, options: dict[str, Any]) -> Any:
    if type(result) is int or ("default" in options and result is options["default"]):
        return result
    raise EvaluationError(
        "KMC255", f"{name} takes numbers, not {kind_in_words(result)}", help="compare numbers, or write a quantifier"
    )
