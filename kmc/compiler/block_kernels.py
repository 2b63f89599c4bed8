"""Kernels over blocks of rows: they contain the loop over states, so that no caller needs one.

A block is a sequence of rows, with the index where each starts. `expand_block` writes records as `expand` does, and for
each its position, its parent and its choice number. `pick_block` writes the successors named by (parent, choice) pairs
again. `<name>_block` writes the result of the kernel `<name>` for every row. The first two continue at `progress`. They
return DONE or the reason why they stopped: the result of `expand`, or NEED_RECORDS.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, CallKernel, Const, Expr, Function, If, Let, Loop, Return, Stmt, Store, Var
from kmc.invariants.kinds import KINDS, Answer, PropertyKind
from kmc.runtime.blocks import CHOICE_WORDS, NEED_RECORDS, NO_CHOICE, RECORD_HEAD_WORDS, RECORD_LENGTH_BITS

_ALL_WANTED = Const(-1)


def _wanted(kind: PropertyKind) -> tuple[Expr, ...]:
    return (_ALL_WANTED,) if kind.answer is Answer.HOLDING else ()


def block_functions(*, wide: bool = False) -> list[Function]:
    """The kernels over blocks; the module must have the kernels of one row, those of `fingerprint_128` if `wide`."""
    made = [
        _expand_block(),
        _pick_block(),
        *(_step_block(kind.kernel) if kind.states == 2 else _row_block(kind.kernel, *_wanted(kind)) for kind in KINDS),
        # With 128 bits, the second word of the fingerprint is written into the row.
        _row_block("identity", writes=wide),
    ]
    return [_calling(function, "_128") for function in made] if wide else made


def _calling(function: Function, suffix: str) -> Function:
    """The same statements, calling the kernels whose names end with `suffix`."""

    def renamed(statement: Stmt) -> Stmt:
        match statement:
            case CallKernel(_, name):
                return replace(statement, function=name + suffix)
            case Loop(label, body):
                return Loop(label, tuple(map(renamed, body)))
            case If(condition, then, otherwise):
                return If(condition, tuple(map(renamed, then)), tuple(map(renamed, otherwise)))
            case _:
                return statement

    return replace(function, body=tuple(map(renamed, function.body)))


def _resumed(*names: str) -> tuple[Stmt, ...]:
    """Take variables from the words of `progress`."""
    return tuple(Let(name, x.load("progress", Const(word))) for word, name in enumerate(names))


def _stop(answer: Expr, *names: str) -> tuple[Stmt, ...]:
    """Leave variables in `progress`, and answer."""
    return (*(Store("progress", Const(word), Var(name)) for word, name in enumerate(names)), Return(answer))


def _loop(label: str, index: str, end: Expr, *body: Stmt) -> Loop:
    """Run `body` while `index` < `end`; it counts up itself."""
    return Loop(label, (If(x.binary("sle", end, Var(index)), (Break(label),)), *body))


def _counted(index: str) -> Let:
    return Let(index, x.add(Var(index), x.ONE))


def _record_words(pointer: str, position: str) -> Expr:
    """The words of the record at a position, head included."""
    return x.add(x.extract(x.load(pointer, Var(position)), 0, RECORD_LENGTH_BITS), Const(RECORD_HEAD_WORDS))


def _expand_block() -> Function:
    progress = ("row", "used", "count")
    offset = x.binary("mul", Var("count"), Const(CHOICE_WORDS))
    body = (
        *_resumed(*progress),
        _loop(
            "rows",
            "row",
            Var("rows_end"),
            CallKernel(
                "found",
                "expand",
                (("rows", x.load("starts", Var("row"))), ("out", Var("used"))),
                (x.sub(Var("out_words"), Var("used")),),
            ),
            If(x.binary("slt", Var("found"), x.ZERO), _stop(Var("found"), *progress)),
            If(
                x.binary("slt", Var("records_max"), x.add(Var("count"), Var("found"))),
                _stop(Const(NEED_RECORDS), *progress),
            ),
            Let("choice", x.ZERO),
            _loop(
                "records",
                "choice",
                Var("found"),
                Store("choices", offset, Var("used")),
                Store("choices", x.add(offset, Const(1)), Var("row")),
                Store("choices", x.add(offset, Const(2)), Var("choice")),
                Let("used", x.add(Var("used"), _record_words("out", "used"))),
                _counted("count"),
                _counted("choice"),
            ),
            _counted("row"),
        ),
        *_stop(x.ZERO, *progress),
    )
    pointers = ("rows", "starts", "out", "choices", "progress")
    return Function(
        "expand_block", pointers, ("rows_end", "out_words", "records_max"), body, frozenset({"rows", "starts"})
    )


def _pick_block() -> Function:
    """`scratch` holds the records of one row; pairs that follow each other and name one parent cost one expansion."""
    progress = ("pair", "used", "parent", "found")
    fresh = (
        CallKernel(
            "found",
            "expand",
            (("rows", x.load("starts", Var("wanted"))), ("scratch", x.ZERO)),
            (Var("scratch_words"),),
        ),
        If(x.binary("slt", Var("found"), x.ZERO), (Let("parent", Const(-1)), *_stop(Var("found"), *progress))),
        Let("parent", Var("wanted")),
        Let("at", x.ZERO),
        Let("here", x.ZERO),
    )
    words = _record_words("scratch", "at")
    body = (
        *_resumed("pair", "used"),
        Let("parent", Const(-1)),
        Let("found", x.ZERO),
        Let("at", x.ZERO),
        Let("here", x.ZERO),
        _loop(
            "pairs",
            "pair",
            Var("pairs_end"),
            Let("wanted", x.load("parents", Var("pair"))),
            Let("choice", x.load("choices", Var("pair"))),
            If(x.negate(x.eq(Var("wanted"), Var("parent"))), fresh),
            If(
                x.negate(x.binary("ult", Var("choice"), Var("found"))),
                _stop(Const(NO_CHOICE), *progress),
            ),
            If(x.binary("slt", Var("choice"), Var("here")), (Let("at", x.ZERO), Let("here", x.ZERO))),
            _loop("skip", "here", Var("choice"), Let("at", x.add(Var("at"), words)), _counted("here")),
            Let("size", words),
            If(
                x.binary("slt", Var("out_words"), x.add(Var("used"), Var("size"))),
                _stop(Const(NEED_RECORDS), *progress),
            ),
            Let("word", x.ZERO),
            _loop(
                "copy",
                "word",
                Var("size"),
                Store("out", x.add(Var("used"), Var("word")), x.load("scratch", x.add(Var("at"), Var("word")))),
                _counted("word"),
            ),
            Store("places", Var("pair"), Var("used")),
            Let("used", x.add(Var("used"), Var("size"))),
            _counted("pair"),
        ),
        *_stop(x.ZERO, *progress),
    )
    pointers = ("rows", "starts", "parents", "choices", "scratch", "out", "places", "progress")
    readonly = frozenset({"rows", "starts", "parents", "choices"})
    return Function("pick_block", pointers, ("pairs_end", "scratch_words", "out_words"), body, readonly)


def _row_block(name: str, *arguments: Expr, writes: bool = False) -> Function:
    body = (
        Let("row", x.ZERO),
        _loop(
            "rows",
            "row",
            Var("rows_end"),
            CallKernel("answer", name, (("rows", x.load("starts", Var("row"))),), arguments),
            Store("answers", Var("row"), Var("answer")),
            _counted("row"),
        ),
        Return(x.ZERO),
    )
    pointers = ("rows", "starts", "answers")
    readonly = frozenset({"starts"}) if writes else frozenset({"rows", "starts"})
    return Function(f"{name}_block", pointers, ("rows_end",), body, readonly)


def _step_block(name: str) -> Function:
    """Row k is a successor of row `parents[k]` of another block."""
    source = x.load("starts", x.load("parents", Var("row")))
    body = (
        Let("row", x.ZERO),
        _loop(
            "rows",
            "row",
            Var("rows_end"),
            CallKernel("answer", name, (("rows", source), ("next", x.load("next_starts", Var("row")))), ()),
            Store("answers", Var("row"), Var("answer")),
            _counted("row"),
        ),
        Return(x.ZERO),
    )
    readonly = ("rows", "starts", "parents", "next", "next_starts")
    return Function(f"{name}_block", (*readonly, "answers"), ("rows_end",), body, frozenset(readonly))
