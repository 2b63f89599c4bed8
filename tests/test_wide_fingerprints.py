"""Fingerprints of 128 bits: a second hash that is one of its own, in kernels, tables and searches."""

from __future__ import annotations

import random
from typing import Any

import pytest
from native_steps import walk_states
from test_native_edges import shipped_model, shuffle_entries

from kmc.compiler.compiling import compile_spec
from kmc.kernels.blocks import Block
from kmc.kernels.codec import encode_row, hash_sum
from kmc.kernels.compiled_spec import CompiledSpec
from kmc.kernels.hashing import SECOND
from kmc.kernels.layout import row_layout
from kmc.lang.permutation import permute
from kmc.spec.model import Model, bind
from kmc.spec.shipped import find_model, find_spec_root


def model_named(spec: str, name: str) -> Model:
    """A shipped model as it is, with its symmetry and view."""
    root = find_spec_root(spec)
    file = find_model(root, name)
    assert file is not None
    return bind(root, file)


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


def test_the_first_word_and_all_else_are_those_of_64_bits(model: Model) -> None:
    narrow, wide = both(model)
    states = walk_states(model, walks=3, depth=30, seed=4)
    rows = [encode_row(state) for state in states]
    one = narrow.expand_block(Block.of([narrow.row_of(row) for row in rows]))
    other = wide.expand_block(Block.of([wide.row_of(row) for row in rows]))
    assert one.fingerprints.tolist() == other.fingerprints.tolist()
    assert [narrow.words_of(row) for row in one.rows] == [wide.words_of(row) for row in other.rows]
    assert narrow.check(one.rows).tolist() == wide.check(other.rows).tolist()


def test_the_second_word_is_that_of_the_encoded_successor(model: Model) -> None:
    _, wide = both(model)
    rows = Block.of([wide.row_of(encode_row(state)) for state in walk_states(model, walks=3, depth=30, seed=4)])
    layout = row_layout(model.spec.state_class)
    for row in wide.expand_block(rows).rows:
        words = wide.words_of(row)
        assert int(row[1]) & (1 << 64) - 1 == hash_sum(words, layout, SECOND)
        assert row.tolist() == wide.row_of(words).tolist()


def test_the_second_word_tells_as_many_states_apart_and_is_another(model: Model) -> None:
    _, wide = both(model)
    rows = Block.of([wide.row_of(encode_row(state)) for state in walk_states(model, walks=4, depth=40, seed=5)])
    firsts = wide.fingerprints(rows).tolist()
    seconds = [int(row[0]) & (1 << 64) - 1 for row in rows]
    assert len(set(firsts)) == len(set(seconds)) == len(set(zip(firsts, seconds, strict=True))) > 20
    assert not set(firsts) & set(seconds)


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
