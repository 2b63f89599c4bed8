"""The kernel of `kmc.frontend.bisimulation`: does anything that a model asks for tell a state from its image?

Steps are compared by a sum over each side of one hashed term a step, which depends on the step's label, on the image of
its successor and on the answers of the predicates over steps. So the order of steps does not matter, and how often one
occurs does. Two different collections of steps have equal sums with the odds of a fingerprint's collision.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import (
    Break,
    CallKernel,
    Const,
    Expr,
    Function,
    If,
    Let,
    Loop,
    Return,
    Stmt,
    Store,
    Var,
)
from kmc.compiler.successor.images import HEADER, IMAGE
from kmc.frontend.bisimulation import Bisimulation
from kmc.runtime.hashing import WIDE_WORDS

LABELLED = "labelled_expand"
"""The kernel that writes all successors, each with the number of the action instance that leads to it."""

STEPS = "steps_of_side"

RECORDS_WORDS = 1 << 17
"""The memory for the successors of one state: a megabyte of the stack."""

RECORD_WORDS = 1 << 13
"""The memory for one record: twice as many words as a successor may be longer than its source."""

_LABEL_SALT = 0x5EED0001
_ANSWER_SALT = 0x5EED0002
_SUM, _COUNT, _TOLD_APART, _ANSWERS = 0, 1, 2, 3
_TELL_APART = Store("answers", Const(_TOLD_APART), x.ONE)


def asked_kernel(states: int, index: int) -> str:
    """The name of the kernel of a predicate that a model asks for."""
    return f"asked_{'step_' if states == 2 else ''}{index}"


def bisimulation_functions(name: str, asked: Bisimulation, *, wide: bool) -> list[Function]:
    """The kernel `name(cur)`, which is 1 where a difference is found, and those that it calls."""
    before = HEADER + (WIDE_WORDS if wide else 0)
    return [_steps_of_side(asked, before), _difference(f"{name}_found", asked, before), _decided(name)]


def _decided(name: str) -> Function:
    """The kernel `name`. Where memory does not suffice it reports a difference, which the interpreter then decides."""
    call = CallKernel("found", f"{name}_found", (("cur", x.ZERO),), ())
    too_large = If(x.eq(Var("found"), Const(-1)), (Return(x.ONE),))
    return Function(name, ("cur",), (), (call, too_large, Return(Var("found"))), frozenset({"cur"}))


def _difference(name: str, asked: Bisimulation, before: int) -> Function:
    row = ("own", Const(before))
    body: list[Stmt] = [
        CallKernel("r", IMAGE, (("cur", x.ZERO), ("own", x.ZERO)), (Const(RECORD_WORDS), x.ZERO, x.ZERO, x.ZERO)),
        *_failed("r"),
        Let("image", x.load("own", x.ONE)),
    ]
    for index in range(len(asked.of_states)):
        body += [
            *_asked("here", asked_kernel(1, index), ("cur", x.ZERO)),
            *_asked("there", asked_kernel(1, index), row),
            If(x.negate(x.eq(Var("here"), Var("there"))), (Return(x.ONE),)),
        ]
    body += [*_side(("cur", x.ZERO), 0), *_side(row, _ANSWERS)]
    apart: Expr = x.negate(x.eq(_answer(_SUM), _answer(_ANSWERS + _SUM)))
    apart = x.either(apart, x.either(_answer(_TOLD_APART), _answer(_ANSWERS + _TOLD_APART)))
    if asked.model.deadlock:
        counts = [x.eq(_answer(offset), x.ZERO) for offset in (_COUNT, _ANSWERS + _COUNT)]
        apart = x.either(apart, x.negate(x.eq(*counts)))
    body.append(Return(apart))
    arrays = (("own", RECORD_WORDS), ("records", RECORDS_WORDS), ("scratch", RECORD_WORDS), ("answers", 2 * _ANSWERS))
    return Function(name, ("cur",), (), tuple(body), frozenset({"cur"}), arrays=arrays)


def _side(row: tuple[str, Expr], offset: int) -> tuple[Stmt, ...]:
    pointers = (row, ("records", x.ZERO), ("scratch", x.ZERO), ("answers", Const(offset)))
    return CallKernel("r", STEPS, pointers, (Var("image"),)), *_failed("r")


def _answer(offset: int) -> Expr:
    return x.load("answers", Const(offset))


def _steps_of_side(asked: Bisimulation, before: int) -> Function:
    """Writes the sum over the steps of `cur`, their number, and whether one of them is a difference by itself.

    `image` is the fingerprint of the image of the state that is compared.
    """
    row = x.add(Var("at"), Const(before))
    head = x.load("records", Var("at"))
    label = Let("label", x.extract(head, 32, 31))
    arguments = (Const(RECORD_WORDS), x.ZERO, x.ZERO, Var("label"))
    body = (
        If(x.negate(x.binary("ult", Var("step"), Var("found"))), (Break("steps"),)),
        label,
        CallKernel("r", IMAGE, (("records", row), ("scratch", x.ZERO)), arguments),
        *_failed("r"),
        Let("fingerprint", x.load("scratch", x.ONE)),
        Let("answered", x.ZERO),
        Let("all_hold", x.ONE),
        *_answers_of_step(asked, row),
        *_constraints(asked, row, before),
        *_counted(asked),
        Let("at", x.add(x.add(Var("at"), x.extract(head, 0, 32)), Const(HEADER))),
        Let("step", x.add(Var("step"), x.ONE)),
    )
    whole = (
        Store("answers", Const(_TOLD_APART), x.ZERO),
        CallKernel("found", LABELLED, (("cur", x.ZERO), ("records", x.ZERO)), (Const(RECORDS_WORDS),)),
        *_failed("found"),
        *((CallKernel("source", "identity", (("cur", x.ZERO),), ()),) if asked.counts_stuttering else ()),
        Let("sum", x.ZERO),
        Let("at", x.ZERO),
        Let("step", x.ZERO),
        Loop("steps", body),
        Store("answers", Const(_SUM), Var("sum")),
        Store("answers", Const(_COUNT), Var("found")),
        Return(x.ZERO),
    )
    return Function(STEPS, ("cur", "records", "scratch", "answers"), ("image",), whole, frozenset({"cur"}))


def _answers_of_step(asked: Bisimulation, row: Expr) -> Iterator[Stmt]:
    """The answers of the predicates over steps."""
    for index in range(len(asked.of_steps)):
        call = CallKernel("here", asked_kernel(2, index), (("cur", x.ZERO), ("records", row)), ())
        answer: tuple[Stmt, ...] = (call, *_failed("here"))
        if index < asked.checked_of_steps:
            # It holds in a stuttering step, which leaves the hash sum as it is.
            changes = x.negate(x.eq(x.load("cur", x.ZERO), x.load("records", row)))
            answer = (Let("here", x.ONE), If(changes, answer))
        yield from (*answer, *_noted("here"))


def _constraints(asked: Bisimulation, row: Expr, before: int) -> Iterator[Stmt]:
    """The constraints on a successor and on its image, which may not differ."""
    where = asked.of_states.index(asked.constraints[0]) if asked.constraints else 0
    for index in range(where, where + len(asked.constraints)):
        yield from _asked("here", asked_kernel(1, index), ("records", row))
        yield from _asked("there", asked_kernel(1, index), ("scratch", Const(before)))
        yield If(x.negate(x.eq(Var("here"), Var("there"))), (_TELL_APART,))
        yield from _noted("here")


def _counted(asked: Bisimulation) -> Iterator[Stmt]:
    """The term of a step is added, if the comparison is to see it."""
    is_same = x.eq(Var("fingerprint"), Var("image"))
    term = x.mix(x.mix(Var("fingerprint"), x.add(Var("label"), Const(_LABEL_SALT))), Var("answered"))
    added = Let("sum", x.add(Var("sum"), term))
    if asked.counts_stuttering:
        stutters = x.eq(x.load("records", x.add(Var("at"), x.ONE)), Var("source"))
        yield If(x.negate(x.eq(stutters, is_same)), (_TELL_APART,))
        yield added
    else:
        yield If(x.either(x.negate(is_same), x.negate(Var("all_hold"))), (added,))


def _asked(target: str, kernel: str, row: tuple[str, Expr]) -> tuple[Stmt, ...]:
    return CallKernel(target, kernel, (row,), ()), *_failed(target)


def _noted(name: str) -> tuple[Stmt, ...]:
    """An answer becomes part of the step's term."""
    return (
        Let("answered", x.mix(x.add(Var("answered"), Var(name)), Const(_ANSWER_SALT))),
        Let("all_hold", x.binary("and", Var("all_hold"), Var(name))),
    )


def _failed(name: str) -> tuple[Stmt, ...]:
    """An error is the kernel's answer, and so is -1 where memory does not suffice."""
    return (If(x.binary("slt", Var(name), x.ZERO), (Return(Var(name)),)),)
