"""Lowering of stored sets that are lists of their members: see `kmc.compiler.values.listed_sets`."""

from __future__ import annotations

from kmc.compiler.ir import build as x
from kmc.compiler.lowering.context import Body, Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.listed_sets import ListMaker, as_sequence, member_at
from kmc.compiler.values.masks import SetOperator
from kmc.compiler.values.packing import array_head
from kmc.compiler.values.value import Packed, SetOp, Stored, Value
from kmc.lang.types import SeqType, SetType


def each_listed(low: Lowering, whole: Packed | Stored, body: Body) -> None:
    """Call `body` with each member."""
    members = as_sequence(whole)
    assert isinstance(members.type, SeqType)
    length = low.code.keep(array_head(members), "len")
    most = members.type.capacity
    low.repeated(most, lambda: low.code.count_up(x.ZERO, length, lambda index: body(member_at(members, index))))


def listed_set(low: Lowering, value: Value, declared: SetType, node: Origin) -> Packed:
    """A collection as a list."""
    made = ListMaker(low.code, declared, node)
    parts = _united(value)
    first = parts[0]
    if isinstance(first, Packed | Stored) and first.type == declared:
        made.start_with(first)
        parts = parts[1:]
    for whole in parts:
        low.each(whole, lambda item: made.insert(low.words_as(item, declared.element, node)), node, once=False)
    return made.made()


def listed_operation(
    low: Lowering, kind: SetOperator, left: Value, right: Value, declared: SetType, node: Origin
) -> Packed:
    """The union, intersection or difference of two sets that are lists of one type, or empty."""
    if kind == "or":
        return listed_set(low, SetOp("or", left, right), declared, node)
    made = ListMaker(low.code, declared, node)

    def look(item: Value) -> None:
        is_other = low.member(item, right, node)
        wanted = is_other if kind == "and" else x.negate(is_other)
        low.code.branch(wanted, low.code.capture(lambda: made.insert(low.words_as(item, declared.element, node))))

    low.each(left, look, node)
    return made.made()


def _united(value: Value) -> tuple[Value, ...]:
    """The sets whose union a value is."""
    if isinstance(value, SetOp) and value.kind == "or":
        return (*_united(value.left), *_united(value.right))
    return (value,)
