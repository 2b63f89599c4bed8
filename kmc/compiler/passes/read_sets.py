"""Kernels that evaluate a property only where it may have another value than before.

The bits of the fixed part that a property reads are found in its code: its read set. If two states agree in it, the
property has the same value in both. A property that reads a network, or a place that is computed at run time, has no
read set here, and is always evaluated.

- `check_changed(cur, nxt)` and `reachable_changed(cur, nxt, wanted)` answer for `nxt` what `check` and `reachable` do,
  but leave out properties that have the same value in `cur`. So an invariant that holds in `cur`, and a reachable
  property that `cur` does not have, are answered right.
- `step_kept(cur)` answers which action properties fail in a step from `cur` that changes nothing in their read sets:
  such a step and the one from `cur` to `cur` are the same to them. `step_changed(cur, nxt)` answers what `step` does,
  but leaves those out whose read sets do not change. So together they say of every step what `step` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import (
    Bin,
    CallKernel,
    Const,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Matches,
    Return,
    Select,
    Stmt,
    Var,
)
from kmc.compiler.ir.walk import statements, variables
from kmc.invariants.kinds import Answer, PropertyKind
from kmc.runtime.state_layout import RowLayout

_ALL = (1 << 64) - 1

ONLY_CHANGED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "check_changed": (("cur", "nxt"), ()),
    "reachable_changed": (("cur", "nxt"), ("wanted",)),
    "step_changed": (("cur", "nxt"), ()),
    "step_kept": (("cur",), ()),
}
"""The kernels that are made here: their rows and their parameters."""

ReadSet = dict[int, int]
"""The bits that are read of each word of the fixed part."""


def only_changed(kind: PropertyKind, functions: Iterable[Function], row: RowLayout, count: int) -> list[Function]:
    """The kernels for the `count` properties of a kind whose own kernels, `check_0`, ..., are among the functions."""
    known = {function.name: function for function in functions}
    names = [f"{kind.kernel}_{index}" for index in range(count)]
    read = [_bits_read(known[name], row) for name in names]
    kernels = [_changed(kind, names, read)]
    if kind.states == 2:
        kernels.append(_kept(kind, names, read))
    return kernels


def _changed(kind: PropertyKind, names: Sequence[str], read: Sequence[ReadSet | None]) -> Function:
    """Build `<kind>_changed`. Properties with equal read sets are tested together."""
    holding = kind.answer is Answer.HOLDING
    body: list[Stmt] = [Let("mask", x.ZERO)]
    if kind.states == 2:
        body.append(unless_stuttering())
    groups: dict[tuple[tuple[int, int], ...] | None, list[int]] = {}
    for index, bits in enumerate(read):
        groups.setdefault(None if bits is None else tuple(sorted(bits.items())), []).append(index)
    for group, members in groups.items():
        asked: list[Stmt] = []
        for index in members:
            one = answered(names[index], ("cur", "nxt")[-kind.states :], index)
            asked += [If(x.extract(Var("wanted"), index, 1), one)] if holding else one
        asked = list(_if_differs(group, asked))
        if holding and asked:
            wanted = x.binary("and", Var("wanted"), Const(sum(1 << index for index in members)))
            asked = [If(x.negate(x.eq(wanted, x.ZERO)), tuple(asked))]
        body += asked
    body.append(Return(Var("mask")))
    return _made(f"{kind.kernel}_changed", body)


def _kept(kind: PropertyKind, names: Sequence[str], read: Sequence[ReadSet | None]) -> Function:
    """`<kind>_kept`: the properties that have a read set, evaluated on a state as the successor of itself."""
    body: list[Stmt] = [Let("mask", x.ZERO)]
    for index, bits in enumerate(read):
        if bits is not None:
            body += answered(names[index], ("cur", "cur"), index)
    body.append(Return(Var("mask")))
    return _made(f"{kind.kernel}_kept", body)


def _made(name: str, body: Sequence[Stmt]) -> Function:
    rows, parameters = ONLY_CHANGED[name]
    return Function(name, rows, parameters, tuple(body), frozenset(rows))


def answered(name: str, rows: Sequence[str], bit: int) -> tuple[Stmt, ...]:
    """Ask the kernel of a predicate, and put its answer into the mask; answer its error if it has one."""
    return (
        CallKernel("found", name, tuple((row, x.ZERO) for row in rows), ()),
        If(x.binary("slt", Var("found"), x.ZERO), (Return(Var("found")),)),
        Let("mask", x.binary("or", Var("mask"), x.place_at(Var("found"), bit))),
    )


def unless_stuttering() -> Stmt:
    """A stuttering step leaves the hash sum as it is, and breaks no action property."""
    return If(x.eq(x.load("cur", x.ZERO), x.load("nxt", x.ZERO)), (Return(x.ZERO),))


def _if_differs(read: Iterable[tuple[int, int]] | None, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements, under the condition that the states differ in the bits that are read."""
    if read is None:
        return tuple(body)
    by_mask: dict[int, list[Expr]] = {}
    for word, bits in read:
        difference = x.binary("xor", x.load("cur", Const(word)), x.load("nxt", Const(word)))
        by_mask.setdefault(bits, []).append(difference)
    differences = [x.binary("and", _either(words), Const(x.signed(bits))) for bits, words in by_mask.items()]
    return (If(x.negate(x.eq(_either(differences), x.ZERO)), tuple(body)),) if differences else ()


def _either(terms: Sequence[Expr]) -> Expr:
    return reduce(lambda left, right: x.binary("or", left, right), terms)


def _bits_read(function: Function, row: RowLayout) -> ReadSet | None:
    """The bits of each word of the fixed part that a property reads; None for the whole state."""
    bits_by_word: ReadSet = {}
    for statement in _living(list(statements(function.body))):
        if isinstance(statement, CallKernel):
            return None
        for expr in _expressions(statement):
            for word, bits in _reads(expr, _ALL):
                if not 0 < word < row.counts:
                    return None
                bits_by_word[word] = bits_by_word.get(word, 0) | bits
    return bits_by_word


def _living(body: list[Stmt]) -> list[Stmt]:
    """The statements without assignments to variables that nothing reads."""
    read: set[str] = set()
    while True:
        living = [item for item in body if not isinstance(item, Let) or item.name in read]
        seen = {name for item in living for expr in _expressions(item) for name in variables(expr)}
        if seen <= read:
            return living
        read |= seen


def _expressions(statement: Stmt) -> tuple[Expr, ...]:
    match statement:
        case Let(_, value) | Return(value):
            return (value,)
        case If(condition):
            return (condition,)
        case CallKernel(_, _, pointers, arguments):
            return (*(offset for _, offset in pointers), *arguments)
        case _:
            return ()


def _reads(expr: Expr, bits: int) -> Iterator[tuple[int, int]]:
    """The word and the bits of each load, if `bits` of the value matter; word -1 for an unknown place."""
    match expr:
        case Load(_, Const(word)):
            yield word, bits
        case Load():
            yield -1, bits
        case Bin("and", inner, Const(mask)) | Bin("and", Const(mask), inner):
            yield from _reads(inner, bits & mask)
        case Bin("lshr", inner, Const(shift)):
            yield from _reads(inner, bits << shift & _ALL)
        case Bin(_, left, right):
            yield from _reads(left, _ALL)
            yield from _reads(right, _ALL)
        case Select(condition, yes, no):
            yield from _reads(condition, _ALL)
            yield from _reads(yes, bits)
            yield from _reads(no, bits)
        case Intrinsic(_, arguments):
            for argument in arguments:
                yield from _reads(argument, _ALL)
        case Matches():
            yield -1, bits
        case _:
            pass
