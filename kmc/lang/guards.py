"""Guards of actions and helpers beyond `if` and `return`: `require`, `ways`, `count`, `equals_any`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from math import prod
from types import FunctionType, GeneratorType
from typing import Any

from kmc.errors import EvaluationError
from kmc.lang.showing import shown


class Disabled(Exception):
    """A `require` failed: the current choice, or the action outside of choices, has no successor."""


_DISABLED = Disabled()


def truth(value: Any) -> bool:
    """`value` if it is a Bool. As in TLA+, no other value is true or false."""
    if value is True or value is False:
        checked: bool = value
        return checked
    raise EvaluationError("KMC249", f"this condition is {shown(value)}, not a Bool", help=advice_on_condition(value))


@singledispatch
def advice_on_condition(value: Any) -> str:
    """The advice for a value in the place of a Bool; other modules add their own kinds."""
    if value is None:
        return "write `is None` or `is not None`; a helper needs a return on every path"
    if isinstance(value, int):
        return "compare it: x > 0, x != 0"
    if isinstance(value, FunctionType):
        return "call it, with its arguments in parentheses"
    if isinstance(value, GeneratorType):
        return "a helper that yields is delegated to: yield from helper(...)"
    return "compare it: len(s) > 0, x == y, x in s"


def truths(values: Iterable[Any]) -> Iterator[bool]:
    """Each of `values`, checked to be a Bool."""
    return map(truth, values)


def number(value: Any) -> Any:
    """An operand of arithmetic: `value`, unless it is a Bool, which Python would count as 0 or 1."""
    if value is True or value is False:
        raise EvaluationError(
            "KMC250",
            f"this operand is {shown(value)}, not a number",
            help="a Bool stands for itself; as a number, write 1 if x else 0",
        )
    return value


def equals_any(first: Any, second: Any) -> bool:
    """Return whether two values are equal; those of different kinds never are, and the type check does not warn."""
    return bool(first == second)


def require(condition: Any) -> None:
    """Go on only if `condition` holds: a helper that guards as well as updates (TLA+'s `/\\ guard /\\ x' = ...`).

    When it does not hold, the innermost choosing `for` (one with a `yield`) continues with its next choice. Outside of
    a choice, the action ends.
    """
    if condition is not True and not truth(condition):
        raise _DISABLED


def ways(*conditions: bool) -> range:
    """One round of a `for` per condition that holds: `for _ in ways(a, b): yield ...`.

    TLC generates a successor once for every disjunct that holds, so equal counts need the same multiplicity.
    """
    return range(count(conditions))


def count(conditions: Iterable[bool]) -> int:
    """The number of conditions that hold: TLA+'s Quantify, or Cardinality of a filtered set."""
    return sum([1 for condition in conditions if condition is True or truth(condition)])


def product(numbers: Iterable[int]) -> int:
    """The product of the numbers, 1 if there are none: the number of ways in which a conjunction holds whose members
    hold in that many ways each.

    TLC goes through the witnesses of an `\\E` under `\\A` too: `range(product(count(...) for i in Server))`.
    """
    return prod(numbers)
