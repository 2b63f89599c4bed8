"""Networks as they are in the state: the layout of their entries, looking a message up, iterating over messages.

A `Net` may carry changes that the step makes; this module ignores them (see `pending_networks`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import LANES, Break, CallKernel, Const, Expr, If, Intrinsic, Let, Matches, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.values.packing import Words, alternatives, combine, is_none, pack, unwrap
from kmc.compiler.values.value import Messages, Net, Num, Packed, Rec, Received, Stored, Value
from kmc.lang.types import RecordType, Type, UnionType
from kmc.runtime.state_layout import WORD, NetworkLayout, Place, RowLayout, exact, record_layout, shape_type


def row_of(low: Lowering) -> RowLayout:
    """The layout of the state that is being read."""
    assert low.row is not None
    return low.row


def layout_at(low: Lowering, network: int) -> NetworkLayout:
    """The layout of a network."""
    return row_of(low).networks[network][1]


def size_word(low: Lowering, net: Net | Messages) -> Expr:
    """The number of entries of the network."""
    return x.load(net.pointer, Const(row_of(low).counts + net.network))


def message_words(low: Lowering, value: Value, network: int, node: Origin) -> Words:
    """The entry of a message, with count 0."""
    layout = layout_at(low, network)
    if isinstance(value, Received) and value.network == network:
        return _without_count(layout, entry_words(low, value, layout))
    value = unwrap(low.code, value.value if isinstance(value, Received) else value, node)
    declared = value.type if isinstance(value, Rec | Packed | Stored) else None
    if isinstance(value, Packed | Stored) and _has_shapes(declared):
        return _words_of_any(low, value, network, node)
    if not isinstance(declared, RecordType) or len(declared.cls.shapes) != 1:
        low.code.refuse(node, "this value as a message")
    cls = declared.cls.shapes[0]
    if exact(cls) not in layout.shapes:
        low.code.refuse(node, f"{cls.__name__} in this network")
    tag = (Const(layout.shapes.index(exact(cls)) << layout.count_bits),)
    pieces = [
        (Place(0, 0), layout.count_bits + layout.tag_bits, tag),
        (layout.payload, record_layout(cls).layout.bits, pack(low.code, value, shape_type(cls), node)),
    ]
    return combine(layout.words, pieces)


def _has_shapes(declared: Type | None) -> bool:
    """Whether a type leaves open which shape a message has."""
    return isinstance(declared, UnionType) or (isinstance(declared, RecordType) and len(declared.cls.shapes) != 1)


def _words_of_any(low: Lowering, value: Packed | Stored, network: int, node: Origin) -> Words:
    """The entry of a message that has one of several shapes."""
    names = [low.code.fresh("any") for _ in range(layout_at(low, network).words)]
    low.code.emit(*(Let(name, x.ZERO) for name in names))
    low.code.check(x.negate(is_none(value)), node)
    for here, item in alternatives(low.code, value):
        if not is_message(low, item, network):
            low.code.check(x.negate(here), node)
            continue

        def convert(item: Value = item) -> None:
            words = message_words(low, item, network, node)
            low.code.emit(*(Let(name, word) for name, word in zip(names, words, strict=True)))

        low.code.branch(here, low.code.capture(convert))
    return tuple(Var(name) for name in names)


def is_message(low: Lowering, value: Value, network: int) -> bool:
    """Return whether a value may be a message of a network."""
    value = value.value if isinstance(value, Received) else value
    declared = value.type if isinstance(value, Rec | Packed | Stored) else None
    if isinstance(declared, UnionType):
        kinds = [kind for kind in declared.alternatives if isinstance(kind, RecordType)]
        return any(exact(shape) in layout_at(low, network).shapes for kind in kinds for shape in kind.cls.shapes)
    shapes = declared.cls.shapes if isinstance(declared, RecordType) else ()
    return any(exact(shape) in layout_at(low, network).shapes for shape in shapes)


def may_be_foreign(low: Lowering, value: Value, network: int) -> bool:
    """Return whether a value of a record type, or of several, may be None or of a shape that a network never holds."""
    value = value.value if isinstance(value, Received) else value
    declared = value.type if isinstance(value, Rec | Packed | Stored) else None
    held = layout_at(low, network).shapes
    match declared:
        case RecordType():
            return any(exact(shape) not in held for shape in declared.cls.shapes)
        case UnionType():
            return declared.optional or any(
                not isinstance(kind, RecordType) or any(exact(shape) not in held for shape in kind.cls.shapes)
                for kind in declared.alternatives
            )
    return False


def payload_value(layout: NetworkLayout, entry: Words, shape: Any) -> Packed:
    """The message that an entry is, known to have this shape."""
    declared, bits = shape_type(shape), record_layout(shape).layout.bits
    if bits == 0:  # one message only, whose place may be behind the last word
        return Packed(declared, (x.ZERO,))
    if bits <= WORD:
        place = layout.payload
        return Packed(declared, (x.extract(entry[place.word], place.bit, bits),))
    return Packed(declared, entry[1 : 1 + record_layout(shape).layout.words])


def entry_words(low: Lowering, received: Received, layout: NetworkLayout) -> Words:
    """The words of a message that was found in a network, its count included."""
    first = address_of(low, received.value.pointer, received.network, received.index)
    return tuple(x.load(received.value.pointer, x.add(first, Const(k))) for k in range(layout.words))


def _without_count(layout: NetworkLayout, entry: Words) -> Words:
    mask = Const(x.signed(~((1 << layout.count_bits) - 1)))
    return (x.binary("and", entry[0], mask), *entry[1:])


def address_of(low: Lowering, pointer: str, network: int, index: Expr) -> Expr:
    """The index of the word where entry `index` of a network begins."""
    words = layout_at(low, network).words
    return x.add(low.bases[pointer][network], x.binary("mul", index, Const(words)))


def find(low: Lowering, net: Net, words: Words) -> Expr:
    """The index of an entry in the network as it is in the state, or -1."""
    target = low.code.fresh("at")
    base = low.bases[net.pointer][net.network]
    low.code.emit(
        CallKernel(target, f"find_{net.network}", ((net.pointer, x.ZERO),), (base, size_word(low, net), *words))
    )
    return Var(target)


def among(low: Lowering, whole: Messages, message: Value, node: Origin) -> Expr:
    """1 if a message is among those of some shapes of a network."""
    if message_shape(message) not in whole.shapes:
        return x.ZERO
    words = message_words(low, message, whole.network, node)
    return x.binary("sle", x.ZERO, find(low, Net(whole.network, whole.pointer), words))


def message_shape(message: Value) -> Any:
    """The class of a message whose shape is known."""
    assert isinstance(message, Received)
    assert isinstance(message.value.type, RecordType)
    return message.value.type.cls.shapes[0]


def each_in_state(
    low: Lowering, whole: Messages | Net, shapes: tuple[object, ...], body: Callable[[Value], object]
) -> None:
    """Iterate over the messages of some shapes in the network as it is in the state."""
    network, pointer = whole.network, whole.pointer
    layout = layout_at(low, network)

    def one(index: Expr) -> None:
        first = low.code.keep(x.load(pointer, address_of(low, pointer, network, index)), "entry")
        for shape in shapes:
            draft = low.code.capture(lambda shape=shape: body(received(low, pointer, network, index, shape)))  # type: ignore[misc]  # bound now
            low.code.branch(has_shape(layout, first, shape), draft)

    low.code.count_up(x.ZERO, low.code.keep(size_word(low, whole), "size"), one)


def each_deliverable(low: Lowering, network: int, body: Callable[[Expr], object]) -> None:
    """Run through the indices of the messages of the current state that can be delivered: in a bag, count not 0."""
    layout, base = layout_at(low, network), low.bases["cur"][network]
    size = low.code.keep(size_word(low, Net(network, "cur")), "size")
    if not layout.count_bits:
        low.code.count_up(x.ZERO, size, body, "index")
    elif layout.words == 1:
        none = x.matches("cur", base, x.low_mask(layout.count_bits), x.ZERO)
        each_lane(low.code, size, lambda start: x.binary("xor", _at_lane(none, start), Const(-1)), body)
    else:

        def one(index: Expr) -> None:
            first = x.load("cur", address_of(low, "cur", network, index))
            alive = x.negate(x.eq(count_at(layout, first), x.ZERO))
            low.code.branch(alive, low.code.capture(lambda: body(index)))

        low.code.count_up(x.ZERO, size, one, "index")


def _at_lane(matches: Expr, start: Expr) -> Expr:
    """The same comparison of the words `start` words further on."""
    assert isinstance(matches, Matches)
    return replace(matches, index=x.add(matches.index, start))


def each_lane(code: Code, size: Expr, hits: Callable[[Expr], Expr], body: Callable[[Expr], object]) -> None:
    """Run through the indices below `size` of entries of one word that `hits` finds.

    `hits(start)` is a mask of the entries from `start` on, as many as `matches` compares.
    """
    start, mask, outer, inner = (code.fresh(stem) for stem in ("start", "mask", "loop", "loop"))
    code.emit(Let(start, x.ZERO))

    def some() -> None:
        code.emit(If(x.binary("sle", size, Var(start)), (Break(outer),)))
        code.emit(Let(mask, x.binary("and", hits(Var(start)), x.lanes_below(x.sub(size, Var(start))))))
        code.loop(inner, code.capture(one))
        code.emit(Let(start, x.add(Var(start), Const(LANES))))

    def one() -> None:
        code.emit(If(x.eq(Var(mask), x.ZERO), (Break(inner),)))
        index = code.keep(x.add(Var(start), Intrinsic("cttz", (Var(mask),))), "index")
        code.emit(Let(mask, x.binary("and", Var(mask), x.sub(Var(mask), x.ONE))))
        body(index)

    code.loop(outer, code.capture(some))


def has_shape(layout: NetworkLayout, first: Expr, shape: Any) -> Expr:
    """1 if the entry whose first word is `first` has this shape."""
    tag = x.extract(first, layout.count_bits, layout.tag_bits)
    return x.eq(tag, Const(layout.shapes.index(exact(shape))))


def count_at(layout: NetworkLayout, first: Expr) -> Expr:
    """The delivery count of the entry whose first word is `first`."""
    return x.extract(first, 0, layout.count_bits)


def received(low: Lowering, pointer: str, network: int, index: Expr, shape: object) -> Received:
    """The message at `index`, known to have this shape."""
    layout = layout_at(low, network)
    place = layout.payload
    word = x.add(address_of(low, pointer, network, index), Const(place.word))
    return Received(Stored(shape_type(shape), pointer, word, place.bit), network, index)


def is_own(value: Value, net: Net) -> bool:
    """Whether a message was found in this very network."""
    return isinstance(value, Received) and (value.network, value.value.pointer) == (net.network, net.pointer)


def count_in_state(low: Lowering, net: Net, value: Value, node: Origin) -> Num:
    """The number of times that a message can be delivered in the state, whatever the changes; 0 if it is not in the
    bag.
    """
    layout = layout_at(low, net.network)
    top = (1 << layout.count_bits) - 1
    if is_own(value, net):
        assert isinstance(value, Received)
        return Num(count_at(layout, entry_words(low, value, layout)[0]), 0, top)
    words = tuple(low.code.keep(word) for word in message_words(low, value, net.network, node))
    index = low.code.keep(find(low, net, words))
    there = x.binary("sle", x.ZERO, index)
    address = address_of(low, net.pointer, net.network, x.select(there, index, x.ZERO))
    return Num(x.select(there, count_at(layout, x.load(net.pointer, address)), x.ZERO), 0, top)
