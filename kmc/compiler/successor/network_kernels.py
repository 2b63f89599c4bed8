"""Kernels that find and change the entries of one network in a row; called by the kernels of actions.

Each updates the number of entries and the hash sum of the row. It returns 0, or 1 if a capacity or a maximal count
would be exceeded or a required message is missing.
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import (
    LANES,
    Break,
    CallKernel,
    Const,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Loop,
    Return,
    Stmt,
    Store,
    Var,
)
from kmc.runtime.hashing import network_salt
from kmc.runtime.state_layout import NetworkLayout, RowLayout

ROW = "row"
_FEW = LANES // 2
SOURCE = "source"


def network_functions(
    network: int, layout: NetworkLayout, row: RowLayout, capacity: int, count_max: int | None, *, wide: bool = False
) -> list[Function]:
    """find, add, and take (a bag) or discard (a set) of a network."""
    maker = _NetworkKernels(network, layout, row, capacity, count_max, wide)
    removing = maker.take() if count_max is not None else maker.discard()
    return [maker.find(), maker.add(), removing]


class _NetworkKernels:
    def __init__(
        self, network: int, layout: NetworkLayout, row: RowLayout, capacity: int, count_max: int | None, wide: bool
    ) -> None:
        self._number = network
        self._layout = layout
        self._size = Const(row.counts + network)
        self._capacity = capacity
        self._count_max = count_max
        self._wide = wide
        self._names = tuple(f"w{k}" for k in range(layout.words))

    def _address(self, index: Expr) -> Expr:
        return x.add(Var("base"), x.binary("mul", index, Const(self._layout.words)))

    def _load(self, index: Expr, word: int) -> Expr:
        return x.load(ROW, x.add(self._address(index), Const(word)))

    def _term(self, words: tuple[Expr, ...] | None, mix: Callable[[Expr, Expr], Expr]) -> Expr:
        if words is None:
            return x.ZERO
        term: Expr = Const(network_salt(self._number))
        for word in words:
            term = mix(word, term)
        return term

    def _exchange(self, new: tuple[Expr, ...] | None, old: tuple[Expr, ...] | None) -> tuple[Stmt, ...]:
        """Add one entry to the hash sum and subtract another; with fingerprints of 128 bits, in both sums."""

        def bumped(address: Expr, mix: Callable[[Expr, Expr], Expr]) -> Stmt:
            return Store(ROW, address, x.add(x.load(ROW, address), x.sub(self._term(new, mix), self._term(old, mix))))

        first = bumped(x.ZERO, x.mix)
        return (first, bumped(Const(-1), x.second_mix)) if self._wide else (first,)

    def find(self) -> Function:
        """The index of the entry with these words, counts aside, or -1."""
        body = self._find_word() if self._layout.words == 1 else self._find_words()
        return Function(f"find_{self._number}", (ROW,), ("base", "size", *self._names), body, frozenset({ROW}))

    def _find_word(self) -> tuple[Stmt, ...]:
        """Compare entries of one word many at a time; for few entries, half the lanes take half the time."""
        mask = Const(x.signed(~((1 << self._layout.count_bits) - 1)))
        hits = x.matches(ROW, x.add(Var("base"), Var("i")), mask, Var("w0"))
        at_once = x.matches(ROW, Var("base"), mask, Var("w0"), _FEW)
        return (
            If(
                x.binary("sle", Var("size"), Const(_FEW)),
                (
                    Let("hits", x.binary("and", at_once, x.lanes_below(Var("size"), _FEW))),
                    If(Var("hits"), (Return(Intrinsic("cttz", (Var("hits"),))),)),
                    Return(Const(-1)),
                ),
            ),
            Let("i", x.ZERO),
            Loop(
                "scan",
                (
                    If(x.binary("sle", Var("size"), Var("i")), (Break("scan"),)),
                    Let("hits", x.binary("and", hits, x.lanes_below(x.sub(Var("size"), Var("i"))))),
                    If(Var("hits"), (Return(x.add(Var("i"), Intrinsic("cttz", (Var("hits"),)))),)),
                    Let("i", x.add(Var("i"), Const(LANES))),
                ),
            ),
            Return(Const(-1)),
        )

    def _find_words(self) -> tuple[Stmt, ...]:
        mask = Const(x.signed(~((1 << self._layout.count_bits) - 1)))
        same: Expr = x.eq(x.binary("and", self._load(Var("i"), 0), mask), Var("w0"))
        for word in range(1, self._layout.words):
            same = x.both(same, x.eq(self._load(Var("i"), word), Var(f"w{word}")))
        return (
            Let("i", x.ZERO),
            Loop(
                "scan",
                (
                    If(x.binary("sle", Var("size"), Var("i")), (Break("scan"),)),
                    If(same, (Return(Var("i")),)),
                    Let("i", x.add(Var("i"), x.ONE)),
                ),
            ),
            Return(Const(-1)),
        )

    def _find(self) -> Stmt:
        size = x.load(ROW, self._size)
        words = tuple(map(Var, self._names))
        return CallKernel("found", f"find_{self._number}", ((ROW, x.ZERO),), (Var("base"), size, *words))

    def _function(self, kind: str, body: tuple[Stmt, ...]) -> Function:
        return Function(f"{kind}_{self._number}", (ROW,), ("base", "index", *self._names), body)

    def _recount(self, step: int) -> tuple[Stmt, ...]:
        old = tuple(self._load(Var("found"), word) for word in range(self._layout.words))
        kept = tuple(Var(f"old{word}") for word in range(self._layout.words))
        new = (x.add(kept[0], Const(step)), *kept[1:])
        return (
            *(Let(name.name, word) for name, word in zip(kept, old, strict=True)),
            Store(ROW, self._address(Var("found")), new[0]),
            *self._exchange(new, kept),
            Return(x.ZERO),
        )

    def _find_there(self) -> tuple[Stmt, ...]:
        """Set `found` to the index of the entry, or -1. The source is searched first: its words are in the cache.

        If entries of the source may have moved (`first` is not their number), a found entry is searched for again.
        """
        size, here = x.load(SOURCE, self._size), Var("here")
        words = tuple(map(Var, self._names))
        mask = Const(x.signed(~((1 << self._layout.count_bits) - 1)))
        same: Expr = x.eq(x.binary("and", self._load(Var("i"), 0), mask), Var("w0"))
        for word in range(1, self._layout.words):
            same = x.both(same, x.eq(self._load(Var("i"), word), Var(f"w{word}")))
        scan = Loop(
            "scan",
            (
                If(x.binary("sle", x.load(ROW, self._size), Var("i")), (Break("scan"),)),
                If(same, (Let("found", Var("i")), Break("scan"))),
                Let("i", x.add(Var("i"), x.ONE)),
            ),
        )
        there = If(x.eq(Var("first"), size), (), (self._find(),))
        return (
            CallKernel("found", f"find_{self._number}", ((SOURCE, x.ZERO),), (here, size, *words)),
            If(x.binary("slt", Var("found"), x.ZERO), (Let("i", Var("first")), scan), (there,)),
        )

    def add(self) -> Function:
        """One more delivery in a bag; membership in a set.

        Entries before `first` were in the source; those from `first` on may be missing there.
        """
        there: tuple[Stmt, ...] = (Return(x.ZERO),)
        if self._count_max is not None:
            count = x.extract(self._load(Var("found"), 0), 0, self._layout.count_bits)
            full = If(x.binary("sle", Const(self._count_max), count), (Return(x.ONE),))
            there = (full, *self._recount(1))
        size = Var("size")
        first = x.add(Var("w0"), Const(1 if self._count_max is not None else 0))
        entry = (first, *(Var(name) for name in self._names[1:]))
        body = (
            *self._find_there(),
            If(x.binary("sle", x.ZERO, Var("found")), there),
            Let("size", x.load(ROW, self._size)),
            If(x.binary("sle", Const(self._capacity), size), (Return(x.ONE),)),
            *(Store(ROW, x.add(self._address(size), Const(k)), word) for k, word in enumerate(entry)),
            Store(ROW, self._size, x.add(size, x.ONE)),
            *self._exchange(entry, None),
            Return(x.ZERO),
        )
        parameters = ("base", "here", "first", *self._names)
        return Function(f"add_{self._number}", (ROW, SOURCE), parameters, body, frozenset({SOURCE}))

    def take(self) -> Function:
        """One delivery less; the entry stays, with count 0."""
        known = If(x.binary("sle", x.ZERO, Var("index")), (Let("found", Var("index")),), (self._find(),))
        count = x.extract(self._load(Var("found"), 0), 0, self._layout.count_bits)
        body = (
            known,
            If(x.binary("slt", Var("found"), x.ZERO), (Return(x.ONE),)),
            If(x.eq(count, x.ZERO), (Return(x.ONE),)),
            *self._recount(-1),
        )
        return self._function("take", body)

    def discard(self) -> Function:
        """Remove the entry if it is there; the last one moves to its place."""
        known = If(x.binary("sle", x.ZERO, Var("index")), (Let("found", Var("index")),), (self._find(),))
        last = x.sub(x.load(ROW, self._size), x.ONE)
        words = range(self._layout.words)
        body = (
            known,
            If(x.binary("slt", Var("found"), x.ZERO), (Return(x.ZERO),)),
            *self._exchange(None, tuple(map(Var, self._names))),
            Let("last", last),
            *(Let(f"m{k}", self._load(Var("last"), k)) for k in words),
            *(Store(ROW, x.add(self._address(Var("found")), Const(k)), Var(f"m{k}")) for k in words),
            Store(ROW, self._size, Var("last")),
            Return(x.ZERO),
        )
        return self._function("discard", body)
