"""The columns of states hold what the codec decodes, row by row, for every type of the language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from support.drawing.specs import Drawn, spec_of, specs
from support.drawing.states import random_state
from support.oracles.results import CASES
from support.oracles.steps import walk_states
from support.oracles.table_values import by_text, row_of_state
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.compiler.compile_spec import compile_spec
from kmc.compiler.view_order import fingerprint_order
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.lang.assumed_range import AssumedRange, assuming
from kmc.lang.types import NetworkType
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.result import Limits
from kmc.runtime.blocks import RowBatch
from kmc.runtime.codec import decode_row, encode_row
from kmc.tables import interned
from kmc.tables.cells import Narrow
from kmc.tables.columns import IntColumn
from kmc.tables.state_columns import StateColumns

STATES = 120

EXAMPLES = settings().max_examples * 2 // 5
"""40, and with `make fuzz` 800. A mistake in numbers below 0, or under null, shows in one spec of five."""


def shown(columns: StateColumns, batches: Iterable[RowBatch], model: Model) -> list[dict[str, Any]]:
    """The rows of a table of these rows of words, with messages in the order of their text."""
    fields = model.spec.state_class.fields
    rows = [
        row
        for batch in batches
        for row in pa.record_batch(columns.decode(batch), schema=pa.schema(columns.fields)).to_pylist()
    ]
    return [
        {name: by_text(value) if isinstance(fields[name], NetworkType) else value for name, value in row.items()}
        for row in rows
    ]


def differing(model: Model, states: Sequence[Any], batch_rows: int = 7, words_before: int = 0) -> list[Any]:
    """Pairs of rows that should be equal and are not."""
    encoded = [np.array([0] * words_before + encode_row(state), np.uint64).view(np.int64) for state in states]
    batches = [RowBatch.of(encoded[at : at + batch_rows]) for at in range(0, len(encoded), batch_rows)]
    columns = StateColumns(model.spec.state_class, words_before)
    wanted = [row_of_state(state, model.spec.state_class) for state in states]
    found = shown(columns, batches, model)
    assert len(found) == len(wanted)
    return [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]]


def states_of(model: Model, keep_going: bool = True) -> list[Any]:
    """Some states that the interpreter reaches."""
    search = Search(model, Limits(states=STATES), keep_going=keep_going, view_order=fingerprint_order)
    search.run()
    return search.graph.states


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(drawn=specs())
def test_a_random_spec_has_the_states_of_the_codec(drawn: Drawn, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = model_of(tmp_path_factory.mktemp("drawn"), drawn.source, drawn.cfg)
    try:
        states = states_of(model)
    except KmcError:
        return
    assert differing(model, states) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_few_random_specs_have_the_states_of_the_codec(seed: int, tmp_path: Path) -> None:
    drawn = spec_of(Random(seed))
    model = model_of(tmp_path, drawn.source, drawn.cfg)
    assert differing(model, states_of(model), batch_rows=1 + 40 * (seed % 2), words_before=seed % 2) == []


@pytest.mark.parametrize("name", sorted(CASES)[::4])
def test_a_small_spec_has_the_states_of_the_codec(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    assert differing(model, states_of(model)) == []


@pytest.mark.parametrize("spec", ["kraft", "kip_996", "kip_996_draft", "two_phase_commit", "die_hard"])
def test_a_shipped_model_has_the_states_of_the_codec(spec: str) -> None:
    model = shipped_model(spec, "smoke")
    states = walk_states(model, walks=5, depth=40, seed=1)
    assert differing(model, states, batch_rows=50) == []


def test_values_that_hardly_repeat_are_decoded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interned, "_SAMPLE", 1)
    model = shipped_model("kraft", "smoke")
    assert differing(model, walk_states(model, walks=5, depth=40, seed=2), batch_rows=5) == []


def test_values_are_decoded_again_after_they_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interned, "_KEPT_MAX", 3)
    monkeypatch.setattr(interned, "_SLOTS", 4)
    model = shipped_model("kraft", "smoke")
    assert differing(model, walk_states(model, walks=5, depth=40, seed=3), batch_rows=20) == []


def test_messages_of_equal_states_stand_in_one_order() -> None:
    model = shipped_model("kraft", "smoke")
    state = max(walk_states(model, walks=5, depth=40, seed=4), key=lambda found: len(found.messages))
    columns = StateColumns(model.spec.state_class, 0)
    words = encode_row(state)
    head = len(words) - len(state.messages)
    backwards = words[:head] + words[head:][::-1]
    assert len(state.messages) > 2
    rows = RowBatch.of([np.array(one, np.uint64).view(np.int64) for one in (words, backwards)])
    first, second = pa.record_batch(columns.decode(rows), schema=pa.schema(columns.fields)).to_pylist()
    assert first == second


MIXED = """
Server = constant("Server", IdentSet(), "Who")

class Role(Enum):
    LOW, HIGH = range(2)

class Ask(Message):
    source: Server
    dest: Server
    at: Int(0, 3)
    who: Server
    what: Server

class Answer(Message):
    source: Server
    dest: Server
    at: Int(-2, 200)
    who: Opt[Role]
    what: Bool
    type: Bool

class Call(Message):
    source: Server
    dest: Server
    count: Int(3, 4)

class State(Record):
    either: Server | Role | None
    number: Server | Int(-1, 3) | None
    asked: MessageSet[Ask | Answer, 3]
    called: MessageBag[Call, 3, 2]

@spec.init
def init():
    one = Server.at(1)
    two = Server.at(2)
    yield State(either=None, number=None, asked=set(), called={})
    yield State(either=Role.HIGH, number=-1, asked={Ask(source=one, dest=two, at=3, who=two, what=one)},
                called={Call(source=one, dest=two, count=4): 2})
    yield State(either=two, number=one, called={},
                asked={Answer(source=two, dest=one, at=-2, who=None, what=True, type=False)})
    yield State(either=one, number=0, called={},
                asked={Answer(source=two, dest=one, at=200, who=Role.LOW, what=False, type=True)})

@spec.action
def stop(st):
    require(False)
    yield st
"""


def test_fields_of_one_name_share_a_column_where_their_types_allow_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, MIXED, "CONSTANT Server = {s1, s2}")
    rows = RowBatch.of([np.array(encode_row(state), np.uint64).view(np.int64) for state in initial_states(model)])
    columns = StateColumns(model.spec.state_class, 0)
    found = pa.record_batch(columns.decode(rows), schema=pa.schema(columns.fields)).to_pylist()
    ask = {"type": "Ask", "source": "s1", "dest": "s2", "at": 3, "who": "s2"}
    answer = {"type": "Answer", "source": "s2", "dest": "s1"}
    assert found == [
        {"either": None, "number": None, "asked": [], "called": []},
        {
            "either": "High",
            "number": {"type": "int", "Server": None, "int": -1},
            "asked": [{**ask, "what": "s1", "what_Answer": None, "type_": None}],
            "called": [{"source": "s1", "dest": "s2", "count": 4, "count_": 2}],
        },
        {
            "either": "s2",
            "number": {"type": "Server", "Server": "s1", "int": None},
            "asked": [{**answer, "at": -2, "who": None, "what": None, "what_Answer": True, "type_": False}],
            "called": [],
        },
        {
            "either": "s1",
            "number": {"type": "int", "Server": None, "int": 0},
            "asked": [{**answer, "at": 200, "who": "Low", "what": None, "what_Answer": False, "type_": True}],
            "called": [],
        },
    ]


def test_a_map_that_may_have_the_key_none_is_a_list_of_keys_and_values(tmp_path: Path) -> None:
    world = """
class State(Record):
    total: Map[Opt[Bool], Int(0, 2)]
    partial: PartialMap[Opt[Int(0, 1)], Set[Opt[Bool]]]


@spec.init
def init():
    yield State(total={None: 0, True: 2, False: 1}, partial={None: {None, True}})


@spec.action
def stay(st):
    yield st
"""
    model = model_of(tmp_path, world)
    columns = StateColumns(model.spec.state_class, 0)
    row = np.array(encode_row(states_of(model)[0]), np.uint64).view(np.int64)
    (found,) = shown(columns, [RowBatch.of([row])], model)
    assert found["total"] == [{"key": key, "value": value} for key, value in ((None, 0), (False, 1), (True, 2))]
    assert found["partial"] == [{"key": None, "value": [None, True]}]


def test_a_block_without_rows_has_no_rows() -> None:
    model = shipped_model("kip_996", "smoke")
    columns = StateColumns(model.spec.state_class, 0)
    rows = RowBatch(np.zeros(64, np.int64), np.zeros(1, np.int64))
    assert pa.record_batch(columns.decode(rows), schema=pa.schema(columns.fields)).num_rows == 0


def test_a_compiled_spec_that_travelled_has_the_same_columns() -> None:
    model = shipped_model("kraft", "smoke")
    spec = compile_spec(model)
    here = StateColumns(model.spec.state_class, spec.words_before)
    there = StateColumns(spec.schema.state_class, spec.words_before)
    assert pa.schema(here.fields) == pa.schema(there.fields)


@pytest.mark.parametrize(
    ("low", "high", "bits"),
    [
        (0, 127, 8),
        (0, 128, 16),
        (-128, 0, 8),
        (-129, 0, 16),
        (-128, 127, 8),
        (0, 32767, 16),
        (0, 32768, 32),
        (-32768, 0, 16),
        (-32769, 0, 32),
        (0, (1 << 31) - 1, 32),
        (0, 1 << 31, 64),
        (-(1 << 31) - 1, 0, 64),
    ],
)
def test_numbers_have_the_least_width_that_holds_all_of_them(low: int, high: int, bits: int) -> None:
    column = IntColumn(low, high)
    assert column.kind == pa.int64() if bits == 64 else column.kind == getattr(pa, f"int{bits}")()
    values = [low, low + 1, high - 1, high]
    cells = Narrow(np.array([value - low for value in values], np.uint64))
    assert column.decode(cells, None).to_pylist() == values
    assert column.decode(cells, np.array([True, False, True, True])).to_pylist() == [low, None, high - 1, high]


WIDE = """
Server = constant("Server", IdentSet(), "x")


class Letter(Record):
    src: Server
    term: Int(0, 40)
    ok: Bool


class State(Record):
    letters: Set[Letter]
    numbers: Set[Int(-60, 70)]
    terms: PartialMap[Letter, Int(0, 3)]
    boxes: PartialMap[Int(0, 64), Set[Letter]]
    path: Seq[Set[Int(0, 99)], 2]


@spec.init
def init():
    yield State(letters=set(), numbers=set(), terms={}, boxes={}, path=[])


@spec.action
def stay(st):
    yield st
"""


def test_sets_and_maps_of_more_possible_elements_than_a_word_has_bits_are_shown(tmp_path: Path) -> None:
    model = model_of(tmp_path, WIDE, "CONSTANT Server = {a, b}")
    chance = Random(4)
    assert differing(model, [random_state(model, chance) for _ in range(60)]) == []


LISTED = """
Server = constant("Server", IdentSet(), "x")


class Letter(Record):
    src: Server
    term: Int(-4, 4000)
    told: Set[Int(0, 70)]


class State(Record):
    letters: Set[Letter]
    numbers: Set[Int(-60, 7000)]
    boxes: PartialMap[Server, Set[Letter]]
    camps: Set[Set[Letter]]
    path: Seq[Set[Int(0, 1999)], 2]


@spec.init
def init():
    yield State(letters=set(), numbers=set(), boxes={}, camps=set(), path=[])


@spec.action
def stay(st):
    yield st
"""


@pytest.mark.parametrize("members", [4, 16])
def test_sets_that_are_stored_as_lists_are_shown(members: int, tmp_path: Path) -> None:
    model = model_of(tmp_path, LISTED, "CONSTANT Server = {a, b}")
    chance = Random(4)
    with assuming(AssumedRange(0, 15, members)):
        assert differing(model, [random_state(model, chance) for _ in range(60)]) == []


def test_a_compiled_spec_that_travelled_has_lists_of_the_same_size(tmp_path: Path) -> None:
    model = model_of(tmp_path, LISTED, "CONSTANT Server = {a, b}")
    with assuming(AssumedRange(0, 15, 8)):
        spec = compile_spec(model)
        row = encode_row(random_state(model, Random(5)))
        columns = pa.schema(StateColumns(model.spec.state_class, 0).fields)
    there = decode_row(row, spec.schema.state_class)
    assert encode_row(there) == row
    assert pa.schema(StateColumns(spec.schema.state_class, 0).fields) == columns
