"""Kernels that leave out what has not changed: properties made by hand, on every pair of small rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from kmc.compiler.ir import build as x
from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Const, Expr, Function, If, Let, Module, Return, Stmt, Var
from kmc.compiler.passes.read_sets import ONLY_CHANGED, answered, only_changed, unless_stuttering
from kmc.invariants.kinds import Answer, PropertyKind, Role, kind_of
from kmc.runtime.state_layout import Layout, RecordLayout, RowLayout

ROW = RowLayout(RecordLayout(Layout(128), {}), 2, ())
"""The hash sum, two words of the fixed part, and what lies behind them, as a network would."""

BEHIND = ROW.counts
VALUES = (0, 1, 2, 3)


def bits(row: str, word: int, bit: int, count: int) -> Expr:
    """Some bits of a word of a row."""
    return x.extract(x.load(row, Const(word)), bit, count)


OF_STATES: tuple[Expr, ...] = (
    bits("cur", 1, 0, 1),
    x.eq(bits("cur", 1, 1, 1), bits("cur", 2, 0, 2)),
    bits("cur", 1, 0, 1),
    bits("cur", BEHIND, 0, 1),
    x.ONE,
)
"""The last two but one have equal read sets; one reads what lies behind the fixed part, one nothing at all."""

OF_STEPS: tuple[Expr, ...] = (
    x.binary("slt", bits("nxt", 1, 0, 2), bits("cur", 1, 0, 2)),
    x.eq(bits("nxt", 2, 1, 1), x.ONE),
    x.both(bits("cur", 1, 0, 1), bits("nxt", 2, 0, 1)),
    bits("nxt", BEHIND, 0, 1),
)


def module(kind: PropertyKind, properties: tuple[Expr, ...]) -> Module:
    """The kernel of a kind, that of each of its properties, and those that are made of them."""
    rows, wanted = ("cur", "nxt")[: kind.states], kind.answer is Answer.HOLDING
    found = [
        Function(f"{kind.kernel}_{number}", rows, (), (Return(expr),), frozenset(rows))
        for number, expr in enumerate(properties)
    ]
    body: list[Stmt] = [Let("mask", x.ZERO), *([unless_stuttering()] if kind.states == 2 else [])]
    for number in range(len(properties)):
        one = answered(f"{kind.kernel}_{number}", rows, number)
        body += [If(x.extract(Var("wanted"), number, 1), one)] if wanted else one
    body.append(Return(Var("mask")))
    whole = Function(kind.kernel, rows, ("wanted",) if wanted else (), tuple(body), frozenset(rows))
    return Module((*found, whole, *only_changed(kind, found, ROW, len(properties))))


def pairs() -> Iterator[tuple[list[int], list[int]]]:
    """Rows of small words; the hash sum tells rows apart."""
    rows = [
        [first | second << 2 | behind << 4, first, second, behind]
        for first, second, behind in product(VALUES, VALUES, (0, 1))
    ]
    return product(rows, rows)


def agree(one: list[int], other: list[int], read: dict[int, int]) -> bool:
    """Whether two rows have these bits of these words in common."""
    return all((one[word] ^ other[word]) & mask == 0 for word, mask in read.items())


@pytest.mark.parametrize("kind", [kind_of(Role.CHECKED, 1), kind_of(Role.WITNESSED, 1)], ids=lambda kind: kind.kernel)
def test_a_property_is_left_out_where_nothing_that_it_reads_has_changed(kind: PropertyKind) -> None:
    kernels = emit_python(module(kind, OF_STATES))
    read: tuple[dict[int, int] | None, ...] = ({1: 1}, {1: 2, 2: 3}, {1: 1}, None, {})
    for given in (-1, 0b01011) if kind.answer is Answer.HOLDING else (None,):
        wanted = () if given is None else (given,)
        for cur, nxt in pairs():
            whole = kernels.call(kind.kernel, [(nxt, 0)], wanted)
            left_out = sum(
                bits is not None and agree(cur, nxt, bits) and 1 << number for number, bits in enumerate(read)
            )
            assert kernels.call(f"{kind.kernel}_changed", [(cur, 0), (nxt, 0)], wanted) == whole & ~left_out


def test_of_a_step_that_changes_nothing_read_the_source_says_all() -> None:
    kernels = emit_python(module(kind_of(Role.CHECKED, 2), OF_STEPS))
    kept_rows, left_out = 0, 0
    for cur, nxt in pairs():
        whole, kept = kernels.call("step", [(cur, 0), (nxt, 0)]), kernels.call("step_kept", [(cur, 0)])
        found = kernels.call("step_changed", [(cur, 0), (nxt, 0)])
        # What the source says of a step that changes nothing is all that may be missing.
        assert found & ~whole == 0
        assert whole & ~found & ~kept == 0
        kept_rows += kept == 0
        left_out += whole != found
    assert kept_rows > 0
    assert left_out > 0


def test_an_action_property_is_asked_only_of_a_step_that_changes_what_it_reads() -> None:
    stays, falls = [5, 3, 2, 0], [6, 1, 2, 0]
    kernels = emit_python(module(kind_of(Role.CHECKED, 2), OF_STEPS))
    assert kernels.call("step_kept", [(stays, 0)]) == 0b0010
    assert kernels.call("step_changed", [(stays, 0), (falls, 0)]) == 0b0001
    assert kernels.call("step", [(stays, 0), (falls, 0)]) == 0b0011


def test_what_is_made_is_what_is_listed() -> None:
    kinds = (kind_of(Role.CHECKED, 1), kind_of(Role.WITNESSED, 1), kind_of(Role.CHECKED, 2))
    made = {item.name: (item.pointers, item.parameters) for kind in kinds for item in only_changed(kind, [], ROW, 0)}
    assert made == ONLY_CHANGED
