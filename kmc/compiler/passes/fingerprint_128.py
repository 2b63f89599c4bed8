"""Fingerprints of 128 bits: every state is hashed twice, under different salts; the two words are its fingerprint.

Two words precede a row: its second fingerprint and its second hash sum. Kernels update the second sum like the first.
`identity_second` is `identity` with other salts, so it respects views and symmetry too; it chooses a representative of
the orbit by itself. Callers pass rows that begin with the two words; `<kernel>_128` skips them and calls `<kernel>`.
Rows are not settled. With 64-bit fingerprints none of this exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import (
    Block,
    CallKernel,
    Const,
    Copy,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Return,
    Stmt,
    Store,
    Var,
)
from kmc.compiler.ir.walk import calls, with_parts
from kmc.compiler.passes.read_sets import ONLY_CHANGED
from kmc.invariants.kinds import KINDS, Answer
from kmc.runtime.hashing import WIDE_WORDS

_SUM = Const(0)
_SECOND_SUM = Const(-1)


def second_identity(functions: Sequence[Function]) -> list[Function]:
    """`identity_second` and the functions that it calls, made from `identity` and its functions."""
    by_name = {function.name: function for function in functions}
    wanted = ["identity"]
    for name in wanted:
        called = dict.fromkeys(call.function for call in calls(by_name[name].body))
        wanted += [callee for callee in called if callee not in wanted]
    seconds = []
    for name in wanted:
        function = by_name[name]
        row = "".join(function.pointers[:1])
        seconds.append(replace(function, name=f"{name}_second", body=_statements(function.body, row)))
    return seconds


def functions_128(
    *, ranked: bool, further: Mapping[str, tuple[str, ...]] | None = None, more: bool = False
) -> list[Function]:
    """The kernels that callers use with 128 bits: over rows with the two words in front.

    `further` are the names of other kernels over rows, and their pointers; `more`: there is `expand_all`.
    """
    identity = Function(
        "identity_128",
        ("row",),
        (),
        (
            CallKernel("first", "identity", (_inside("row"),), ()),
            CallKernel("second", "identity_second", (_inside("row"),), ()),
            Store("row", x.ZERO, Var("second")),
            Return(Var("first")),
        ),
    )
    return [
        _expanding("expand"),
        *([_expanding("expand_all")] if more else []),
        identity,
        *([_forwarded("rank", ("cur",))] if ranked else []),
        *(
            _forwarded(kind.kernel, ("cur", "nxt")[: kind.states], ("wanted",) * (kind.answer is Answer.HOLDING))
            for kind in KINDS
        ),
        *(_forwarded(name, *given) for name, given in ONLY_CHANGED.items()),
        *(_forwarded(name, pointers) for name, pointers in (further or {}).items()),
    ]


def _expanding(name: str) -> Function:
    call = CallKernel("found", name, (_inside("cur"), ("out", x.ZERO)), (Var("limit"),))
    return Function(f"{name}_128", ("cur", "out"), ("limit",), (call, Return(Var("found"))), frozenset({"cur"}))


def _forwarded(name: str, pointers: tuple[str, ...], parameters: tuple[str, ...] = ()) -> Function:
    call = CallKernel("found", name, tuple(map(_inside, pointers)), tuple(map(Var, parameters)))
    return Function(f"{name}_128", pointers, parameters, (call, Return(Var("found"))), frozenset(pointers))


def _inside(pointer: str) -> tuple[str, Expr]:
    return pointer, Const(WIDE_WORDS)


def _statements(body: Sequence[Stmt], row: str) -> tuple[Stmt, ...]:
    return tuple(_statement(statement, row) for statement in body)


def _statement(statement: Stmt, row: str) -> Stmt:
    def changed(expr: Expr) -> Expr:
        return _expression(expr, row)

    match statement:
        case Let(name, value):
            return Let(name, changed(value))
        case Store(pointer, index, value):
            return Store(pointer, changed(index), changed(value))
        case Copy(target, at, source, start, words):
            return Copy(target, changed(at), source, changed(start), changed(words))
        case If(condition, then, otherwise):
            return If(changed(condition), _statements(then, row), _statements(otherwise, row))
        case Block(label, body):
            return Block(label, _statements(body, row))
        case Loop(label, body):
            return Loop(label, _statements(body, row))
        case CallKernel(target, function, pointers, arguments):
            moved = tuple((pointer, changed(offset)) for pointer, offset in pointers)
            return CallKernel(target, f"{function}_second", moved, tuple(map(changed, arguments)))
        case Return(value):
            return Return(changed(value))
        case _:
            return statement


def _expression(expr: Expr, row: str) -> Expr:
    """The expression with the second hash sum in place of the first, and every salt changed."""

    def changed(inner: Expr) -> Expr:
        return _expression(inner, row)

    match expr:
        case Load(pointer, index) if pointer == row and index == _SUM:
            return Load(pointer, _SECOND_SUM)
        case Intrinsic("mix", (word, salt)):
            return x.second_mix(changed(word), changed(salt))
        case _:
            return with_parts(expr, changed)
