"""Sequence values: immutable, with offsets that count from 1 as in TLA+ and the KIPs.

A sequence that has been stored in a field knows its type, so that an append past the capacity fails at the append.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

from kmc.errors import DomainError, EvaluationError
from kmc.lang.showing import shown
from kmc.lang.types import SeqType

_new: Callable[..., Any] = tuple.__new__


class SeqValue(tuple[Any, ...]):
    """A sequence; `log.at(1)` is its first element, `len(log)` the offset of its last."""

    __slots__ = ()
    kmc_seq_type: ClassVar[SeqType | None] = None

    def at(self, offset: int) -> Any:
        """The element at `offset` in 1..len; EvaluationError outside."""
        if type(offset) is int and 0 < offset <= len(self):
            return tuple.__getitem__(self, offset - 1)
        raise EvaluationError(
            "KMC221",
            f"this sequence has no offset {shown(offset)}" + (f", only 1..{len(self)}" if self else ": it is empty"),
            help="offsets count from 1; guard with offset <= len(...)",
        )

    def append(self, element: Any) -> Self:
        """The sequence with `element` at its end; DomainError past the capacity of its type."""
        declared = self.kmc_seq_type
        if declared is not None and len(self) >= declared.capacity:
            raise DomainError(
                "KMC203",
                f"this sequence holds at most {declared.capacity} elements, but this append can make it "
                f"{len(self) + 1}",
                help=f"guard the action with len(...) < {declared.capacity}, or raise the capacity of its Seq[...]",
            )
        longer: Self = _new(type(self), (*self, element))
        return longer

    def upto(self, offset: int) -> Self:
        """The elements at 1..`offset`; EvaluationError unless 0 <= offset <= len."""
        if type(offset) is int and 0 <= offset <= len(self):
            prefix: Self = _new(type(self), tuple.__getitem__(self, slice(0, offset)))
            return prefix
        raise EvaluationError(
            "KMC222",
            f"this sequence has no prefix of {shown(offset)} elements: it has {len(self)}",
            help="guard with n <= len(...)",
        )

    def offsets(self) -> range:
        """The offsets 1..len, TLA+'s DOMAIN."""
        return range(1, len(self) + 1)

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        """The element at a position, which counts from 0; of a slice, the elements from one position up to another."""
        if isinstance(index, slice):
            return self._between(index.start, index.stop)
        if type(index) is int and 0 <= index < len(self):
            return tuple.__getitem__(self, index)
        raise EvaluationError(
            "KMC223",
            f"this sequence has no position {shown(index)}: it " + (f"has 0..{len(self) - 1}" if self else "is empty"),
            help="positions in brackets count from 0, offsets of log.at(offset) from 1; guard with len(...)",
        )

    def _between(self, start: Any, stop: Any) -> Self:
        first, end = 0 if start is None else start, len(self) if stop is None else stop
        for bound in (first, end):
            if type(bound) is not int or not 0 <= bound <= len(self):
                raise EvaluationError(
                    "KMC222",
                    f"this sequence of {len(self)} elements has no slice that begins or ends at {shown(bound)}",
                    help="guard with 0 <= n <= len(...)",
                )
        part: Self = _new(type(self), tuple.__getitem__(self, slice(first, end)))
        return part

    def __add__(self, other: object) -> SeqValue:
        if isinstance(other, SeqValue):
            return seq_literal((*self, *other))
        raise EvaluationError(
            "KMC224", "only a sequence is added to a sequence", help="write log.append(element) or log + [element]"
        )

    def __mul__(self, other: object) -> NoReturn:
        raise EvaluationError("KMC224", "sequences are not multiplied", help="write [... for o in range(1, n + 1)]")

    __rmul__ = __mul__

    def __lt__(self, other: object) -> NoReturn:
        raise EvaluationError("KMC246", "sequences have no order", help="compare len(...), or elements with at(...)")

    __le__ = __gt__ = __ge__ = __lt__

    @property
    def count(self) -> NoReturn:
        """Not part of the language: hides the method of tuples."""
        raise AttributeError(name="count", obj=self)

    @property
    def index(self) -> NoReturn:
        """Not part of the language: hides the method of tuples, which counts from 0."""
        raise AttributeError(name="index", obj=self)

    def __repr__(self) -> str:
        return "<<" + ", ".join(map(repr, self)) + ">>"


def seq_class(declared: SeqType) -> type[SeqValue]:
    """A class of sequences that know their type."""
    return type("TypedSeqValue", (SeqValue,), {"__slots__": (), "kmc_seq_type": declared})


def seq_literal(elements: Any) -> SeqValue:
    """The value of a list literal or list comprehension in a spec."""
    literal: SeqValue = _new(SeqValue, elements)
    return literal


def in_order(elements: Any) -> Any:
    """`elements` if their order has a meaning; else EvaluationError.

    The front end wraps what a list comprehension runs over: a sequence built from a set would depend on the order
    of that set in memory.
    """
    if isinstance(elements, SeqValue | range):
        return elements
    raise EvaluationError(
        "KMC225",
        "a sequence is built from a collection that has no order",
        help="build a set {... for ... in ...}, or run over a sequence or range(...)",
    )


def fold(function: Callable[[Any, Any], Any], first: Any, elements: Any) -> Any:
    """`function(... function(function(first, e1), e2) ..., en)` for the elements of a sequence or range in their order.

    It is FoldLeft of TLA+'s community modules.
    """
    if not isinstance(elements, SeqValue | range):
        raise EvaluationError(
            "KMC277",
            "fold goes through a sequence or a range, and this is neither",
            help="write sum(...), max(...), a quantifier or a comprehension for a set, which has no order",
        )
    return reduce(function, elements, first)


def in_parts(value: Any) -> Any:
    """`value`, to be unpacked into several names, if a helper returned it or it is a range; else EvaluationError."""
    if type(value) is tuple or type(value) is range:
        return value
    raise EvaluationError(
        "KMC230",
        "only several values that a helper returns are taken apart",
        help="name the value, then its fields, log.at(1), or a quantifier over a set",
    )
