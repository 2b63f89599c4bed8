"""A search in shards makes the behaviour graph of memory, whatever its shards, tasks and processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.oracles.behaviour_graphs import native_graph
from support.runs.sharded_graphs import TINY, sharded_search, unequal_fields
from support.specs.small import COUNTER, TOKENS, model_of

from kmc.engine.layout.search_outcome import Settings
from kmc.engine.loops.behaviour_log import DROPPED
from kmc.errors import InternalError, KmcError
from kmc.frontend.model import Model
from kmc.invariants.properties import Predicate
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph
from kmc.result import Limits
from kmc.shards.graph import graph_maker, part_tasks
from kmc.shards.graph.graph_maker import GraphMaker, Levels
from kmc.shards.level.sharding import Sharding

WALK = """
class State(Record):
    x: Int(0, 4)
    y: Int(0, 4)


@spec.init
def init():
    yield State(x=0, y=0)
    yield State(x=4, y=4)


@spec.action
def go_right(st):
    if st.x < 4:
        yield st.set(x=st.x + 1)


@spec.action
def go_anywhere(st, y: Int(0, 4)):
    if st.y != 3:
        yield st.set(y=y)


@spec.action
def reflect(st):
    if st.y != 3:
        yield st.set(x=4 - st.x)
        yield st.set(x=st.x)


@spec.action(next=False)
def leap(st, by: Int(1, 2)):
    if st.x + by <= 4:
        yield st.set(x=st.x + by)


@spec.action(next=False)
def stay(st):
    yield st


@spec.constraint
def NotInTheMiddle(st):
    return (st.x, st.y) != (1, 1)


@spec.action_constraint
def NeverBackToTheStart(st, nxt):
    return nxt.x != 0 or nxt.y != 0


@spec.invariant
def IsLeft(st):
    return st.x < 2


@spec.invariant
def IsAtTheEnd(st):
    return st.y == 3


@spec.action_property
def GoesRight(st, new):
    return new.x > st.x


@spec.action_property
def MeetsX(st, new):
    return new.y == st.x
"""
"""Steps that several actions allow, self-steps, steps beside Next, states without a successor, a constraint."""


def atoms_of(model: Model) -> dict[str, Any]:
    """The invariants and action properties of the walk."""
    functions = {name: prop.function for name, prop in model.spec.properties.items() if isinstance(prop, Predicate)}
    return {
        "of_states": [functions[name] for name in ("IsLeft", "IsAtTheEnd")],
        "of_steps": [functions[name] for name in ("GoesRight", "MeetsX")],
    }


@pytest.fixture
def walk(tmp_path: Path) -> Model:
    return model_of(
        tmp_path, WALK, "CONSTRAINT NotInTheMiddle ACTION_CONSTRAINT NeverBackToTheStart CHECK_DEADLOCK FALSE"
    )


def graphs(
    model: Model, folder: Path, sharding: Sharding = TINY, processes: int | None = None, **given: Any
) -> tuple[BehaviourGraph, BehaviourGraph, list[Any]]:
    """The graph of memory, that of a search in shards, and the fingerprints of all states by each."""
    found = native_graph(model, **given)
    with sharded_search(model, folder, sharding=sharding, processes=processes, **given) as (_, maker):
        graph = maker.graph()
        fingerprints = [(found.recorder.fingerprint(n), maker.fingerprint(n)) for n in range(graph.states)]
    return found.graph, graph, fingerprints


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("bits", [64, pytest.param(128, marks=pytest.mark.golden_large)])
@pytest.mark.parametrize("has_atoms", [True, False])
def test_states_steps_and_atoms_are_those_of_memory(
    walk: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int, has_atoms: bool
) -> None:
    atoms = atoms_of(walk) if has_atoms else {}
    for sharding, size in ((TINY, 1 << 15), (replace(TINY, shards=3), 2), (Sharding(1), 1 << 15)):
        monkeypatch.setattr(graph_maker, "PART_STATES", size)
        monkeypatch.setattr(graph_maker, "_RANGE_STATES", size)
        first, second, fingerprints = graphs(walk, tmp_path, sharding, fingerprint_bits=bits, **atoms)
        assert unequal_fields(first, second) == []
        assert first.states > 15
        assert all(one == other for one, other in fingerprints)


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("limits", [Limits(depth=1), Limits(depth=2), Limits(states=5)])
def test_a_bound_leaves_the_same_graph(walk: Model, tmp_path: Path, limits: Limits) -> None:
    settings = Settings(deadlock=False, limits=limits)
    first, second, _ = graphs(walk, tmp_path, settings=settings, **atoms_of(walk))
    assert unequal_fields(first, second) == []
    assert first.states < 20


def test_a_model_without_initial_states_inside_has_an_empty_graph(tmp_path: Path) -> None:
    source = COUNTER.replace("return st.n <= 2", "return st.n > 90")
    first, second, _ = graphs(model_of(tmp_path, source, "CONSTRAINT AtMostTwo"), tmp_path)
    assert unequal_fields(first, second) == []
    assert first.states == 0


@pytest.mark.slow
def test_processes_note_what_threads_do(tmp_path: Path) -> None:
    model = model_of(tmp_path, TOKENS, "CONSTANTS Client = {a, b} Token = {s, t} CONSTRAINT KeepsOneFree")
    first, second, _ = graphs(model, tmp_path, processes=2)
    assert unequal_fields(first, second) == []


@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
def test_a_run_that_goes_on_in_other_shards_has_the_same_graph(walk: Model, tmp_path: Path) -> None:
    wanted = native_graph(walk, **atoms_of(walk)).graph
    for depth, shards in ((2, 4), (3, 1), (None, 3)):
        settings = Settings(deadlock=False, limits=Limits(depth=depth))
        ways = replace(TINY, shards=shards)
        with sharded_search(walk, tmp_path, settings=settings, sharding=ways, keep=True, **atoms_of(walk)) as (
            _,
            maker,
        ):
            graph = maker.graph()
    assert unequal_fields(wanted, graph) == []


def without_steps(levels: Levels) -> Levels:
    second = levels.noted[1]
    less = replace(second, steps=second.steps[1:])
    return replace(levels, noted=(levels.noted[0], less, *levels.noted[2:]))


def without_states(levels: Levels) -> Levels:
    second = levels.noted[1]
    return replace(levels, noted=(levels.noted[0], replace(second, found=second.found[1:]), *levels.noted[2:]))


def without_atoms(levels: Levels) -> Levels:
    second = levels.noted[1]
    return replace(levels, noted=(levels.noted[0], replace(second, states=()), *levels.noted[2:]))


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("less", [without_steps, without_states, without_atoms])
def test_a_file_that_is_left_out_is_missed(walk: Model, tmp_path: Path, less: Any) -> None:
    with sharded_search(walk, tmp_path, **atoms_of(walk)) as (_, maker):
        maker._levels = less(maker._levels)
        with pytest.raises(InternalError) as raised:
            maker.graph()
    assert raised.value.code == "KMC931"


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("kind", ["found", "states", "sources", "steps"])
def test_a_file_that_is_lost_or_damaged_is_one_clear_error(walk: Model, tmp_path: Path, kind: str) -> None:
    damages: tuple[Callable[[Path], object], ...] = (
        lambda file: file.unlink(),
        lambda file: file.write_bytes(bytes(len(file.read_bytes()))),
    )
    for damage in damages:
        with sharded_search(walk, tmp_path, **atoms_of(walk)) as (_, maker):
            damage(max(tmp_path.rglob(f"{kind}-*"), key=lambda file: file.stat().st_size))
            with pytest.raises(KmcError) as raised:
                maker.graph()
        assert raised.value.code == "KMC551"


@pytest.mark.usefixtures("compiled_once")
def test_the_files_of_the_graph_go_with_the_search(walk: Model, tmp_path: Path) -> None:
    with sharded_search(walk, tmp_path) as (search, maker):
        maker.graph()
        before = set(search._store.names())
        search.close()
        assert {name.split("-")[0] for name in before - set(search._store.names())} == {"known", "graph"}


def off_by_one(patch: pytest.MonkeyPatch) -> None:
    numbered = part_tasks.TellTask._numbered

    def shifted(self: Any, store: Any, part: Any) -> Any:
        rows = numbered(self, store, part)
        rows[:, -1] += 1
        return rows

    patch.setattr(part_tasks.TellTask, "_numbered", shifted)


def without_self_steps(patch: pytest.MonkeyPatch) -> None:
    targets = part_tasks._targets

    def outside(noted: Any, width: int, *given: Any) -> Any:
        found = targets(noted, width, *given)
        return np.where(noted.steps[:, width] & DROPPED != 0, np.int64(OUTSIDE), found)

    patch.setattr(part_tasks, "_targets", outside)


def with_a_range_of_levels(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GraphMaker, "_starts", property(lambda self: (0, sum(self._levels.counts))))


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("fault", [off_by_one, without_self_steps, with_a_range_of_levels])
def test_a_fault_in_the_graph_is_seen(walk: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    fault(monkeypatch)
    first, second, _ = graphs(walk, tmp_path)
    assert unequal_fields(first, second) != []
