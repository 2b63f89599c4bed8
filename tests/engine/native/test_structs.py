"""Structs of words: one declaration, and Python and native loops see the same words through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import add, inlined, load_shared
from kmc.engine.native.memory import Memory
from kmc.engine.native.structs import Struct, at, embedded
from kmc.engine.native.translate import llvm_text
from kmc.engine.native.words import Address, Slot


class Pair(Struct):
    """Two words."""

    first: int
    second: int


class Outer(Struct, words=16):
    """Words, an address of a pair, and a pair inside."""

    head: int
    link: Pair
    inside: Pair = embedded()
    after: int
    far: int = at(11)


class Nest(Struct):
    """A struct in a struct in a struct."""

    head: int
    outer: Outer = embedded()
    tail: int


@pytest.fixture
def memory() -> Memory:
    """Words that hold their own numbers."""
    memory = Memory(32)
    memory.array[:] = range(32)
    return memory


@inlined
def second_of(pair: Pair) -> int:
    """A word of a pair."""
    return pair.second


@inlined
def next_pair(pair: Pair) -> Pair:
    """The pair behind a pair."""
    return Pair(pair + Pair.BYTES)


def read_all(address: int) -> int:
    """All words of an outer struct, as digits of a number with base 100."""
    outer = Outer(address)
    found = outer.head
    found = found * 100 + outer.inside.first
    found = found * 100 + outer.inside.second
    found = found * 100 + outer.after
    return found * 100 + outer.far


def write_all(address: int) -> int:
    """Write 50, 51, ... to the words of an outer struct, in their order."""
    outer = Outer(address)
    outer.head = 50
    outer.link = Pair(51)
    outer.inside.first = 52
    outer.inside.second = 53
    outer.after = 54
    outer.far += 44
    return 0


def follow(outer: Outer) -> int:
    """A word that an address inside a struct leads to, and the one two words behind it."""
    pair = outer.link
    return second_of(pair) * 100 + second_of(next_pair(pair)) if pair != 0 else -1


def read_nest(nest: Nest) -> int:
    """Words of a struct in a struct, and of one inside that."""
    return nest.outer.after * 100 + nest.outer.inside.second


def address_of_inside(nest: Nest) -> int:
    """Where a struct inside another begins."""
    return nest.outer.inside + 0


def sizes(outer: Outer) -> int:
    """What the class says of itself."""
    return Outer.WORDS * 1_000_000 + Outer.BYTES * 1_000 + Outer.far * 10 + Pair.second


def atomically(outer: Outer) -> int:
    """Offsets as intrinsics take them."""
    return add(outer, Outer.after, 7) * 100 + load_shared(outer, Outer.after)


class Kinds(Struct):
    """Words of two kinds."""

    place: Address
    slot: Slot


@inlined
def slot_behind(slot: Slot) -> Slot:
    """The next slot."""
    return Slot(slot + 1)


def steps_to_a_slot(kinds: Kinds) -> int:
    """A call of a kind of words gives the word."""
    kinds.slot = slot_behind(kinds.slot)
    return Address(kinds.place + 2) * 100 + kinds.slot


def misses_a_field(outer: Outer) -> int:
    """There is no such field."""
    return outer.nothing  # type: ignore[attr-defined, no-any-return]  # that is the point


def confuses_structs(outer: Outer) -> int:
    """An outer struct is not a pair."""
    return second_of(outer)  # type: ignore[arg-type]  # that is the point


def stores_a_word_as_an_address(outer: Outer) -> int:
    """A word is not the address of a pair until that is said."""
    outer.link = outer.head  # type: ignore[assignment]  # that is the point
    return 0


def test_fields_follow_one_another() -> None:
    assert [field.offset for field in Outer.FIELDS.values()] == [0, 1, 2, 4, 11]
    assert (Pair.WORDS, Pair.BYTES, Outer.WORDS, Nest.WORDS) == (2, 16, 16, 18)


def test_the_class_gives_offsets_and_an_instance_gives_words(memory: Memory) -> None:
    outer = Outer.of(memory)
    assert (Outer.head, Outer.after, Outer.far) == (0, 4, 11)
    assert (outer.head, outer.inside.first, outer.inside.second, outer.after, outer.far) == (0, 2, 3, 4, 11)


def test_python_writes_where_the_class_says(memory: Memory) -> None:
    outer = Outer.of(memory)
    word: Any = np.int64(-2)
    outer.after, outer.inside.second, outer.far = -1, word, True
    assert memory.array[[Outer.after, Outer.inside + Pair.second, Outer.far]].tolist() == [-1, -2, 1]


@pytest.mark.parametrize("word", [1 << 63, -(1 << 63) - 1])
def test_a_number_that_does_not_fit_a_word_is_refused(memory: Memory, word: int) -> None:
    with pytest.raises(OverflowError, match="after"):
        Outer.of(memory).after = word


def test_loops_read_what_python_wrote(memory: Memory) -> None:
    assert NativeLoop(read_all)(Outer.of(memory)) == 203_0411


def test_python_reads_what_loops_wrote(memory: Memory) -> None:
    outer = Outer.of(memory)
    assert NativeLoop(write_all)(outer) == 0
    assert (outer.head, outer.link, outer.inside.first, outer.inside.second) == (50, 51, 52, 53)
    assert (outer.after, outer.far) == (54, 55)
    assert memory.array[:16].tolist() == [50, 51, 52, 53, 54, *range(5, 11), 55, *range(12, 16)]


def test_kinds_of_words_are_words(memory: Memory) -> None:
    kinds = Kinds.of(memory)
    kinds.place, kinds.slot = Address(40), Slot(7)
    assert (NativeLoop(steps_to_a_slot)(kinds), kinds.slot) == (4208, 8)


def test_an_address_in_a_struct_leads_to_another(memory: Memory) -> None:
    outer = Outer.of(memory)
    outer.link = Pair(memory.address + 20 * 8)
    assert outer.link.second == 21
    assert NativeLoop(follow)(outer) == 2123
    outer.link = Pair(0)
    assert NativeLoop(follow)(outer) == -1


def test_embedded_structs_nest(memory: Memory) -> None:
    nest = Nest.of(memory)
    assert NativeLoop(read_nest)(nest) == nest.outer.after * 100 + nest.outer.inside.second == 5 * 100 + 4
    assert NativeLoop(address_of_inside)(nest) == nest.outer.inside == memory.address + 3 * 8
    assert nest.tail == 17


def test_loops_know_the_sizes_and_offsets_of_a_class(memory: Memory) -> None:
    assert NativeLoop(sizes)(memory.address) == 16_128_111


def test_atomic_words_are_named_by_offset(memory: Memory) -> None:
    assert NativeLoop(atomically)(Outer.of(memory)) == 4 * 100 + 11


def test_a_struct_keeps_its_memory() -> None:
    inside = Nest.of(Memory(32)).outer.inside
    others = [Memory(32) for _ in range(8)]
    inside.second = 9
    assert inside.second == 9
    assert all(int(other.array.any()) == 0 for other in others)


def test_a_memory_too_small_for_a_struct_is_refused() -> None:
    with pytest.raises(AssertionError, match="too few for Outer"):
        Outer.of(Memory(15))


def test_an_embedded_struct_is_not_assigned(memory: Memory) -> None:
    with pytest.raises(AttributeError, match="inside another"):
        Outer.of(memory).inside = Pair(0)


def assigns_an_embedded_struct(outer: Outer) -> int:
    """Its fields are assigned, and not the struct."""
    outer.inside = outer.link
    return 0


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (misses_a_field, "Outer has no field nothing"),
        (confuses_structs, "Outer is not a Pair"),
        (stores_a_word_as_an_address, "a word is not a Pair"),
        (assigns_an_embedded_struct, "inside is a struct inside another: set its fields"),
    ],
)
def test_a_mistaken_loop_is_not_translated(loop: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        llvm_text(loop, "loop")


def declared(fields: dict[str, Any], words: int | None = None) -> type[Struct]:
    """A struct of these fields, each a type or a type and what stands behind the equals sign."""
    split = {name: field if isinstance(field, tuple) else (field,) for name, field in fields.items()}
    body = {name: value for name, (_, *values) in split.items() for value in values}
    annotations = {name: kind for name, (kind, *_) in split.items()}
    return type("Declared", (Struct,), {"__annotations__": annotations, **body}, words=words)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"first": (int, at(1)), "second": (int, at(1))}, None),
        ({"first": (int, at(2)), "second": (int, at(1))}, None),
        ({"pair": (Pair, embedded()), "second": (int, at(1))}, None),
        ({"first": int, "second": int}, 1),
        ({"first": (int, at(4))}, 4),
        ({"pair": (Pair, embedded())}, 1),
    ],
    ids=["same place", "before the last", "inside a struct", "too many", "too far", "too large"],
)
def test_fields_that_share_a_word_or_lie_outside_are_refused(fields: dict[str, Any], words: int | None) -> None:
    with pytest.raises(TypeError, match=r"overlaps|take"):
        declared(fields, words)


@pytest.mark.parametrize(
    "fields", [{"first": float}, {"first": (int, 5)}, {"first": (int, embedded())}, {"of": int}, {"real": int}]
)
def test_what_is_not_a_field_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="Declared"):
        declared(fields)


def test_fields_that_fit_exactly_are_taken() -> None:
    struct = declared({"first": int, "pair": (Pair, embedded()), "last": (int, at(7))}, 8)
    assert {name: field.offset for name, field in struct.FIELDS.items()} == {"first": 0, "pair": 1, "last": 7}
