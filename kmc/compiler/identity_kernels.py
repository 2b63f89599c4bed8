"""The kernel `identity(row)`: the fingerprint that decides whether a state is known, from its row and hash sum.

Without reductions that is the hash sum, mixed once more. A view leaves out the bits of dropped fields. Under symmetry
it is the least fingerprint of all permutations of the state, tried one by one. `rank(row)` is the fingerprint without
the view, which tells states of one view apart.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

from kmc.compiler import exprs as x
from kmc.compiler.code import Code
from kmc.compiler.ir import CallKernel, Const, Expr, Function, Let, Return, Var
from kmc.compiler.parts import Words, combine
from kmc.compiler.permuting import MEMBER_BITS, MEMBERS_MAX, Tables, image, mentions, part_words, permuted
from kmc.errors import SpecError
from kmc.invariants.declaration import View
from kmc.kernels.hashing import network_salt
from kmc.kernels.layout import NetworkLayout, Place, RowLayout, layout_of, record_layout
from kmc.lang.records import RecordMeta
from kmc.lang.types import IdentType, MapType, RecordType
from kmc.spec.model import Model

ROW = "row"


def identity_functions(model: Model, row: RowLayout) -> list[Function]:
    """`identity`, and `rank` if the model has a view, with what they call."""
    classes = tuple(dict.fromkeys(cls for group in model.symmetry for cls in group.classes))
    if any(len(cls.members) > MEMBERS_MAX for cls in classes):
        raise SpecError("KMC822", f"symmetry of more than {MEMBERS_MAX} members is not compiled")
    maker = _Maker(model.spec.state_class, row, classes)
    functions = maker.fingerprint("identity", model.view)
    if model.view is not None:
        functions += maker.fingerprint("rank", None)
    return functions


def _tables_of(classes: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """All permutations of all classes together, one table each; the identity first."""
    per_class = [
        [sum(to << (MEMBER_BITS * k) for k, to in enumerate(order)) for order in permutations(range(len(cls.members)))]
        for cls in classes
    ]
    return list(product(*per_class))


class _Maker:
    def __init__(self, state_class: RecordMeta, row: RowLayout, classes: tuple[Any, ...]) -> None:
        self._state_class = state_class
        self._row = row
        self._classes = classes

    def fingerprint(self, name: str, view: View | None) -> list[Function]:
        """The kernel `name`: the fingerprint under a view, up to symmetry."""
        dropped = view.dropped if view is not None else frozenset()
        code = Code(name)
        if not self._classes:
            total = self._kept_sum(code, dropped)
            code.emit(Return(_final(code, total)))
            return [Function(name, (ROW,), (), code.statements(), frozenset({ROW}))]
        inner = f"{name}_permuted"
        code.emit(Let("least", Const(-1)))
        for tables in _tables_of(self._classes):
            arguments = tuple(Const(x.signed(table)) for table in tables)
            code.emit(CallKernel("found", inner, ((ROW, x.ZERO),), arguments))
            code.emit(Let("least", x.select(x.binary("ult", Var("found"), Var("least")), Var("found"), Var("least"))))
        # The least of many hashes is small; mixed again, it spreads over the table as any other fingerprint does.
        code.emit(Return(_final(code, Var("least"))))
        return [
            self._permuted(inner, dropped),
            Function(name, (ROW,), (), code.statements(), frozenset({ROW})),
        ]

    def _kept_sum(self, code: Code, dropped: frozenset[str]) -> Expr:
        """The hash sum without the dropped fields, from the sum of the row."""
        total: Expr = x.load(ROW, x.ZERO)
        masks = self._dropped_masks(dropped)
        for word, mask in masks.items():
            whole = x.load(ROW, Const(1 + word))
            kept = x.binary("and", whole, Const(x.signed(~mask)))
            position = Const(1 + word)
            total = x.add(total, x.sub(x.mix(kept, position), x.mix(whole, position)))
        total = code.keep(total, "total")
        for number, base, layout in self._networks(code):
            if self._row.networks[number][0] in dropped:
                total = self._sum_entries(code, total, number, base, layout, sign=-1)
        return total

    def _dropped_masks(self, dropped: frozenset[str]) -> dict[int, int]:
        masks: dict[int, int] = {}
        for field, place in self._row.fixed.fields.items():
            if field in dropped:
                layout = layout_of(self._state_class.fields[field])
                for offset in range(layout.words):
                    bits = layout.bits if layout.narrow else 64
                    masks[place.word + offset] = masks.get(place.word + offset, 0) | ((1 << bits) - 1) << place.bit
        return masks

    def _networks(self, code: Code) -> list[tuple[int, Expr, NetworkLayout]]:
        base: Expr = Const(self._row.entries)
        found = []
        for number, (_, layout) in enumerate(self._row.networks):
            found.append((number, base, layout))
            size = x.load(ROW, Const(self._row.counts + number))
            base = code.keep(x.add(base, x.binary("mul", size, Const(layout.words))), "base")
        return found

    def _sum_entries(
        self, code: Code, total: Expr, number: int, base: Expr, layout: NetworkLayout, *, sign: int = 1,
        tables: Tables | None = None,
    ) -> Expr:  # fmt: skip
        """`total` with the terms of all entries of a network added, or taken away."""
        name = code.fresh("sum")
        code.emit(Let(name, total))

        def one(index: Expr) -> None:
            address = x.add(base, x.binary("mul", index, Const(layout.words)))
            entry = tuple(code.keep(x.load(ROW, x.add(address, Const(k)))) for k in range(layout.words))
            if tables is not None:
                entry = _permuted_entry(code, entry, layout, tables)
            term = x.mix(entry[0], Const(network_salt(number)))
            for word in entry[1:]:
                term = x.mix(word, term)
            code.emit(Let(name, x.add(Var(name), term) if sign > 0 else x.sub(Var(name), term)))

        code.count_up(x.ZERO, x.load(ROW, Const(self._row.counts + number)), one)
        return Var(name)

    def _permuted(self, name: str, dropped: frozenset[str]) -> Function:
        """The fingerprint of the state permuted by the given tables."""
        code = Code(name)
        tables: dict[Any, Expr] = {cls: Var(f"table{k}") for k, cls in enumerate(self._classes)}
        total = self._fixed_sum(code, dropped, tables)
        for number, base, layout in self._networks(code):
            if self._row.networks[number][0] not in dropped:
                total = self._sum_entries(code, total, number, base, layout, tables=tables)
        code.emit(Return(_final(code, total)))
        parameters = tuple(f"table{k}" for k in range(len(self._classes)))
        return Function(name, (ROW,), parameters, code.statements(), frozenset({ROW}))

    def _fixed_sum(self, code: Code, dropped: frozenset[str], tables: Tables) -> Expr:
        """The terms of the permuted fixed part."""
        total: Expr = x.ZERO
        narrow: list[tuple[Place, int, Words]] = []
        wide_words: set[int] = set()
        for field, place in self._row.fixed.fields.items():
            declared = self._state_class.fields[field]
            layout = layout_of(declared)
            words = tuple(x.load(ROW, Const(1 + place.word + k)) for k in range(layout.words))
            if layout.narrow:
                value: Words = (x.extract(words[0], place.bit, layout.bits),)
                kept = (x.ZERO,) if field in dropped else permuted(value, declared, tables)
                narrow.append((place, layout.bits, kept))
                continue
            wide_words.update(range(place.word, place.word + layout.words))
            if field in dropped:
                words = (x.ZERO,) * layout.words
                total = self._terms(total, words, Const(1 + place.word))
            elif self._is_server_map(declared, tables):
                total = self._map_terms(code, total, words, declared, place.word, tables)
            else:
                total = self._terms(total, permuted(words, declared, tables), Const(1 + place.word))
        fixed = combine(self._row.fixed_words, narrow)
        for word in range(self._row.fixed_words):
            if word not in wide_words:
                total = x.add(total, x.mix(fixed[word], Const(1 + word)))
        return code.keep(total, "total")

    def _is_server_map(self, declared: object, tables: Tables) -> bool:
        """A wide total map whose elements begin at words and whose keys are permuted: each element just moves."""
        if not isinstance(declared, MapType) or not declared.total or not isinstance(declared.key, IdentType):
            return False
        return declared.key.cls in tables and _stride(declared) is not None

    def _map_terms(self, code: Code, total: Expr, words: Words, declared: object, first: int, tables: Tables) -> Expr:
        assert isinstance(declared, MapType)
        assert isinstance(declared.key, IdentType)
        stride = _stride(declared)
        assert stride is not None
        count = len(declared.key.cls.members)
        for key in range(count):
            place = Place(key * stride, 0)
            item = permuted(part_words(words, place, declared.value), declared.value, tables)
            position = x.add(
                x.binary("mul", image(Const(key), tables[declared.key.cls]), Const(stride)), Const(1 + first)
            )
            total = code.keep(self._terms(total, item, position), "total")
        for word in range(count * stride, len(words)):
            total = x.add(total, x.mix(words[word], Const(1 + first + word)))
        return total

    def _terms(self, total: Expr, words: Words, position: Expr) -> Expr:
        for offset, word in enumerate(words):
            total = x.add(total, x.mix(word, x.add(position, Const(offset))))
        return total


def _stride(declared: MapType) -> int | None:
    """Words from one element of a wide map to the next, or None if elements share words."""
    element = layout_of(declared.value)
    if not element.narrow:
        return element.words
    return 1 if element.bits > 32 else None


def _permuted_entry(code: Code, entry: Words, layout: NetworkLayout, tables: Tables) -> Words:
    names = [code.fresh("entry") for _ in entry]
    code.emit(*(Let(name, word) for name, word in zip(names, entry, strict=True)))
    head_bits = layout.count_bits + layout.tag_bits
    tag = x.extract(entry[0], layout.count_bits, layout.tag_bits)
    for number, shape in enumerate(layout.shapes):
        declared = RecordType(shape)  # type: ignore[arg-type]  # a record class
        if not mentions(declared, tables):
            continue

        def rewrite(shape: RecordMeta = shape, declared: RecordType = declared) -> None:
            payload = part_words(entry, layout.payload, declared)
            inner = permuted(payload, declared, tables)
            head = (x.extract(entry[0], 0, head_bits),)
            bits = record_layout(shape).layout.bits
            changed = combine(layout.words, [(Place(0, 0), head_bits, head), (layout.payload, bits, inner)])
            code.emit(*(Let(name, word) for name, word in zip(names, changed, strict=True)))

        code.branch(x.eq(tag, Const(number)), code.capture(rewrite))
    return tuple(Var(name) for name in names)


def _final(code: Code, total: Expr) -> Expr:
    fingerprint = code.keep(x.mix(total, x.ZERO), "fp")
    return x.select(x.eq(fingerprint, x.ZERO), x.ONE, fingerprint)
