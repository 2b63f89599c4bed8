"""Kernels that give a member of a permuted type its signature: a word that moves with the member under permutation.

`own_k(row, member, ...)` reads the member's own data: its items of maps keyed by the type, and how the other fields of
the fixed part mention it. `fixed_k(row, member)` reads only those bits of its items that no permutation changes, which
needs a tenth of the time. `seen_k(row, member)` reads the data of others about it: the items and the messages that
refer to it. All are sums of hashes of projections (`kmc.compiler.symmetry.project`), so members with equal signatures
look alike but may still differ. Words are hashed whole, so the position of a field and the kind of a message count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Function, Let, Return, Var
from kmc.compiler.symmetry.member_change import mentions, part_words
from kmc.compiler.symmetry.project import SIGNATURE_SALT, Distinguished, digest, projected, refers_to, unmoved_bits
from kmc.compiler.values.code import Code
from kmc.compiler.values.packing import Words, array_of, combine, keep_words
from kmc.lang.types import IdentType, MapType, RecordMeta, RecordType, Type
from kmc.runtime.hashing import network_salt
from kmc.runtime.state_layout import WORD, NetworkLayout, Place, RowLayout, layout_of, record_layout

ROW = "row"
_MEMBER = "member"


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a permutation: the classes, and the fields of the state that count."""

    state_class: RecordMeta
    row: RowLayout
    classes: tuple[Any, ...]
    dropped: frozenset[str]

    def fixed_fields(self) -> list[tuple[Type, Place]]:
        """The fields of the fixed part that count, with their types and places."""
        return [
            (self.state_class.fields[name], place)
            for name, place in self.row.fixed.fields.items()
            if name not in self.dropped
        ]

    def networks(self) -> list[tuple[int, NetworkLayout]]:
        """The networks that count, by number."""
        return [(index, layout) for index, (name, layout) in enumerate(self.row.networks) if name not in self.dropped]


def is_keyed_by(declared: Type, classes: tuple[Any, ...]) -> bool:
    """Whether a type is a map whose keys are identifiers of one of the classes."""
    return isinstance(declared, MapType) and isinstance(declared.key, IdentType) and declared.key.cls in classes


def field_words(declared: Type, place: Place) -> Words:
    """The words of a field of the fixed part."""
    layout = layout_of(declared)
    if layout.narrow:
        return (x.extract(x.load(ROW, Const(1 + place.word)), place.bit, layout.bits),)
    return tuple(x.load(ROW, Const(1 + place.word + k)) for k in range(layout.words))


def each_entry(
    code: Code, subject: Subject, body: Callable[[int, NetworkLayout, Expr, Words], object], *, all_networks: bool
) -> None:
    """Emit a loop over the entries of each network; `body(number, layout, address, words)` emits one round."""
    base: Expr = Const(subject.row.entries)
    counted = {network for network, _ in subject.networks()}
    for network, (_, layout) in enumerate(subject.row.networks):
        size = code.keep(x.load(ROW, Const(subject.row.counts + network)), "size")

        def one(index: Expr, network: int = network, layout: NetworkLayout = layout, base: Expr = base) -> None:
            address = code.keep(x.add(base, x.binary("mul", index, Const(layout.words))), "at")
            words = tuple(code.keep(x.load(ROW, x.add(address, Const(k)))) for k in range(layout.words))
            body(network, layout, address, words)

        if all_networks or network in counted:
            code.count_up(x.ZERO, size, one)
        base = code.keep(x.add(base, x.binary("mul", size, Const(layout.words))), "base")


def changed_entry(
    code: Code, entry: Words, layout: NetworkLayout, classes: Distinguished, change: Callable[[Words, Type], Words]
) -> Words:
    """An entry with the fields of its message changed, where its shape mentions one of the classes."""
    names = [code.fresh("entry") for _ in entry]
    code.emit(*(Let(name, word) for name, word in zip(names, entry, strict=True)))

    def rewrite(declared: RecordType, payload: Words) -> None:
        changed = _with_payload(entry, layout, declared, change(payload, declared))
        code.emit(*(Let(name, word) for name, word in zip(names, changed, strict=True)))

    _by_shape(code, entry, layout, classes, rewrite)
    return tuple(Var(name) for name in names)


def _by_shape(
    code: Code,
    entry: Words,
    layout: NetworkLayout,
    classes: Mapping[Any, object],
    body: Callable[[RecordType, Words], object],
) -> None:
    """Emit a case for each message type that can hold members of the classes; `body(type, payload)` emits its code."""
    tag = code.keep(x.extract(entry[0], layout.count_bits, layout.tag_bits), "tag")
    for index, declared in enumerate(map(RecordType, layout.shapes)):
        if mentions(declared, classes):
            payload = part_words(entry, layout.payload, declared)
            code.branch(x.eq(tag, Const(index)), code.capture(partial(body, declared, payload)))


def _with_payload(entry: Words, layout: NetworkLayout, declared: RecordType, payload: Words) -> Words:
    """An entry with another payload of the same message type; its count and tag stay."""
    head_bits = layout.count_bits + layout.tag_bits
    head = (x.extract(entry[0], 0, head_bits),)
    pieces = [(Place(0, 0), head_bits, head), (layout.payload, layout_of(declared).bits, payload)]
    return combine(layout.words, pieces)


def entry_term(entry: Words, network: int, base: int = 0) -> Expr:
    """The hash of an entry. Its words are chained, so exchanging parts of two entries changes the sum."""
    term = x.mix(entry[0], Const(base + network_salt(network)))
    for word in entry[1:]:
        term = x.mix(word, term)
    return term


_ORDERING_BITS = 32
"""The bits of a signature of several words that are not hashed."""

_MANY_ITEMS = 3
"""Of maps keyed by a class: with so many, their bits that no permutation changes are compared before the others."""


class Signatures:
    """The signature kernels of one class; the parameters of `own` are the signatures of the classes before it."""

    def __init__(self, subject: Subject, index: int, prefix: str) -> None:
        self._subject = subject
        self._cls = subject.classes[index]
        self._earlier = subject.classes[:index]
        self._distinguished: Distinguished = {
            cls: Var(_MEMBER) if cls is self._cls else None for cls in subject.classes
        }
        self.own_name, self.seen_name = f"{prefix}_own_{index}", f"{prefix}_seen_{index}"
        self.fixed_name = f"{prefix}_fixed_{index}"
        self.weights = tuple(f"w{k}_{m}" for k, cls in enumerate(self._earlier) for m in range(len(cls.members)))

    def own(self) -> Function:
        """The signature from the member's own data."""
        code = Code(self.own_name)
        parts: list[tuple[int, Words]] = []
        for declared, place in self._subject.fixed_fields():
            if not mentions(declared, {self._cls: None}):
                continue
            if is_keyed_by(declared, (self._cls,)):
                assert isinstance(declared, MapType)
                parts.extend(self._item(code, declared, place, Var(_MEMBER)))
            elif is_keyed_by(declared, self._subject.classes):
                assert isinstance(declared, MapType)
                parts.append((WORD, (self._weighted(code, declared, place),)))
            else:
                words = keep_words(code, field_words(declared, place))
                parts.extend(_parts(declared, projected(code, words, declared, self._distinguished)))
        code.emit(Return(_signature(code, parts)))
        return Function(self.own_name, (ROW,), (_MEMBER, *self.weights), code.statements(), frozenset({ROW}))

    def _items(self) -> list[tuple[MapType, Place, tuple[int, ...]]]:
        """The maps keyed by the class, and the bits of their items that no permutation changes, if there are any."""
        classes: Distinguished = dict.fromkeys(self._subject.classes)
        items = []
        for declared, place in self._subject.fixed_fields():
            if is_keyed_by(declared, (self._cls,)) and getattr(declared, "total", False):
                assert isinstance(declared, MapType)
                items.append((declared, place, unmoved_bits(declared.value, classes)))
        return [(declared, place, masks) for declared, place, masks in items if any(masks)]

    def has_fixed(self) -> bool:
        """Whether members have so much data that it pays to compare first the bits that no permutation changes."""
        items = self._items()
        return len(items) >= _MANY_ITEMS or any(len(masks) > 1 for _, _, masks in items)

    def fixed(self) -> Function:
        """The signature from the bits of the member's own data that no permutation changes."""
        code = Code(self.fixed_name)
        parts: list[tuple[int, Words]] = [
            (mask.bit_length(), (x.binary("and", word, Const(x.signed(mask))),))
            for declared, place, masks in self._items()
            for word, mask in zip(item_at(declared, place, Var(_MEMBER)), masks, strict=True)
            if mask
        ]
        code.emit(Return(_signature(code, parts)))
        return Function(self.fixed_name, (ROW,), (_MEMBER,), code.statements(), frozenset({ROW}))

    def has_seen(self) -> bool:
        """Whether others can hold data about a member."""
        maps = [kind for kind, _ in self._subject.fixed_fields() if is_keyed_by(kind, (self._cls,))]
        if any(isinstance(kind, MapType) and mentions(kind.value, {self._cls: None}) for kind in maps):
            return True
        return any(
            mentions(RecordType(shape), {self._cls: None})
            for _, layout in self._subject.networks()
            for shape in layout.shapes
        )

    def seen(self) -> Function:
        """The signature from the data of others about the member."""
        code = Code(self.seen_name)
        code.emit(Let("total", x.ZERO))
        for position, (declared, place) in enumerate(self._subject.fixed_fields()):
            if is_keyed_by(declared, (self._cls,)):
                assert isinstance(declared, MapType)
                if mentions(declared.value, {self._cls: None}):
                    self._of_others(code, declared, place, 1 + position)
        each_entry(code, self._subject, lambda *entry: self._message(code, *entry), all_networks=False)
        code.emit(Return(Var("total")))
        return Function(self.seen_name, (ROW,), (_MEMBER,), code.statements(), frozenset({ROW}))

    def _message(self, code: Code, network: int, layout: NetworkLayout, _: Expr, entry: Words) -> None:
        """Add the term of a message, projected. Most messages refer to two members only, so those that do not refer to
        this one are left out where that is cheap to decide.
        """

        def add_if_relevant(declared: RecordType, payload: Words) -> None:
            def add() -> None:
                changed = _with_payload(
                    entry, layout, declared, projected(code, payload, declared, self._distinguished)
                )
                term = entry_term(keep_words(code, changed), network, SIGNATURE_SALT)
                code.emit(Let("total", x.add(Var("total"), term)))

            code.branch(self._refers(payload, declared), code.capture(add))

        _by_shape(code, entry, layout, {self._cls: None}, add_if_relevant)

    def _refers(self, words: Words, declared: Type) -> Expr:
        """Whether a value refers to the member; 1 where that is not cheap to decide."""
        refers = refers_to(words, declared, self._cls, Var(_MEMBER), self._distinguished)
        return x.ONE if refers is None else refers

    def _item(self, code: Code, declared: MapType, place: Place, member: Expr) -> list[tuple[int, Words]]:
        """The item of a member in a map keyed by the class, or 0; in a partial map, first whether there is one."""
        words = keep_words(code, item_at(declared, place, member))
        item = projected(code, words, declared.value, self._distinguished)
        if declared.total:
            return _parts(declared.value, item)
        there = code.keep(x.extract(_head(declared, place), member, 1), "there")
        return [(1, (there,)), *_parts(declared.value, tuple(x.select(there, word, x.ZERO) for word in item))]

    def _projected_parts(self, code: Code, words: Words, declared: Type) -> Words:
        """The parts of an item that mention the class, projected, and packed into few words."""
        if not isinstance(declared, RecordType) or len(declared.cls.shapes) > 1:
            return projected(code, words, declared, self._distinguished)
        cls = declared.cls.shapes[0]
        places = record_layout(cls).fields
        narrow: list[tuple[int, Words]] = []
        projections: list[Expr] = []
        for name, kind in cls.fields.items():
            if mentions(kind, {self._cls: None}):
                part = projected(code, part_words(words, places[name], kind), kind, self._distinguished)
                layout = layout_of(kind)
                if layout.narrow:
                    narrow.append((layout.bits, part))
                else:
                    projections.extend(part)
        return (*_packed(narrow), *projections)

    def _weighted(self, code: Code, declared: MapType, place: Place) -> Expr:
        """Digest the items of a map keyed by another permuted class that mention the member, salted by the key's
        signature.
        """
        assert isinstance(declared.key, IdentType)
        owner = declared.key.cls
        total: Expr = x.ZERO
        for key in range(len(owner.members)):
            words = keep_words(code, item_at(declared, place, Const(key)))
            term = digest(code, self._projected_parts(code, words, declared.value))
            if owner in self._earlier:
                term = x.mix(term, Var(f"w{self._earlier.index(owner)}_{key}"))
            else:
                term = x.mix(term, Const(place.word))
            if not declared.total:
                term = x.select(x.extract(_head(declared, place), key, 1), term, x.ZERO)
            total = code.keep(x.add(total, term), "sum")
        return total

    def _of_others(self, code: Code, declared: MapType, place: Place, salt: int) -> None:
        """Add the data about the member in the items of all other members."""

        def one(other: Expr) -> None:
            words = keep_words(code, item_at(declared, place, other))
            counts = x.negate(x.eq(other, Var(_MEMBER)))
            if not declared.total:
                counts = x.both(counts, x.extract(_head(declared, place), other, 1))

            def add() -> None:
                term = x.mix(digest(code, self._projected_parts(code, words, declared.value)), Const(salt))
                code.emit(Let("total", x.add(Var("total"), term)))

            code.branch(x.both(counts, self._refers(words, declared.value)), code.capture(add))

        code.count_up(x.ZERO, Const(len(self._cls.members)), one)


def _parts(declared: Type, words: Words) -> list[tuple[int, Words]]:
    """The words of a projected value, each with the number of its bits."""
    layout = layout_of(declared)
    return [(layout.bits, words)] if layout.narrow else [(WORD, (word,)) for word in words]


def _signature(code: Code, parts: list[tuple[int, Words]]) -> Expr:
    """One word for the parts; 0 for none.

    Its high bits are bits of the first part, not a hash. So a step that changes other parts leaves the members in their
    order, and its successor is canonical too.
    """
    terms = keep_words(code, _packed(parts))
    if not terms:
        return x.ZERO
    if len(terms) == 1:
        return terms[0]
    hashed = x.binary("lshr", digest(code, terms), Const(_ORDERING_BITS))
    return x.binary("or", x.place_at(terms[0], WORD - _ORDERING_BITS), hashed)


def _packed(parts: list[tuple[int, Words]]) -> Words:
    """Concatenate narrow values, each with its number of bits, into words; none crosses the end of a word."""
    pieces: list[tuple[Place, int, Words]] = []
    word = bit = 0
    for bits, part in parts:
        if bit + bits > WORD:
            word, bit = word + 1, 0
        pieces.append((Place(word, bit), bits, part))
        bit += bits
    return combine(word + 1, pieces) if pieces else ()


def keys_in_use(subject: Subject, cls: Any) -> Expr:
    """The mask of the members of a spawned class that are in use."""
    declared = subject.state_class.fields[cls.started]
    assert isinstance(declared, MapType)
    return _head(declared, subject.row.fixed.fields[cls.started])


def _head(declared: MapType, place: Place) -> Expr:
    """The mask of the keys of a partial map."""
    array = array_of(declared)
    bit = place.bit if array.layout.narrow else 0
    return x.extract(x.load(ROW, Const(1 + place.word)), bit, array.head_bits)


def item_at(declared: MapType, place: Place, key: Expr) -> Words:
    """The words of the item under a key."""
    array = array_of(declared)
    bits = array.element.bits
    if array.layout.narrow:
        at = x.add(Const(place.bit + array.head_bits), x.binary("mul", key, Const(bits)))
        return (x.extract(x.load(ROW, Const(1 + place.word)), at, bits),)
    first = Const(1 + place.word + array.head_words)
    if not array.element.narrow:
        start = x.add(first, x.binary("mul", key, Const(array.element.words)))
        return tuple(x.load(ROW, x.add(start, Const(k))) for k in range(array.element.words))
    word = x.load(ROW, x.add(first, x.binary("udiv", key, Const(array.per_word))))
    return (x.extract(word, x.binary("mul", x.binary("urem", key, Const(array.per_word)), Const(bits)), bits),)
