"""Writing a successor: copy the row, write the words that change, apply the changes of networks, update the hash sum.

Every write subtracts the term of the old word from the hash sum and adds the term of the new one, so the row is not
read again to hash it. Two writes that may go to the same word are done one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import CallKernel, Const, Copy, Expr, If, Let, Return, Stmt, Store, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import each
from kmc.compiler.lowering.map_literals import each_entry
from kmc.compiler.lowering.network_entries import message_words
from kmc.compiler.lowering.network_filter import is_filter, write_kept
from kmc.compiler.lowering.network_operations import whole_network
from kmc.compiler.successor.images import HEADER
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.values.packing import Words, array_of, field, lift, pack, words
from kmc.compiler.values.value import (
    Each,
    MapItems,
    MapLiteral,
    MapUpdate,
    Net,
    NetOp,
    Num,
    Packed,
    Rec,
    Received,
    Stored,
    Value,
)
from kmc.lang.types import MapType, RecordMeta, RecordType, Type
from kmc.runtime.hashing import WIDE_WORDS, network_salt
from kmc.runtime.state_layout import RowLayout, is_scalar, layout_of, record_layout

SLACK = 4096
"""The number of words by which a successor may be longer than its source; checked before it is written."""

Mixer = Callable[[Expr, Expr], Expr]


def state_value(row: RowLayout, state_class: RecordMeta, pointer: str) -> Rec:
    """The state at `pointer` as a record whose fields lie in memory."""
    fields: dict[str, Value] = {}
    for name, place in row.fixed.fields.items():
        stored = Stored(state_class.fields[name], pointer, Const(1 + place.word), place.bit)
        fields[name] = _lifted(stored)
    for network, (name, _) in enumerate(row.networks):
        fields[name] = Net(network, pointer)
    return Rec(RecordType(state_class), None, fields)


def chained(entry: Words, salt: Expr, mix: Mixer) -> Expr:
    """The term of a network's entry."""
    for word in entry:
        salt = mix(word, salt)
    return salt


def _lifted(stored: Stored) -> Value:
    return lift(stored.type, words(stored)) if is_scalar(stored.type) else stored


class Writer:
    """Emits the successor of one yield; `action` is the number that its record gets, `wide` requests 128 bits."""

    def __init__(self, low: Lowering, row: RowLayout, state: Rec, action: Expr, *, wide: bool = False) -> None:
        self._low = low
        self._code: Code = low.code
        self._row = row
        self._state = state
        self._action = action
        self._before = WIDE_WORDS if wide else 0
        self._at: Expr = x.ZERO
        self._first: Expr = x.ZERO
        self._added = False
        self._pending: dict[Expr, list[tuple[Expr | int, int, Expr]]] = {}
        self._mixers = [x.mix, x.second_mix][: 1 + wide]
        self._flushed = False
        self._totals: list[Expr] = []

    def write(self, value: Value, node: Origin, *, is_whole: bool = True) -> None:
        """Append the successor `value` to the output; if it is not `is_whole`, without its fingerprint."""
        if isinstance(value, Rec | Packed) and value.type == self._state.type:
            value = self._whole(value, node)
        else:
            self._code.refuse(node, "a yield of a value that is not a state", "write yield st.set(...)")
        # Compute what a change needs before anything is written: a failed check leaves no partial successor.
        room = x.add(Var("pos"), x.add(Var("length"), Const(SLACK)))
        self._code.emit(If(x.binary("slt", Var("limit"), room), (Return(Const(-1)),)))
        self._at = self._code.keep(x.add(Var("pos"), Const(HEADER + self._before)), "row")
        if self._before:
            self._code.emit(Store("out", x.add(self._at, Const(-1)), x.load("cur", Const(-1))))
        nets = [
            whole_network(self._low, value.fields[name], index, "cur", node)
            for index, (name, _) in enumerate(self._row.networks)
        ]
        # The entries of the first network follow the fixed part, so both are copied together.
        together = self._extent(0) if nets and not is_filter(self._low, nets[0]) else x.ZERO
        self._copy(x.ZERO, x.ZERO, x.add(Const(self._row.entries), together))
        self._totals = [x.load("cur", Const(-index)) for index in range(len(self._mixers))]
        self._fixed(value.fields, node)
        end = self._networks(nets, node)
        self._finish(end, is_whole=is_whole)

    def _whole(self, value: Rec | Packed, node: Origin) -> Rec:
        """A state with all its fields; one that branches gave is packed, or differs from one that is."""
        if isinstance(value, Rec) and value.base is None:
            return value
        declared = self._state.type
        return Rec(declared, None, {name: field(self._code, value, name, node) for name in declared.cls.fields})

    def _fixed(self, fields: Mapping[str, Value], node: Origin) -> None:
        declared = self._state.type.cls.fields
        for name, place in self._row.fixed.fields.items():
            if fields[name] is not self._state.fields[name]:
                self._put(Const(1 + place.word), place.bit, declared[name], fields[name], node)
        self._flush()

    def _put(self, word: Expr, bit: Expr | int, declared: Type, value: Value, node: Origin) -> None:
        value = value.value if isinstance(value, Received) else value
        if isinstance(value, Stored) and (value.pointer, value.word, value.bit) == ("cur", word, bit):
            return
        if isinstance(value, MapUpdate) and isinstance(declared, MapType):
            self._put_update(word, bit, declared, value, node)
            return
        base = value.base if isinstance(value, Rec) else None
        here = isinstance(base, Stored) and (base.pointer, base.word, base.bit) == ("cur", word, bit)
        if isinstance(value, Rec) and here and isinstance(bit, int):
            places = record_layout(value.type.cls).fields
            for name, inner in value.fields.items():
                place = places[name]
                at = x.add(word, Const(place.word))
                self._put(at, bit + place.bit, value.type.cls.fields[name], inner, node)
            return
        self._put_words(word, bit, declared, value, node)

    def _put_words(self, word: Expr, bit: Expr | int, declared: Type, value: Value, node: Origin) -> None:
        layout = layout_of(declared)
        for offset, piece in enumerate(pack(self._code, value, declared, node)):
            bits = layout.bits if layout.narrow else 64
            if bits:
                self._pending.setdefault(x.add(word, Const(offset)), []).append((bit, bits, piece))

    def _put_update(self, word: Expr, bit: Expr | int, declared: MapType, value: MapUpdate, node: Origin) -> None:
        base = value.base
        self._put(word, bit, declared, base, node)
        if not isinstance(base, Stored) or (base.pointer, base.word, base.bit) != ("cur", word, bit):
            # The entry may lie in words that are pending.
            self._flush()
        array = array_of(declared)
        bits = array.element.bits
        if array.layout.narrow:
            inner = x.add(x.binary("mul", value.key, Const(bits)), Const(array.head_bits))
            total = x.add(inner, Const(bit) if isinstance(bit, int) else bit)
            self._put(word, total.value if isinstance(total, Const) else total, declared.value, value.value, node)
            return
        first = x.add(word, Const(array.head_words))
        if array.element.narrow and array.per_word > 1:
            at = x.add(first, x.binary("udiv", value.key, Const(array.per_word)))
            inner = x.binary("mul", x.binary("urem", value.key, Const(array.per_word)), Const(bits))
            self._put(at, inner.value if isinstance(inner, Const) else inner, declared.value, value.value, node)
            return
        stride = 1 if array.element.narrow else array.element.words
        self._put(x.add(first, x.binary("mul", value.key, Const(stride))), 0, declared.value, value.value, node)

    def _flush(self) -> None:
        """Write the pending words, each once."""
        for word, changes in self._pending.items():
            address = x.add(self._at, word)
            # A word that was not changed yet is the source's, which is in the cache.
            old = self._code.keep(x.load("out", address) if self._flushed else x.load("cur", word), "old")
            new: Expr = old
            for bit, bits, part in changes:
                new = x.replace(new, bit, bits, part)
            new = self._code.keep(new, "new")
            self._code.emit(Store("out", address, new))
            terms = [x.sub(mix(new, word), mix(old, word)) for mix in self._mixers]
            self._bump(terms)
        self._flushed = self._flushed or bool(self._pending)
        self._pending = {}

    def _bump(self, terms: list[Expr]) -> None:
        """Add to the hash sums, which are not in the row yet."""
        pairs = zip(self._totals, terms, strict=True)
        self._totals = [self._code.keep(x.add(total, term), "total") for total, term in pairs]

    def _settle(self) -> None:
        """Write the hash sums into the row; later changes update them there."""
        for index, total in enumerate(self._totals):
            self._code.emit(Store("out", x.add(self._at, Const(-index)), total))
        self._totals = []

    def _networks(self, nets: list[Net], node: Origin) -> Expr:
        here: Expr = Const(self._row.entries)
        there: Expr = here
        for network, net in enumerate(nets):
            layout = self._row.networks[network][1]
            words = self._code.keep(self._extent(network), "words")
            changes = net.changes
            self._first, self._added = x.load("cur", Const(self._row.counts + network)), False
            if is_filter(self._low, net):
                self._filter(net, there)
                self._note(network, changes[0])
                changes = changes[1:]
            elif network:
                self._copy(here, there, words)
            if changes:
                self._settle()
            for change in changes:
                self._change(network, there, change, node)
                self._note(network, change)
            here = self._code.keep(x.add(here, words), "here")
            size = Const(self._row.counts + network)
            after = x.load("out", x.add(self._at, size)) if net.changes else x.load("cur", size)
            there = self._code.keep(x.add(there, x.binary("mul", after, Const(layout.words))), "there")
        self._settle()
        return there

    def _filter(self, net: Net, there: Expr) -> None:
        """Write the entries of a network that stay, and subtract the others from the hash sums."""
        salt = Const(network_salt(net.network))
        terms = [partial(chained, salt=salt, mix=mix) for mix in self._mixers]
        kept, gone = write_kept(self._low, net, x.add(self._at, there), terms)
        self._code.emit(Store("out", x.add(self._at, Const(self._row.counts + net.network)), kept))
        if not self._totals:
            self._totals = [x.load("out", x.add(self._at, Const(-index))) for index in range(len(self._mixers))]
        self._bump([x.sub(x.ZERO, term) for term in gone])

    def _extent(self, network: int) -> Expr:
        """The words of the source's entries of a network; 0 for a network that is not there."""
        if network >= len(self._row.networks):
            return x.ZERO
        count = x.load("cur", Const(self._row.counts + network))
        return x.binary("mul", count, Const(self._row.networks[network][1].words))

    def _copy(self, here: Expr, there: Expr, words: Expr) -> None:
        """Copy words of the source. Up to a vector of words behind them is overwritten; they are written later."""
        self._code.emit(Copy("out", x.add(self._at, there), "cur", here, words))

    def _note(self, network: int, change: NetOp | Each) -> None:
        """Track `_first`: entries before it were in the source. It is 0 once added entries may have moved."""
        if change.kind == "add":
            self._added = True
        elif change.kind in ("discard", "clear"):
            size = x.load("out", x.add(self._at, Const(self._row.counts + network)))
            self._first = x.ZERO if self._added else self._code.keep(size, "first")

    def _change(self, network: int, base: Expr, change: NetOp | Each, node: Origin) -> None:
        if isinstance(change, Each):
            draft = self._code.capture(lambda: self._change_each(network, base, change, node))
            self._code.branch(change.guard, draft)
            return
        if change.kind == "clear":
            self._code.branch(change.guard, self._code.capture(lambda: self._clear(network, base)))
            return
        draft = self._code.capture(lambda: self._apply(network, base, change, node))
        self._code.branch(change.guard, draft)

    def _change_each(self, network: int, base: Expr, change: Each, node: Origin) -> None:
        def one(item: Value, kind: str = change.kind) -> None:
            words = message_words(self._low, item, network, node)
            self._change(network, base, NetOp(kind, words, x.ONE), node)

        def with_count(message: Value, count: Value) -> None:
            if not isinstance(count, Num):
                self._code.refuse(node, "a count that is not a number")
            self._code.check(x.binary("sle", x.ZERO, count.code), node)
            one(message, "add")
            self._code.branch(x.eq(count.code, x.ZERO), self._code.capture(lambda: one(message, "take")))
            self._code.count_up(x.ONE, count.code, lambda index: one(message, "add"))

        if isinstance(change.messages, MapItems | MapLiteral):
            each_entry(self._low, change.messages, with_count)
        else:
            each(self._low, change.messages, one, node, once=self._row.networks[network][1].count_bits > 0)

    def _clear(self, network: int, base: Expr) -> None:
        """Take all entries of a network out of the row."""
        layout = self._row.networks[network][1]
        size = x.add(self._at, Const(self._row.counts + network))

        def one(index: Expr) -> None:
            first = x.add(x.add(self._at, base), x.binary("mul", index, Const(layout.words)))
            entry = tuple(x.load("out", x.add(first, Const(word))) for word in range(layout.words))
            for which, mix in enumerate(self._mixers):
                total, term = x.add(self._at, Const(-which)), chained(entry, Const(network_salt(network)), mix)
                self._code.emit(Store("out", total, x.sub(x.load("out", total), term)))

        self._code.count_up(x.ZERO, self._code.keep(x.load("out", size), "size"), one)
        self._code.emit(Store("out", size, x.ZERO))

    def _apply(self, network: int, base: Expr, change: NetOp, node: Origin) -> None:
        target = self._code.fresh("failed")
        pointers: tuple[tuple[str, Expr], ...] = (("out", self._at),)
        arguments: tuple[Expr, ...] = (base, Const(-1) if change.index is None else change.index)
        if change.kind == "add":
            pointers, arguments = (*pointers, ("cur", x.ZERO)), (base, self._low.bases["cur"][network], self._first)
        self._code.emit(CallKernel(target, f"{change.kind}_{network}", pointers, (*arguments, *change.words)))
        self._code.check(x.eq(Var(target), x.ZERO), node)

    def _finish(self, end: Expr, *, is_whole: bool) -> None:
        fingerprint = self._code.fresh("fp")
        self._code.emit(
            CallKernel(fingerprint, "identity", (("out", self._at),), ()) if is_whole else Let(fingerprint, x.ZERO),
            *(self._second_fingerprint() if is_whole else ()),
            Store("out", Var("pos"), x.binary("or", x.add(end, Const(self._before)), x.place_at(self._action, 32))),
            Store("out", x.add(Var("pos"), x.ONE), Var(fingerprint)),
            Let("pos", x.add(self._at, end)),
            Let("count", x.add(Var("count"), x.ONE)),
        )

    def _second_fingerprint(self) -> tuple[Stmt, ...]:
        """The second word of the fingerprint is the first word of the record's row."""
        if not self._before:
            return ()
        second = self._code.fresh("second")
        return (
            CallKernel(second, "identity_second", (("out", self._at),), ()),
            Store("out", x.add(self._at, Const(-2)), Var(second)),
        )
