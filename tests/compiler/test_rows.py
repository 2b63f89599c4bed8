"""Rows: where each part of a state lies, word for word, and that a row holds the whole state and nothing else."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing.values import FetchResponse, Role, Server, VoteRequest, record_class, values
from support.specs.small import model_of

from kmc.engine.layout import record_structs
from kmc.errors import SpecError, SystemFault
from kmc.lang.assumed_range import AssumedRange, assuming
from kmc.lang.maps import map_literal
from kmc.lang.records import Message
from kmc.lang.seqs import seq_literal
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.reference.states.initial import initial_states
from kmc.runtime import blocks, container
from kmc.runtime.blocks import SLACK_WORDS, RowBatch, rows_of_records
from kmc.runtime.codec import decode_row, encode_message, encode_row, hash_sum
from kmc.runtime.hashing import MASK, SECOND, fingerprint, network_salt
from kmc.runtime.mixing import mix
from kmc.runtime.state_layout import (
    WORD,
    Place,
    array_layout,
    bits_for,
    layout_of,
    network_layout,
    record_layout,
    row_layout,
    scalar_count,
)

SPEC = """
Server = constant("Server", IdentSet(), "The servers")

class Role(Enum):
    FOLLOWER, CANDIDATE, LEADER = range(3)

class Point(Record):
    x: Int(0, 4)
    y: Int(-1, 2)

class Hello(Message):
    n: Int(0, 9)
    source: Server
    dest: Server

class Bye(Message):
    source: Server
    dest: Server
    role: Role

class State(Record):
    flag: Bool
    role: Role
    sent: MessageSet[Bye, 5]
    n: Int(-3, 4)
    maybe: Opt[Int(1, 3)]
    some: Set[Server]
    path: Seq[Int(0, 5), 3]
    part: PartialMap[Server, Point]
    at: Opt[Point]
    wide: Map[Int(0, 9), Int(0, 999)]
    bag: MessageBag[Hello | Bye, 5, 2]
    last: Seq[Int(0, 1), 60]

@spec.init
def init():
    yield State(
        flag=True, role=Role.LEADER, n=-1, maybe=3, some={s for s in Server}, path=[5, 0], part={}, at=Point(x=4, y=2),
        wide={k: 100 * k for k in range(0, 10)}, last=[1 for _ in range(0, 60)],
        sent={Bye(source=s, dest=s, role=Role.LEADER) for s in Server},
        bag={Hello(source=s, dest=s, n=9): 2 for s in Server},
    )

@spec.action
def lower(st):
    yield st.set(flag=False)
"""


def test_every_part_of_a_state_lies_at_its_place(tmp_path: Path) -> None:
    (state,) = initial_states(model_of(tmp_path, SPEC, "CONSTANT Server = {s1, s2}"))
    fixed = [
        # flag, role, n + 3, maybe, some; the length of the path and its elements; no keys; a tag and a point.
        1 | 2 << 1 | 2 << 3 | 3 << 6 | 0b11 << 8 | (2 | 5 << 2) << 10 | 0 << 21 | (1 | (4 | 3 << 3) << 1) << 33,
        *(sum(100 * k << 10 * (k - first) for k in range(first, min(first + 6, 10))) for first in (0, 6)),
        # 60 elements and their number take 66 bits: two words, the number in the first.
        60,
        (1 << 60) - 1,
    ]
    byes = [s | s << 1 | 2 << 2 for s in (0, 1)]
    hellos = [2 | 0 << 2 | (s | s << 1 | 9 << 2) << 3 for s in (0, 1)]
    row = encode_row(state)
    assert row[1:] == [*fixed, 2, 2, *byes, *hellos]
    terms = [mix(word, place) for place, word in enumerate(fixed, 1)]
    terms += [mix(word, (1 << 20) + network) for network, entries in enumerate((byes, hellos)) for word in entries]
    assert row[0] == sum(terms) % (1 << 64)
    assert decode_row(row, class_of(state)) == state


def class_of(state: Any) -> RecordMeta:
    """The class of a state."""
    found: object = type(state)
    assert isinstance(found, RecordMeta)
    return found


SCALARS = (BoolType(), IntType(-2, 5), IntType(0, 0), IntType(0, 999), EnumType(Role), IdentType(Server))
scalars = st.sampled_from(SCALARS)
keys = st.sampled_from([*SCALARS[:2], *SCALARS[4:], PairType(SCALARS[5])])


def record_of(kinds: list[Type]) -> Type:
    """A record with fields of these types."""
    return RecordType(record_class({f"f{k}": kind for k, kind in enumerate(kinds)}))


plain = st.lists(st.sampled_from(SCALARS[:4]), max_size=1)
named = st.lists(st.sampled_from([*SCALARS[4:], record_of([SCALARS[1]]), record_of([SCALARS[3]] * 7)]), unique=True)
unions = st.builds(lambda one, more, none: UnionType((*more, *one), none), plain, named, st.booleans()).filter(
    lambda union: len(union.alternatives) + union.optional > 1 and bool(union.alternatives)
)


def compound(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    """Types of parts."""
    fields = st.lists(inner, min_size=1, max_size=4)
    return st.one_of(
        st.builds(SeqType, inner, st.sampled_from([1, 2, 3, 7, 8, 40])),
        st.builds(MapType, keys, inner, st.booleans()),
        fields.map(record_of),
        unions,
        st.builds(SeqType, scalars, st.sampled_from([2, 50])).map(lambda kind: UnionType((kind,), optional=True)),
    )


types = st.recursive(st.one_of(scalars, st.builds(SetType, keys)), compound, max_leaves=5)


def used_bits(declared: Type) -> list[int]:
    """The words of a state of one field of a type, with every bit set that its layout has."""
    layout = layout_of(declared)
    return [(1 << layout.bits) - 1] if layout.narrow else [MASK] * layout.words


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data(), st.lists(types, min_size=1, max_size=4))
def test_a_row_holds_the_whole_state_and_only_that(data: st.DataObject, kinds: list[Type]) -> None:
    cls = record_class({f"f{k}": kind for k, kind in enumerate(kinds)}, name="State")
    first, second = (data.draw(values(RecordType(cls))) for _ in range(2))
    rows = [encode_row(state) for state in (first, second)]
    assert [decode_row(row, cls) for row in rows] == [first, second]
    assert (rows[0] == rows[1]) == (first == second)
    layout = row_layout(cls)
    assert {len(row) for row in rows} == {1 + layout.fixed_words}
    for place, kind in zip(layout.fixed.fields.values(), kinds, strict=True):
        part = layout_of(kind)
        assert place.bit + part.bits <= WORD if part.narrow else place.bit == 0


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(types, min_size=1, max_size=5))
def test_fields_do_not_overlap_and_leave_no_gap_that_one_would_fit(kinds: list[Type]) -> None:
    layout = row_layout(record_class({f"f{k}": kind for k, kind in enumerate(kinds)}, name="State"))
    end = 0
    for place, kind in zip(layout.fixed.fields.values(), kinds, strict=True):
        begin, part = place.word * WORD + place.bit, layout_of(kind)
        assert begin >= end
        fits = part.narrow and end % WORD + part.bits <= WORD
        assert begin == (end if fits or end % WORD == 0 else -(-end // WORD) * WORD)
        end = begin + (part.bits if part.narrow else part.words * WORD)
    assert layout.fixed_words == max(1, -(-end // WORD))


@pytest.mark.parametrize("count", [*range(70), 255, 256, 257])
def test_so_many_bits_tell_values_apart(count: int) -> None:
    assert bits_for(count) == (len(f"{count - 1:b}") if count > 1 else 0)


@pytest.mark.parametrize(
    ("element", "count", "head_bits", "words", "last"),
    [
        (IntType(0, 1), 63, 1, 1, Place(0, 63)),
        (IntType(0, 1), 64, 1, 2, Place(1, 63)),
        (IntType(0, 1), 65, 1, 3, Place(2, 0)),
        (IntType(0, 1), 65, 0, 2, Place(1, 0)),
        (IntType(0, (1 << 32) - 1), 3, 0, 2, Place(1, 0)),
        (IntType(0, 1 << 32), 3, 0, 3, Place(2, 0)),
        (SeqType(IntType(0, 1), 64), 3, 2, 7, Place(5, 0)),
        (SeqType(IntType(0, 1), 64), 3, 0, 6, Place(4, 0)),
        (IntType(0, 0), 3, 2, 1, Place(0, 2)),
    ],
)
def test_elements_lie_behind_each_other(element: Type, count: int, head_bits: int, words: int, last: Place) -> None:
    array = array_layout(element, count, head_bits)
    assert (array.layout.words, array.place(count - 1)) == (words, last)


Small, Word, Long = (record_class({"n": IntType(0, (1 << bits) - 1)}) for bits in (2, 62, 64))


@pytest.mark.parametrize(
    ("alternatives", "bits", "bits_with_none"),
    [
        # Scalars share one number: 4 values, and 5 with None.
        ((IntType(3, 3), EnumType(Role)), 2, 3),
        ((IntType(0, 2), BoolType(), EnumType(Role)), 3, 4),
        ((RecordType(Small),), 2, 3),
        ((RecordType(Small), BoolType()), 3, 4),
        ((RecordType(Word), BoolType()), 63, 64),
        ((RecordType(Word), RecordType(Small), EnumType(Role)), 64, 64),
        # A payload that does not fit beside its tag begins a word of its own.
        ((RecordType(Long), BoolType()), 128, 128),
        ((SeqType(IntType(0, 1), 90), BoolType()), 256, 256),
    ],
)
def test_a_union_is_a_number_or_a_tag_and_its_widest_alternative(
    alternatives: tuple[Type, ...], bits: int, bits_with_none: int
) -> None:
    assert layout_of(UnionType(alternatives, False)).bits == bits
    assert layout_of(UnionType(alternatives, True)).bits == bits_with_none


def test_the_scalars_of_a_union_are_numbered_one_after_another() -> None:
    for none in ([None], []):
        cls = record_class({"f": UnionType((IntType(5, 6), EnumType(Role), BoolType()), bool(none))}, name="State")
        states = [cls(f=value) for value in (*none, 5, 6, *Role.members, False, True)]
        assert [encode_row(state)[1] for state in states] == list(range(len(states)))
        assert [decode_row(encode_row(state), cls) for state in states] == states


@pytest.mark.parametrize(
    ("kind", "full"),
    [
        (SeqType(BoolType(), 64), seq_literal([True] * 64)),
        (MapType(IntType(1, 64), BoolType(), total=False), map_literal((key, True) for key in range(1, 65))),
    ],
)
def test_the_highest_bit_of_a_wide_value_is_part_of_it(kind: Type, full: Any) -> None:
    cls = record_class({"before": BoolType(), "wide": kind, "behind": BoolType()}, name="State")
    state = cls(before=False, wide=full, behind=False)
    assert encode_row(state)[3] == MASK
    assert decode_row(encode_row(state), cls) == state


def message_of(bits: int, base: Any = Message, **options: Any) -> Any:
    """A message class with so many bits besides its ends, which take 4."""
    name = f"n{bits}"
    return record_class({name: IntType(0, (1 << bits) - 1), "to": Server, "by": Server}, base, **options)


@pytest.mark.parametrize(
    ("sizes", "set_words", "bag_words"),
    [
        ([3], 1, 1),
        ([58], 1, 1),
        ([59], 1, 2),
        ([60], 1, 2),
        ([61], 3, 3),
        ([57, 2], 1, 1),
        ([58, 2], 1, 2),
        ([64, 2], 3, 3),
    ],
)
def test_an_entry_of_a_network_is_a_count_a_tag_and_a_message(sizes: list[int], set_words: int, bag_words: int) -> None:
    messages = tuple(RecordType(message_of(bits, source="by", dest="to")) for bits in sizes)
    plain, counted = network_layout(MessageSetType(messages, 9)), network_layout(MessageBagType(messages, 9, 3))
    assert (plain.words, counted.words) == (set_words, bag_words)
    tag_bits = len(sizes) - 1
    assert plain.payload == (Place(0, tag_bits) if set_words == 1 else Place(1, 0))
    assert counted.payload == (Place(0, 2 + tag_bits) if bag_words == 1 else Place(1, 0))


def test_the_words_of_an_entry_are_its_count_its_tag_and_its_message() -> None:
    narrow, wide = (message_of(bits, source="by", dest="to") for bits in (7, 59))
    first, _, last = Server.members
    sent = narrow(n7=100, by=last, to=first)
    bag = network_layout(MessageBagType((RecordType(message_of(1, source="by", dest="to")), RecordType(narrow)), 9, 3))
    assert encode_message(sent, bag, 3) == [3 | 1 << 2 | (2 | 0 << 2 | 100 << 4) << 3]
    bag = network_layout(MessageBagType((RecordType(narrow), RecordType(wide)), 9, 3))
    assert encode_message(wide(n59=1 << 58, by=last, to=first), bag, 2) == [2 | 1 << 2, 2 | 0 << 2 | 1 << 62]


Tall: Any = record_class(
    {"source": Server, "dest": Server, **{f"t{k}": IntType(0, 1023) for k in range(7)}}, Message, "Tall"
)
record_class({"more": IntType(0, 6)}, Tall, "Taller")
NETWORKS: dict[str, Type] = {
    "sent": MessageSetType((RecordType(VoteRequest), RecordType(FetchResponse)), 9),
    "tall": MessageSetType((RecordType(Tall), RecordType(VoteRequest)), 9),
    "bag": MessageBagType((RecordType(FetchResponse), RecordType(VoteRequest)), 9, 3),
    "last": UnionType((RecordType(Tall),), True),
    "tall_bag": MessageBagType((RecordType(VoteRequest), RecordType(Tall)), 9, 3),
}


@pytest.mark.slow
@given(values(RecordType(record_class(NETWORKS, name="State"))))
def test_messages_and_their_counts_come_back(state: Any) -> None:
    assert decode_row(encode_row(state), class_of(state)) == state


def test_the_ends_of_a_message_lie_first_and_at_one_place_in_all_shapes() -> None:
    base = message_of(5, source="by", dest="to")
    renamed = record_class({"first": Server, "last": Server}, base, source="first", dest="last")
    for shape in (base, renamed):
        places = record_layout(shape).fields
        assert (places["by"], places["to"], places["n5"]) == (Place(0, 0), Place(0, 2), Place(0, 4))


def test_a_state_of_networks_alone_has_one_fixed_word() -> None:
    kinds = {"sent": MessageSetType((RecordType(message_of(3, source="by", dest="to")),), 9)}
    layout = row_layout(record_class({**kinds, "more": kinds["sent"]}, name="State"))
    assert (layout.fixed_words, layout.counts, layout.entries) == (1, 2, 4)


def test_a_set_of_more_than_a_word_of_members_has_whole_words() -> None:
    assert layout_of(SetType(IntType(1, 64))).bits == 64
    assert layout_of(SetType(IntType(0, 64))).words == 2
    assert layout_of(SetType(IntType(1, 1024))).words == 16
    assert layout_of(MapType(IntType(0, 64), BoolType(), total=False)).words == 4


def test_a_partial_map_of_too_many_keys_has_no_layout() -> None:
    with pytest.raises(SpecError, match="has no layout") as refused:
        layout_of(MapType(IntType(0, 1024), BoolType(), total=False))
    assert refused.value.code == "KMC802"


@pytest.mark.parametrize(("members", "bits"), [(4, 47), (8, 3 * 64), (2000, 206 * 64)])
def test_a_set_of_a_type_of_too_many_values_for_a_mask_is_a_list(members: int, bits: int) -> None:
    with assuming(AssumedRange(0, 15, members)):
        assert layout_of(SetType(IntType(0, 1024))).bits == bits
        assert layout_of(SetType(IntType(0, 1023))).words == 16


def test_what_is_not_a_scalar_is_not_counted_as_one() -> None:
    with pytest.raises(SpecError, match="is not a scalar") as refused:
        scalar_count(SetType(BoolType()))
    assert refused.value.code == "KMC801"


def test_a_network_inside_of_a_value_has_no_layout(tmp_path: Path) -> None:
    state = model_of(tmp_path, SPEC, "CONSTANT Server = {s1, s2}").spec.state_class
    network = next(kind for kind in state.fields.values() if isinstance(kind, MessageSetType))
    with pytest.raises(SpecError, match="a network is a field of State") as refused:
        layout_of(network)
    assert refused.value.code == "KMC803"


def test_a_fingerprint_is_a_word_and_never_0() -> None:
    assert [fingerprint(word) for word in (0, 1, MASK, MASK + 1, MASK + 6)] == [1, 1, MASK, 1, 5]


def test_salts_differ_for_every_part_of_a_row() -> None:
    salts = [*range(1, 1 << 12), *map(network_salt, range(64))]
    assert len({*salts, *(salt + SECOND for salt in salts)}) == 2 * len(salts)


def test_both_hash_sums_are_of_the_words_of_the_row(tmp_path: Path) -> None:
    (state,) = initial_states(model_of(tmp_path, SPEC, "CONSTANT Server = {s1, s2}"))
    row, layout = encode_row(state), row_layout(class_of(state))
    salts = [*range(1, 1 + layout.fixed_words), *[1 << 20] * 2, *[(1 << 20) + 1] * 2]
    words = [*row[1 : layout.counts], *row[layout.entries :]]
    assert SECOND == 1 << 32, "fingerprints of 128 bits are kept in run directories and sent between processes"
    for shift in (0, SECOND):
        assert hash_sum(row, layout, shift) == sum(map(mix, words, [salt + shift for salt in salts])) & MASK


def test_the_bytes_of_a_container_change_with_its_version_only() -> None:
    body = bytes([2, 0, 0, 0, 0, 0, 0, 0]) + b"ab" + bytes(8)
    assert container.container_of([b"ab", b""]) == b"kmc compiled spec 3\n" + sha256(body).digest() + body


def test_the_parts_of_a_container_are_read_back_and_nothing_else_is() -> None:
    parts = [b"", b"code", bytes(range(256)) * 3]
    data = container.container_of(parts)
    assert container.parts_of(data) == parts
    assert container.parts_of(container.container_of([])) == []
    for wrong in [*(data[:end] for end in range(len(data))), data + b"x", b"x" + data]:
        with pytest.raises(SystemFault, match="KMC541"):
            container.parts_of(wrong)
    for place in range(len(data)):
        with pytest.raises(SystemFault, match="KMC541"):
            container.parts_of(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=5), min_size=1, max_size=6))
def test_a_block_holds_its_rows_and_slack(rows: list[list[int]]) -> None:
    block = RowBatch.of([np.array(row, np.int64) for row in rows])
    assert [row.tolist() for row in block] == rows == [block[number].tolist() for number in range(len(block))]
    assert len(block.words) == sum(map(len, rows)) + SLACK_WORDS
    assert not block.words[-SLACK_WORDS:].any()


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=6), st.integers(0, 3))
def test_rows_are_taken_out_of_records(rows: list[list[int]], unused: int) -> None:
    out: list[int] = []
    places: list[int] = []
    for row in rows:
        places.append(len(out))
        out += [len(row), 77, *row]
    words = np.array([*out, *[-1] * (SLACK_WORDS + unused)], np.int64)
    block = rows_of_records(words, len(out), np.array(places, np.int64))
    assert [row.tolist() for row in block] == rows
    assert len(block.words) == sum(map(len, rows)) + SLACK_WORDS


def test_the_head_of_a_record_is_read_alike_in_blocks_and_in_a_search() -> None:
    names = ("RECORD_HEAD_WORDS", "ACTION_SHIFT", "ACTION_MASK", "TIMES_SHIFT", "TIMES_MASK")
    assert [getattr(blocks, name) for name in names] == [getattr(record_structs, name) for name in names]
    assert (1 << blocks.RECORD_LENGTH_BITS) - 1 == record_structs.LENGTH_MASK
    head = 7 | 0xFFFF << blocks.ACTION_SHIFT | 0x7FFF << blocks.TIMES_SHIFT
    assert (head >> 32 & blocks.ACTION_MASK, head >> 48 & blocks.TIMES_MASK) == (0xFFFF, 0x7FFF)
