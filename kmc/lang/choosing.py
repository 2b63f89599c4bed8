"""Values that a condition or a key singles out: `the`, and `max` and `min` with a key.

TLA+'s CHOOSE takes some element that satisfies a condition, always the same one. Where several do, which one it takes
depends on an order that sets do not have, and a permutation of members would change it. Here that is an error, so the
value never depends on an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kmc.errors import EvaluationError
from kmc.lang.showing import shown


def the(values: Iterable[Any]) -> Any:
    """The only value of a collection, in which it may be several times: TLA+'s `CHOOSE x \\in S : P`.

    EvaluationError (KMC279) if there is none, or if two values differ.
    """
    found = list(values)
    if not found:
        raise EvaluationError(
            "KMC279",
            "'the' needs one value, and there is none",
            help="guard it: an element satisfies the condition if any(...) of it is true",
        )
    if any(value != found[0] for value in found):
        raise EvaluationError(
            "KMC279",
            f"'the' needs one value, and there are {_two_of(found)}",
            help="make the condition narrower, or choose with for, which gives a step for each",
        )
    return found[0]


def best_by_key(name: str, values: Iterable[Any], key: Callable[[Any], int], best: Callable[..., int]) -> Any:
    """The element with the greatest or least key; `best` compares keys, and `name` is the word in errors.

    EvaluationError if two different elements have that key (KMC280), ValueError, as Python has it, if there is none.
    """
    keys = [(value, key(value)) for value in values]
    wanted = best(number for _, number in keys)
    found = [value for value, number in keys if number == wanted]
    if any(value != found[0] for value in found):
        raise EvaluationError(
            "KMC280",
            f"{name} with a key needs one element, and {_two_of(found)} have the key {wanted}",
            help=f"write a key that tells them apart, or {name}(...) of the numbers alone",
        )
    return found[0]


def _two_of(values: list[Any]) -> str:
    """Two different values, the same two in whatever order a set has them."""
    first, *others = sorted(set(map(shown, values)))
    return f"{first} and {others[0] if others else 'another'}"
