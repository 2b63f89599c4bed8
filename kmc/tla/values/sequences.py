"""Operators of sequences. As in TLC, a string is a sequence for some of them."""

from __future__ import annotations

from kmc.errors import Span
from kmc.tla.values.failures import partial_sequence, wrong_kind
from kmc.tla.values.kinds import Value
from kmc.tla.values.numbers import number
from kmc.tla.values.order import short_text


def items_of(operator: str, value: Value, place: Span | None = None) -> tuple[Value, ...]:
    """Return the items of a sequence; EvaluationError KMC258 for any other value."""
    if isinstance(value, tuple):
        return value
    raise wrong_kind(operator, "a sequence", value).at(place)


def length(value: Value) -> int:
    """Return `Len(value)`."""
    return len(value) if isinstance(value, str) else len(items_of("Len", value))


def concatenated(first: Value, second: Value) -> Value:
    r"""Return `first \\o second`."""
    if isinstance(first, str) and isinstance(second, str):
        return first + second
    return items_of("\\o", first) + items_of("\\o", second)


def appended(value: Value, item: Value) -> Value:
    """Return `Append(value, item)`."""
    return (*items_of("Append", value), item)


def head(value: Value) -> Value:
    """Return `Head(value)`."""
    items = items_of("Head", value)
    if not items:
        raise partial_sequence("Head(<<>>)", "the sequence is empty")
    return items[0]


def tail(value: Value) -> Value:
    """Return `Tail(value)`."""
    if isinstance(value, str) and value:
        return value[1:]
    items = items_of("Tail", value)
    if not items:
        raise partial_sequence("Tail(<<>>)", "the sequence is empty")
    return items[1:]


def part(value: Value, first: Value, last: Value) -> Value:
    """Return `SubSeq(value, first, last)`."""
    low, high = number("SubSeq", first), number("SubSeq", last)
    if low > high:
        return "" if isinstance(value, str) else ()
    size = length(value)
    if low < 1 or high > size:
        raise partial_sequence(f"SubSeq({short_text(value)}, {low}, {high})", f"the positions are 1..{size}")
    return value[low - 1 : high] if isinstance(value, str) else items_of("SubSeq", value)[low - 1 : high]
