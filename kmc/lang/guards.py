"""What a spec's actions and helpers guard with, beyond `if` and `return`."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod


class Disabled(Exception):
    """The current choice of an action has no successor; ends the innermost choosing `for`, or the action."""


_DISABLED = Disabled()


def require(condition: bool) -> None:
    """Go on only if `condition` holds: a helper that guards as well as updates (TLA+'s `/\\ guard /\\ x' = ...`).

    When it does not hold, the innermost `for` of the action that holds a `yield` goes on with its next choice, or the
    action ends if there is none.
    """
    if condition is not True:
        if condition is not False:
            raise TypeError(f"require needs a Bool, not {condition!r}")
        raise _DISABLED


def ways(*conditions: bool) -> range:
    """One round of a `for` per condition that holds: `for _ in ways(a, b): yield ...`.

    TLC generates a successor once for every way in which a disjunction holds; equal counts need the same.
    """
    return range(sum(1 for condition in conditions if condition))


def count(conditions: Iterable[bool]) -> int:
    """How many of the conditions hold: TLA+'s Quantify, or Cardinality of a filtered set."""
    return sum(1 for condition in conditions if condition)


def product(numbers: Iterable[int]) -> int:
    """The product, 1 of no numbers: in how many ways a conjunction holds whose members hold in so many ways each.

    TLC goes through the witnesses of an `\\E` under `\\A` too: `range(product(count(...) for i in Server))`.
    """
    return prod(numbers)
