"""The behaviour graph of the native search: what the interpreter says, state by state, whatever the threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.oracles.behaviour_graphs import NativeGraph, differences, is_well_formed, native_graph
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, TOKENS, model_of

from kmc.engine.behaviour_graph import recorder as graph_recorder
from kmc.engine.behaviour_graph.recorder import GraphRecorder
from kmc.engine.layout.search_outcome import FindingKind, Settings
from kmc.engine.loops import compiled_loops
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.words import Address
from kmc.frontend.model import Model
from kmc.invariants.properties import ActionProperty
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph, bit_of
from kmc.liveness.formulas import TemporalProperty
from kmc.result import Bound, Limits

WALK = """
from kmc.spec import always_eventually, for_all, leads_to

Size = constant("Size", Int(1, 70), "The sides of the field", 4)
Place = Int(0, Size)


class State(Record):
    x: Place
    y: Place


@spec.init
def init():
    yield State(x=0, y=0)
    yield State(x=Size, y=Size)


@spec.action
def go_right(st):
    if st.x < Size:
        yield st.set(x=st.x + 1)


@spec.action
def go_anywhere(st, y: Place):
    yield st.set(y=y)


@spec.action
def reflect(st):
    yield st.set(x=Size - st.x)
    yield st.set(x=st.x)
    yield st.set(x=Size - st.x)


@spec.constraint
def NotInTheMiddle(st):
    return (st.x, st.y) != (1, 1)


@spec.action_constraint
def NeverBackToTheStart(st, nxt):
    return nxt.x != 0 or nxt.y != 0


def is_low(st):
    return st.y < 2


def is_in_column(st, n):
    return st.x == n


@spec.liveness
def Columns():
    return for_all(range(5), lambda n: leads_to(lambda st: is_in_column(st, n), lambda st: st.x != n and is_low(st)))


@spec.liveness
def Rows():
    return for_all(
        range(2),
        lambda n: always_eventually(
            lambda st: all(st.x != column
                           for column in range(3) if column > n) and not (
                st.y == n
            )
        ),
    )


@spec.action_property
def Rises(st, nxt):
    return nxt.y > st.y and is_low(st)


@spec.action_property
def Moves(st, nxt):
    return nxt.x != st.x


@spec.action_property
def ComesHome(st, nxt):
    return not is_low(st) and is_low(nxt)
"""
"""Two coordinates; steps that several actions allow, self-steps, and constraints on states and on steps."""

Predicates = tuple[Callable[..., bool], ...]


@pytest.fixture
def walk(tmp_path: Path) -> Model:
    return model_of(tmp_path, WALK, "CONSTRAINT NotInTheMiddle ACTION_CONSTRAINT NeverBackToTheStart")


def functions_in(part: Any) -> Iterator[Callable[..., bool]]:
    """The predicates of a formula, whatever it is made of."""
    if callable(part):
        yield part
    elif isinstance(part, tuple):
        for inner in part:
            yield from functions_in(inner)
    elif is_dataclass(part):
        yield from functions_in(tuple(getattr(part, field.name) for field in fields(part)))


def atoms_of(model: Model) -> Predicates:
    """Lambdas of the walk's formulas, several on a line and with variables of the functions around them."""
    declared = [prop.formula() for prop in model.spec.properties.values() if isinstance(prop, TemporalProperty)]
    found = tuple(functions_in(tuple(declared)))
    assert len(found) == 12
    return found


def step_atoms_of(model: Model) -> Predicates:
    """Functions of a state and its successor."""
    return tuple(prop.function for prop in model.spec.properties.values() if isinstance(prop, ActionProperty))


def assert_as_interpreted(
    model: Model, found: NativeGraph, of_states: Predicates = (), of_steps: Predicates = ()
) -> None:
    assert is_well_formed(found.graph)
    assert differences(model, found, of_states, of_steps) == []


def assert_equal(left: BehaviourGraph, right: BehaviourGraph) -> None:
    """Equal arrays, of equal types."""
    for field in fields(BehaviourGraph):
        first, second = (np.asarray(getattr(graph, field.name)) for graph in (left, right))
        assert first.dtype == second.dtype, field.name
        assert np.array_equal(first, second), field.name


def test_states_steps_and_bits_are_the_interpreters(walk: Model) -> None:
    of_states, of_steps = atoms_of(walk), step_atoms_of(walk)
    found = native_graph(walk, of_states, of_steps)
    assert found.graph.expanded == found.graph.states > 20
    assert bool((found.graph.targets == OUTSIDE).any())
    assert_as_interpreted(walk, found, of_states, of_steps)


def test_a_self_step_that_a_constraint_forbids_is_a_self_step(walk: Model) -> None:
    graph = native_graph(walk).graph
    assert graph.initial == 2
    selves = [n for n in range(graph.states) if n in graph.targets[graph.offsets[n] : graph.offsets[n + 1]]]
    assert selves == list(range(graph.states))


def test_wide_fingerprints_number_the_same_model(walk: Model) -> None:
    of_states = atoms_of(walk)
    found = native_graph(walk, of_states, fingerprint_bits=128)
    assert found.compiled.kernels.wide
    assert_as_interpreted(walk, found, of_states)


APART = """
class State(Record):
    n: Int(0, 6)


@spec.init
def init():
    yield State(n=0)


@spec.action
def count_up(st):
    if st.n < 3:
        yield st.set(n=st.n + 1)


@spec.action(next=False)
def move(st, by: Int(1, 3)):
    if st.n + by <= 6 and (st.n < 3 or by == 3):
        yield st.set(n=st.n + by)


@spec.action(next=False)
def stay(st):
    yield st


@spec.invariant
def BelowThree(st):
    return st.n < 3
"""
"""What is not part of Next leads further than Next, to the same states, and nowhere."""


@pytest.mark.parametrize("bits", [64, 128])
def test_steps_beside_the_next_state_relation_are_outside_but_for_pairs_that_it_has(tmp_path: Path, bits: int) -> None:
    found = native_graph(model_of(tmp_path, APART), fingerprint_bits=bits)
    graph, outcome = found.graph, found.outcome
    assert (graph.states, outcome.generated, outcome.generated_by_action) == (4, 4, (3, 0, 0, 0, 0))
    assert_as_interpreted(model_of(tmp_path, APART), found)
    first = [(int(graph.targets[step]), int(graph.labels[step])) for step in range(graph.offsets[1])]
    assert sorted(first) == [(0, 4), (1, 0), (1, 1), (int(OUTSIDE), 2), (int(OUTSIDE), 3)]


LEAPS = """
class State(Record):
    n: Int(0, 3)


@spec.init
def init():
    yield State(n=0)


@spec.action
def leap(st):
    if st.n == 0:
        yield st.set(n=2)
        yield st.set(n=3)


@spec.constraint
def Low(st):
    return st.n < 2


@spec.action_property
def LeapsToTwo(st, nxt):
    return nxt.n == 2


@spec.action_property
def LeapsToThree(st, nxt):
    return nxt.n == 3
"""
"""Both steps of the only action are dropped, and differ in their predicates alone: each enables something else."""


@pytest.mark.parametrize("bits", [64, 128])
def test_dropped_steps_of_one_action_that_differ_in_their_predicates_are_both_kept(tmp_path: Path, bits: int) -> None:
    model = model_of(tmp_path, LEAPS, "CONSTRAINT Low")
    of_steps = step_atoms_of(model)
    found = native_graph(model, of_steps=of_steps, fingerprint_bits=bits)
    assert found.graph.targets.tolist() == [OUTSIDE, OUTSIDE]
    assert sorted(bit_of(found.graph.step_bits, 0).tolist()) == [False, True]
    assert_as_interpreted(model, found, of_steps=of_steps)


def test_a_state_that_only_other_actions_leave_is_a_deadlock(tmp_path: Path) -> None:
    model = model_of(tmp_path, APART)
    found = native_graph(model, settings=Settings(deadlock=True))
    assert [finding.kind for finding in found.outcome.findings] == [FindingKind.DEADLOCK]


def test_a_trace_takes_no_step_beside_the_next_state_relation(tmp_path: Path) -> None:
    model = model_of(tmp_path, APART, "INVARIANT BelowThree")
    found = native_graph(model, settings=Settings(deadlock=False, history_bytes=0))
    (finding,) = found.outcome.findings
    before = found.search.predecessors.of(3, finding.fingerprint)
    assert [found.compiled.state(step.source.row).n for step in before] == [2]


@pytest.mark.parametrize("count", [9, 63, 130])
def test_any_number_of_atoms_keeps_each_in_its_bit(walk: Model, count: int) -> None:
    of_states = tuple(islice(cycle(atoms_of(walk)), count))
    of_steps = tuple(islice(cycle(step_atoms_of(walk)), count // 2))
    assert_as_interpreted(walk, native_graph(walk, of_states, of_steps), of_states, of_steps)


@pytest.mark.slow
@pytest.mark.parametrize("has_atoms", [True, False])
def test_many_steps_of_a_state_are_in_order_and_once_each(tmp_path: Path, has_atoms: bool) -> None:
    model = model_of(tmp_path, WALK, "CONSTANT Size = 70")
    depth = Settings(deadlock=False, limits=Limits(depth=2))
    of_steps = step_atoms_of(model) if has_atoms else ()
    found = native_graph(model, of_steps=of_steps, settings=depth)
    assert max(np.diff(found.graph.offsets)) > 70
    assert_as_interpreted(model, found, of_steps=of_steps)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_bound_leaves_the_steps_beyond_it_outside(walk: Model, depth: int) -> None:
    found = native_graph(walk, settings=Settings(deadlock=False, limits=Limits(depth=depth)))
    assert len(found.graph.level_starts) == depth + 1
    assert found.graph.expanded == found.graph.states
    assert_as_interpreted(walk, found)


def test_a_search_that_ends_at_a_level_has_a_frontier_with_bits(walk: Model) -> None:
    of_states = atoms_of(walk)
    found = native_graph(walk, of_states, settings=Settings(deadlock=False, limits=Limits(states=5)))
    assert 0 < found.graph.expanded == found.graph.level_starts[-2] < found.graph.states
    assert_as_interpreted(walk, found, of_states)


def test_a_search_that_finds_a_violation_has_the_graph_so_far(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "INVARIANT BelowTwo")
    found = native_graph(model)
    assert (found.graph.states, found.graph.expanded) == (3, 2)
    assert_as_interpreted(model, found)


def test_a_level_whose_graph_does_not_fit_into_memory_is_left_out(walk: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [0, 0, 1 << 60]
    monkeypatch.setattr(GraphRecorder, "more_bytes", property(lambda recorder: wanted.pop(0)))
    found = native_graph(walk, settings=Settings(deadlock=False, limits=Limits(memory_bytes=1 << 50)))
    assert found.outcome.stopped is Bound.MEMORY
    assert len(found.graph.level_starts) == 3
    assert found.graph.expanded == found.graph.level_starts[1]
    assert_as_interpreted(walk, found)


def three_threads(**settings: Any) -> Settings:
    """Small chunks and batches, so that all threads have work."""
    return Settings(deadlock=False, threads=3, chunk_rows=2, batch=4, table_slots=8, block_words=1 << 8, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_threads_and_small_buffers_make_no_difference(tmp_path: Path, seed: int) -> None:
    model = model_of(tmp_path, WALK, "CONSTANT Size = 20 CONSTRAINT NotInTheMiddle")
    of_states, of_steps = atoms_of(model), step_atoms_of(model)
    alone = native_graph(model, of_states, of_steps)
    together = native_graph(model, of_states, of_steps, settings=three_threads(schedule_seed=seed))
    assert_equal(alone.graph, together.graph)


def test_parts_of_a_level_are_put_together_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(tmp_path, WALK, "CONSTANT Size = 20")
    alone = native_graph(model, atoms_of(model))
    monkeypatch.setattr("kmc.engine.behaviour_graph.recorder._PART_STATES", 3)
    assert_equal(alone.graph, native_graph(model, atoms_of(model), settings=three_threads()).graph)


@pytest.mark.parametrize("bits", [64, 128])
def test_a_graph_that_is_saved_and_read_back_is_the_same(
    walk: Model, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    saved: list[np.ndarray] = []
    right = GraphRecorder.graph

    def saving(recorder: GraphRecorder) -> BehaviourGraph:
        for level in range(len(recorder._starts) - 1):
            saved.extend(recorder.words_of_level(level))
        return right(recorder)

    monkeypatch.setattr(graph_recorder, "_PART_STATES", 3)
    monkeypatch.setattr(GraphRecorder, "graph", saving)
    of_states, of_steps = atoms_of(walk), step_atoms_of(walk)
    found = native_graph(walk, of_states, of_steps, fingerprint_bits=bits)
    monkeypatch.undo()
    again = GraphRecorder(found.compiled.kernels, len(of_states), len(of_steps))
    again.restore(np.concatenate(saved), len(found.graph.level_starts))
    assert [again.fingerprint(n) for n in range(found.graph.states)] == [
        found.recorder.fingerprint(n) for n in range(found.graph.states)
    ]
    assert_equal(again.graph(), found.graph)


def test_a_model_without_initial_states_inside_has_an_empty_graph(tmp_path: Path) -> None:
    source = COUNTER.replace("return st.n <= 2", "return st.n > 90")
    graph = native_graph(model_of(tmp_path, source, "CONSTRAINT AtMostTwo")).graph
    assert (graph.states, graph.initial, graph.expanded, len(graph.targets)) == (0, 0, 0, 0)
    assert is_well_formed(graph)


def test_bits_are_read_word_by_word() -> None:
    rows = np.array([[1 << 63, 2], [0, 3]], np.uint64)
    assert [bit_of(rows, number).tolist() for number in (63, 64, 65)] == [[True, False], [False, True], [True, True]]
    assert bit_of(np.array([[128]], np.uint8), 7).tolist() == [True]


def test_a_recorder_takes_no_model_whose_states_are_joined(tmp_path: Path) -> None:
    found = native_graph(model_of(tmp_path, COUNTER))
    for reduced in (
        replace(found.compiled.kernels, rank=Address(1)),
        replace(found.compiled.kernels, settle=Address(1)),
    ):
        with pytest.raises(ValueError, match="tell apart"):
            GraphRecorder(reduced)


def test_constraints_of_tokens_are_outside(tmp_path: Path) -> None:
    model = model_of(tmp_path, TOKENS, "CONSTANTS Client = {a, b} Token = {s, t} CONSTRAINT KeepsOneFree")
    found = native_graph(model)
    assert bool((found.graph.targets == OUTSIDE).any())
    assert_as_interpreted(model, found)


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "name", "depth"), [("two_phase_commit", "smoke", 99), ("kip_996", "smoke", 3)])
def test_the_graph_of_a_shipped_model_is_the_interpreters(spec: str, name: str, depth: int) -> None:
    model = replace(shipped_model(spec, name), max_depth=None)
    atoms = tuple(invariant.function for invariant in model.invariants)
    found = native_graph(model, atoms, settings=Settings(deadlock=False, limits=Limits(depth=depth), threads=2))
    assert_as_interpreted(model, found, atoms)


@pytest.mark.golden_large
@pytest.mark.parametrize(
    ("spec", "name", "depth"), [("kip_996", "smoke", 7), ("kraft", "smoke", 99), ("kip_996_draft", "smoke", 99)]
)
def test_the_graph_of_a_large_shipped_model_is_the_interpreters(spec: str, name: str, depth: int) -> None:
    model = replace(shipped_model(spec, name), max_depth=None)
    atoms = tuple(invariant.function for invariant in model.invariants)
    bounds = Limits(depth=depth, states=20_000)
    found = native_graph(model, atoms, settings=Settings(deadlock=False, limits=bounds, threads=2))
    assert_as_interpreted(model, found, atoms)
    alone = native_graph(model, atoms, settings=Settings(deadlock=False, limits=bounds))
    assert_equal(alone.graph, found.graph)


def test_a_loop_for_another_search_is_another_code() -> None:
    plain, noting = (Specialization(edges=edges) for edges in (False, True))
    assert compiled_loops.work_loop(plain).key != compiled_loops.work_loop(noting).key
