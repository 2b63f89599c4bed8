"""The kernel `identity(row)`: the fingerprint by which a state is known, from its row and hash sum.

Without reductions it is the hash sum. A view omits the bits of dropped fields. Under symmetry it is that of the
canonical representative (`kmc.compiler.symmetry.canonical`), which is not built: only the hash sum of its words is
computed, and if the state is its own representative, that is the hash sum of the row. `rank(row)` distinguishes the
states of one view, up to symmetry: it is the fingerprint without the view, or, where no permutation changes the dropped
fields of a symmetric model, their hash sum.

`settle(row, fingerprint)` turns a row, in place, into the canonical representative, with a view into the state whose
view is canonical. A search keeps such rows, because most of their successors are canonical too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import CallKernel, Const, Expr, Function, If, Let, Return, Store, Var
from kmc.compiler.symmetry.canonical import MEMBERS_MAX, CanonicalPermutation, firsts, identity_table
from kmc.compiler.symmetry.member_change import MEMBER_BITS, mentions, part_words
from kmc.compiler.symmetry.permute import Tables, image, permuted
from kmc.compiler.symmetry.signatures import (
    ROW,
    Subject,
    changed_entry,
    each_entry,
    entry_term,
    field_words,
    is_keyed_by,
)
from kmc.compiler.values.code import Code
from kmc.compiler.values.packing import Words, array_of, combine, keep_words
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.invariants.properties import View
from kmc.lang.types import IdentType, MapType, Type
from kmc.runtime.state_layout import NetworkLayout, Place, RowLayout, layout_of

WEIGHT_SALT = 1 << 40
"""Added to all salts of the hash that breaks ties between members, so that it differs from the fingerprint's."""


def identity_functions(model: Model, row: RowLayout) -> list[Function]:
    """`identity`; `rank` if the model has a view, else `settle` under symmetry; and the functions that they call."""
    classes = permuted_classes(model)
    if sum(len(cls.members) for cls in classes) > MEMBERS_MAX:
        advice = "permute fewer types: choose another symmetry set"
        raise SpecError("KMC822", f"symmetry of more than {MEMBERS_MAX} members together is not compiled", help=advice)
    viewed = _FingerprintKernels(model, row, classes, model.view)
    functions = viewed.fingerprint("identity")
    if model.view is not None:
        whole = _FingerprintKernels(model, row, classes, None)
        functions += viewed.rank() if viewed.permutes_no_dropped_field() else whole.fingerprint("rank")
    if settles(model):
        functions += viewed.settle("identity")
    return functions


def settles(model: Model) -> bool:
    """Return whether the model has a symmetry, and with it the kernel `settle`."""
    return bool(permuted_classes(model))


def permuted_classes(model: Model) -> tuple[Any, ...]:
    """The classes that a model permutes, keys of maps first: signatures of other classes use theirs."""
    named = dict.fromkeys(cls for group in model.symmetry for cls in group.classes)
    several = [cls for cls in named if len(cls.members) > 1]
    fields = model.spec.state_class.fields.values()
    return tuple(sorted(several, key=lambda cls: not any(is_keyed_by(declared, (cls,)) for declared in fields)))


class _FingerprintKernels:
    """Makes the kernels of one view, or of the whole state."""

    def __init__(self, model: Model, row: RowLayout, classes: tuple[Any, ...], view: View | None) -> None:
        self._state_class = model.spec.state_class
        self._row = row
        self._classes = classes
        self._dropped = view.dropped if view is not None else frozenset[str]()
        self._subject = Subject(self._state_class, row, classes, self._dropped)
        shifts = [MEMBER_BITS * first for first in firsts(classes)]
        self._tables: Tables = {
            cls: x.binary("lshr", Var("table"), Const(shift)) for cls, shift in zip(classes, shifts, strict=True)
        }

    def fingerprint(self, name: str) -> list[Function]:
        """The kernel `name`: the fingerprint, up to symmetry."""
        code = Code(name)
        if not self._classes:
            code.emit(Return(_final(code, self._kept_sum(code))))
            return [Function(name, (ROW,), (), code.statements(), frozenset({ROW}))]
        permutation = CanonicalPermutation(self._subject, name, f"{name}_weight")
        moved = f"{name}_moved"
        code.emit(CallKernel("table", permutation.name, ((ROW, x.ZERO),), ()))
        code.emit(Let("total", x.ZERO))
        stays = x.eq(Var("table"), Const(identity_table(self._classes)))
        own = code.capture(lambda: code.emit(Let("total", self._kept_sum(code))))
        call = CallKernel("found", moved, ((ROW, x.ZERO),), (Var("table"),))
        code.branch(stays, own, [call, Let("total", Var("found"))])
        code.emit(Return(_final(code, Var("total"))))
        return [
            self._moved_sum(f"{name}_weight", WEIGHT_SALT),
            *permutation.functions(),
            self._moved_sum(moved, 0),
            Function(name, (ROW,), (), code.statements(), frozenset({ROW})),
        ]

    def permutes_no_dropped_field(self) -> bool:
        """Return whether the model has a symmetry whose permutations leave the dropped fields as they are."""
        dropped = [self._state_class.fields[name] for name in self._dropped]
        return bool(self._classes) and not any(mentions(kind, dict.fromkeys(self._classes)) for kind in dropped)

    def rank(self) -> list[Function]:
        """The kernel `rank` of dropped fields that no permutation changes: their hash sum."""
        code = Code("rank")
        total: Expr = x.ZERO
        for word, mask in self._dropped_masks().items():
            position = Const(1 + word)
            dropped = x.binary("and", x.load(ROW, position), Const(x.signed(mask)))
            total = x.add(total, x.mix(dropped, position))
        code.emit(Let("gone", total))
        self._each_dropped_entry(code, lambda term: code.emit(Let("gone", x.add(Var("gone"), term))))
        code.emit(Return(Var("gone")))
        return [Function("rank", (ROW,), (), code.statements(), frozenset({ROW}))]

    def settle(self, prefix: str) -> list[Function]:
        """The kernel `settle`: 1 if it changed the row."""
        code = Code("settle")
        code.emit(If(x.eq(_final(code, self._kept_sum(code)), Var("fingerprint")), (Return(x.ZERO),)))
        code.emit(CallKernel("table", f"{prefix}_permutation", ((ROW, x.ZERO),), ()))
        code.emit(If(x.eq(Var("table"), Const(identity_table(self._classes))), (Return(x.ZERO),)))
        total, stores = self._moved_fixed(code, 0, frozenset())
        code.emit(Let("total", total))
        for position, word in stores:
            code.emit(Store(ROW, position, word))

        def entry(network: int, layout: NetworkLayout, address: Expr, words: Words) -> None:
            moved = keep_words(code, self._moved_entry(code, words, layout))
            code.emit(*(Store(ROW, x.add(address, Const(k)), word) for k, word in enumerate(moved)))
            code.emit(Let("total", x.add(Var("total"), entry_term(moved, network))))

        each_entry(code, self._subject, entry, all_networks=True)
        code.emit(Store(ROW, x.ZERO, Var("total")), Return(x.ONE))
        return [Function("settle", (ROW,), ("fingerprint",), code.statements())]

    def _moved_sum(self, name: str, salt: int) -> Function:
        """The hash sum of the fields that count, permuted by a table; `salt` is added to all salts."""
        code = Code(name)
        total, _ = self._moved_fixed(code, salt, self._dropped)
        code.emit(Let("total", total))

        def entry(network: int, layout: NetworkLayout, _: Expr, words: Words) -> None:
            moved = keep_words(code, self._moved_entry(code, words, layout))
            code.emit(Let("total", x.add(Var("total"), entry_term(moved, network, salt))))

        each_entry(code, self._subject, entry, all_networks=False)
        code.emit(Return(Var("total")))
        return Function(name, (ROW,), ("table",), code.statements(), frozenset({ROW}))

    def _moved_entry(self, code: Code, entry: Words, layout: NetworkLayout) -> Words:
        def change(words: Words, declared: Type) -> Words:
            return permuted(code, words, declared, self._tables)

        return changed_entry(code, entry, layout, dict.fromkeys(self._classes), change)

    def _moved_fixed(self, code: Code, salt: int, dropped: frozenset[str]) -> tuple[Expr, list[tuple[Expr, Expr]]]:
        """The terms of the permuted fixed part, with 0 for dropped fields, and its words by their index in the row."""
        stores: list[tuple[Expr, Expr]] = []
        narrow: list[tuple[Place, int, Words]] = []
        for field, place in self._row.fixed.fields.items():
            declared = self._state_class.fields[field]
            layout = layout_of(declared)
            words = keep_words(code, field_words(declared, place))
            if layout.narrow:
                kept = (x.ZERO,) if field in dropped else permuted(code, words, declared, self._tables)
                narrow.append((place, layout.bits, kept))
            elif field in dropped:
                stores += [(Const(1 + place.word + k), x.ZERO) for k in range(layout.words)]
            elif self._moves_whole_words(declared):
                assert isinstance(declared, MapType)
                stores += self._moved_items(code, words, declared, place.word)
            else:
                moved = permuted(code, words, declared, self._tables)
                stores += [(Const(1 + place.word + k), word) for k, word in enumerate(moved)]
        fixed = combine(self._row.fixed_words, narrow)
        wide = self._wide_words()
        stores += [(Const(1 + k), fixed[k]) for k in range(self._row.fixed_words) if k not in wide]
        stores = [(position, code.keep(word)) for position, word in stores]
        total: Expr = x.ZERO
        for position, word in stores:
            total = x.add(total, x.mix(word, x.add(position, Const(salt))))
        return code.keep(total, "fixed"), stores

    def _wide_words(self) -> set[int]:
        """The words of the fixed part that belong to wide fields."""
        indices: set[int] = set()
        for field, place in self._row.fixed.fields.items():
            layout = layout_of(self._state_class.fields[field])
            if not layout.narrow:
                indices.update(range(place.word, place.word + layout.words))
        return indices

    def _moves_whole_words(self, declared: Type) -> bool:
        """Whether a type is a total map keyed by permuted members whose items begin at words: each item just moves."""
        return (
            is_keyed_by(declared, self._classes) and getattr(declared, "total", False) and _stride(declared) is not None
        )

    def _moved_items(self, code: Code, words: Words, declared: MapType, first: int) -> list[tuple[Expr, Expr]]:
        assert isinstance(declared.key, IdentType)
        stride = _stride(declared)
        assert stride is not None
        count = len(declared.key.cls.members)
        stores: list[tuple[Expr, Expr]] = []
        for key in range(count):
            item = permuted(
                code, part_words(words, Place(key * stride, 0), declared.value), declared.value, self._tables
            )
            to = x.binary("mul", image(Const(key), self._tables[declared.key.cls]), Const(stride))
            position = code.keep(x.add(to, Const(1 + first)), "to")
            stores += [(x.add(position, Const(k)), word) for k, word in enumerate(item)]
        stores += [(Const(1 + first + k), words[k]) for k in range(count * stride, len(words))]
        return stores

    def _kept_sum(self, code: Code) -> Expr:
        """The hash sum without the dropped fields, from the sum of the row."""
        total: Expr = x.load(ROW, x.ZERO)
        for word, mask in self._dropped_masks().items():
            whole = x.load(ROW, Const(1 + word))
            kept = x.binary("and", whole, Const(x.signed(~mask)))
            position = Const(1 + word)
            total = x.add(total, x.sub(x.mix(kept, position), x.mix(whole, position)))
        code.emit(Let("kept", total))
        self._each_dropped_entry(code, lambda term: code.emit(Let("kept", x.sub(Var("kept"), term))))
        return Var("kept")

    def _each_dropped_entry(self, code: Code, body: Callable[[Expr], object]) -> None:
        """Emit a loop over the entries of each dropped network; `body(term)` emits one round."""
        gone = Subject(self._state_class, self._row, self._classes, frozenset(self._state_class.fields) - self._dropped)

        def entry(network: int, _: NetworkLayout, __: Expr, words: Words) -> None:
            body(entry_term(words, network))

        if gone.networks():
            each_entry(code, gone, entry, all_networks=False)

    def _dropped_masks(self) -> dict[int, int]:
        masks: dict[int, int] = {}
        for field, place in self._row.fixed.fields.items():
            if field in self._dropped:
                layout = layout_of(self._state_class.fields[field])
                for offset in range(layout.words):
                    bits = layout.bits if layout.narrow else 64
                    masks[place.word + offset] = masks.get(place.word + offset, 0) | ((1 << bits) - 1) << place.bit
        return masks


def _stride(declared: Type) -> int | None:
    """Words from one element of a wide map to the next, or None if elements share words."""
    assert isinstance(declared, MapType)
    array = array_of(declared)
    if array.layout.narrow:
        return None
    if not array.element.narrow:
        return array.element.words
    return 1 if array.per_word == 1 else None


def _final(code: Code, total: Expr) -> Expr:
    total = code.keep(total, "fp")
    return x.select(x.eq(total, x.ZERO), x.ONE, total)
