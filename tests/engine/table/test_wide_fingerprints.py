"""Fingerprints of 128 bits: a second hash that is one of its own, in kernels, tables and searches."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.oracles.steps import walk_states
from support.specs.shipped import shipped_model, shuffle_entries
from support.specs.small import model_of as small_model
from support.specs.wide import model_named

from kmc.compiler.compile_spec import compile_spec
from kmc.frontend.model import Model
from kmc.lang.maps import MapValue
from kmc.lang.networks import bag_of_messages, set_of_messages
from kmc.lang.permutation import permute
from kmc.lang.seqs import seq_literal
from kmc.reference.states.initial import initial_states
from kmc.runtime.blocks import RowBatch
from kmc.runtime.codec import encode_row, hash_sum
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.runtime.hashing import SECOND
from kmc.runtime.state_layout import row_layout


def both(model: Model) -> tuple[CompiledSpec, CompiledSpec]:
    """A model compiled for 64 bits and for 128."""
    return compile_spec(model), compile_spec(model, fingerprint_bits=128)


MODELS = {
    "plain": lambda: shipped_model("kraft", "smoke"),
    "symmetry": lambda: model_named("kraft", "standard"),
    "symmetry and view": lambda: model_named("kraft", "upstream"),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    made: Model = MODELS[request.param]()
    return made


@pytest.mark.slow
def test_the_first_word_and_all_else_are_those_of_64_bits(model: Model) -> None:
    narrow, wide = both(model)
    states = walk_states(model, walks=3, depth=30, seed=4)
    rows = [encode_row(state) for state in states]
    one = narrow.expand_block(RowBatch.of([narrow.row_of(row) for row in rows]))
    other = wide.expand_block(RowBatch.of([wide.row_of(row) for row in rows]))
    assert one.fingerprints.tolist() == other.fingerprints.tolist()
    assert [narrow.words_of(row) for row in one.rows] == [wide.words_of(row) for row in other.rows]
    assert narrow.check(one.rows).tolist() == wide.check(other.rows).tolist()


@pytest.mark.slow
def test_the_second_word_is_that_of_the_encoded_successor(model: Model) -> None:
    _, wide = both(model)
    rows = RowBatch.of([wide.row_of(encode_row(state)) for state in walk_states(model, walks=3, depth=30, seed=4)])
    layout = row_layout(model.spec.state_class)
    for row in wide.expand_block(rows).rows:
        words = wide.words_of(row)
        assert int(row[1]) & (1 << 64) - 1 == hash_sum(words, layout, SECOND)
        assert row.tolist() == wide.row_of(words).tolist()


@pytest.mark.slow
def test_the_second_word_tells_as_many_states_apart_and_is_another(model: Model) -> None:
    _, wide = both(model)
    rows = RowBatch.of([wide.row_of(encode_row(state)) for state in walk_states(model, walks=4, depth=40, seed=5)])
    firsts = wide.fingerprints(rows).tolist()
    seconds = [int(row[0]) & (1 << 64) - 1 for row in rows]
    assert len(set(firsts)) == len(set(seconds)) == len(set(zip(firsts, seconds, strict=True))) > 20
    assert not set(firsts) & set(seconds)


@pytest.mark.slow
def test_the_second_word_is_the_same_for_all_images_of_a_state() -> None:
    model = model_named("kraft", "standard")
    _, wide = both(model)
    (group,) = model.symmetry
    (cls,) = group.classes
    turned = dict(zip(cls.members, [*cls.members[1:], cls.members[0]], strict=True))
    moved = 0
    for state in walk_states(model, walks=3, depth=30, seed=6):
        image: Any = permute(state, turned, {})
        moved += image != state
        assert wide.row_of(encode_row(image))[0] == wide.row_of(encode_row(state))[0]
    assert moved > 20


@pytest.mark.slow
def test_the_second_word_does_not_depend_on_the_order_of_messages() -> None:
    model = shipped_model("kraft", "smoke")
    _, wide = both(model)
    layout = row_layout(model.spec.state_class)
    moved = 0
    for state in walk_states(model, walks=4, depth=40, seed=2):
        row = encode_row(state)
        shuffled = shuffle_entries(row, layout, random.Random(3))
        moved += shuffled != row
        assert wide.row_of(shuffled)[0] == wide.row_of(row)[0]
    assert moved > 20


WIDE_ELEMENTS = """
Word = Int(0, 1152921504606846976)
Server = constant("Server", IdentSet(), "x")

class Pair(Message):
    source: Server
    dest: Server
    a: Word
    b: Word

class Both(Record):
    a: Word
    b: Word

class State(Record):
    sent: MessageSet[Pair, 8]
    counted: MessageBag[Pair, 8, 9]
    held: Map[Server, Both]
    listed: Seq[Both, 4]

@spec.init
def init():
    none = Both(a=0, b=0)
    yield State(sent=set(), counted={}, held={s: none for s in Server}, listed=[])

@spec.action
def shorten(st):
    if len(st.listed) > 0:
        yield st.set(listed=st.listed.upto(len(st.listed) - 1))
"""


class Wide:
    """States whose elements are wider than a word, and what they are known by."""

    def __init__(self, folder: Path) -> None:
        self.model = small_model(folder, WIDE_ELEMENTS, "CONSTANT Server = {s1, s2} CHECK_DEADLOCK FALSE")
        self._spec = compile_spec(self.model, fingerprint_bits=128)
        self._empty = initial_states(self.model)[0]
        fields: Any = self.model.spec.state_class.fields
        self._message = fields["sent"].messages[0].cls
        self._record = fields["listed"].element.cls
        self._servers = fields["held"].key.cls.members

    def known_by(self, **fields: Any) -> tuple[int, int]:
        """Both words of the fingerprint of the empty state with these fields."""
        row = self._spec.row_of(encode_row(self._empty.set(**fields)))
        return self._spec.fingerprint(row), int(row[0])

    def message(self, a: int, b: int) -> Any:
        """A message with these numbers."""
        first, second = self._servers
        return self._message(source=first, dest=second, a=a, b=b)

    def state_of(self, kind: str, pairs: list[tuple[int, int]]) -> dict[str, Any]:
        """The field `kind` holding these pairs of numbers."""
        records = [self._record(a=a, b=b) for a, b in pairs]
        match kind:
            case "sent":
                return {kind: set_of_messages(self.message(*pair) for pair in pairs)}
            case "counted":
                return {kind: bag_of_messages([(self.message(*pair), 1 + k) for k, pair in enumerate(pairs)])}
            case "held":
                return {kind: MapValue(dict(zip(self._servers, records, strict=True)))}
            case _:
                return {kind: seq_literal(records)}


@pytest.fixture(scope="module")
def wide_elements(tmp_path_factory: pytest.TempPathFactory) -> Wide:
    return Wide(tmp_path_factory.mktemp("wide"))


@pytest.mark.parametrize("kind", ["sent", "counted", "held", "listed"])
def test_elements_that_exchange_their_halves_are_others(kind: str, wide_elements: Wide) -> None:
    chosen = random.Random(kind)
    for low in (4, 1 << 60):
        for _ in range(60):
            a, b, c, d = (chosen.randrange(low) for _ in range(4))
            if a == c or b == d:
                continue
            one = wide_elements.known_by(**wide_elements.state_of(kind, [(a, b), (c, d)]))
            other = wide_elements.known_by(**wide_elements.state_of(kind, [(a, d), (c, b)]))
            assert one[0] != other[0]
            assert one[1] != other[1]


def test_entries_that_exchange_their_counts_are_others(wide_elements: Wide) -> None:
    pairs = [(1, 2), (3, 4)]
    one = wide_elements.known_by(**wide_elements.state_of("counted", pairs))
    other = wide_elements.known_by(**wide_elements.state_of("counted", pairs[::-1]))
    assert one[0] != other[0]
    assert one[1] != other[1]


def test_the_order_in_which_messages_were_sent_never_matters(wide_elements: Wide) -> None:
    pairs = [(1, 2), (3, 4), (1 << 60, 0)]
    found = {wide_elements.known_by(**wide_elements.state_of("sent", order)) for order in (pairs, pairs[::-1])}
    assert len(found) == 1


def test_what_lies_behind_the_end_of_a_sequence_never_matters(wide_elements: Wide) -> None:
    spec = compile_spec(wide_elements.model, fingerprint_bits=128)
    long = wide_elements.state_of("listed", [(5, 6), (7, 8)])["listed"]
    short = wide_elements.state_of("listed", [(5, 6)])["listed"]
    state = initial_states(wide_elements.model)[0]
    steps = spec.expand_block(RowBatch.of([spec.row_of(encode_row(state.set(listed=long)))]))
    wanted = spec.row_of(encode_row(state.set(listed=short)))
    assert steps.rows[0].tolist() == wanted.tolist()
    assert int(steps.fingerprints[0]) == spec.fingerprint(wanted)
