"""The behaviour graph of a model by the interpreter, as sets, beside the one that the native engine makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kmc.actions.action import instances_of
from kmc.actions.relation import NextStateRelation
from kmc.compiler.model_kernels import Atoms, all_actions
from kmc.engine.behaviour_graph.recorder import GraphRecorder
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.search.breadth_first import Search
from kmc.frontend.model import Model
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph, bit_of
from kmc.reference.states.initial import initial_states


@dataclass(frozen=True)
class NativeGraph:
    """The graph that a native search made, and what can name its states."""

    compiled: CompiledModel
    recorder: GraphRecorder
    graph: BehaviourGraph
    outcome: SearchOutcome
    search: Search


def native_graph(
    model: Model,
    of_states: Sequence[Callable[..., bool]] = (),
    of_steps: Sequence[Callable[..., bool]] = (),
    settings: Settings | None = None,
    fingerprint_bits: int = 64,
) -> NativeGraph:
    """Search a model without symmetry and view, noting its graph."""
    compiled = compile_model(model, fingerprint_bits, Atoms(tuple(of_states), tuple(of_steps)))
    instances = instances_of(all_actions(model))
    apart = np.array([action not in model.spec.actions for action, _ in instances], np.int64)
    recorder = GraphRecorder(compiled.kernels, len(of_states), len(of_steps), apart)
    initial = [compiled.record(state) for state in initial_states(model)]
    search = Search(compiled.kernels, initial, settings or Settings(deadlock=False), recorder=recorder)
    outcome = search.run()
    return NativeGraph(compiled, recorder, recorder.graph(), outcome, search)


def fingerprint_of(found: NativeGraph, state: Any) -> tuple[int, ...]:
    """The fingerprint of a state, as the recorder gives it."""
    record = found.compiled.record(state)
    second = [int(record.row[0]) & (1 << 64) - 1] if found.compiled.kernels.wide else []
    return (record.fingerprint, *second)


def differences(
    model: Model,
    found: NativeGraph,
    of_states: Sequence[Callable[..., bool]] = (),
    of_steps: Sequence[Callable[..., bool]] = (),
) -> list[str]:
    """Where the graph is not what the interpreter says: states, levels, numbers, steps, bits."""
    graph = found.graph
    levels = _levels(model, len(graph.level_starts) - 1)
    numbers: dict[Any, int] = {}
    wrong: list[str] = []
    for level, states in enumerate(levels):
        for state in sorted(states, key=lambda state: fingerprint_of(found, state)):
            numbers[state] = len(numbers)
        if len(numbers) != graph.level_starts[level + 1]:
            return [f"level {level} ends at {graph.level_starts[level + 1]}, not {len(numbers)}"]
    for state, number in numbers.items():
        if found.recorder.fingerprint(number) != fingerprint_of(found, state):
            wrong.append(f"{number} is another state")
        held = [bool(bit_of(graph.state_bits, atom)[number]) for atom in range(len(of_states))]
        if held != [function(state) for function in of_states]:
            wrong.append(f"atoms of {number}")
        expected = _steps(model, state, numbers, of_steps) if number < graph.expanded else []
        if _stored(graph, number, len(of_steps)) != expected:
            wrong.append(f"steps of {number}: {_stored(graph, number, len(of_steps))}, not {expected}")
    return wrong


def _relation(model: Model) -> NextStateRelation:
    return NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)


def _is_inside(model: Model, source: Any, state: Any) -> bool:
    if not all(constraint.function(state) for constraint in model.constraints):
        return False
    return source is None or all(constraint.function(source, state) for constraint in model.action_constraints)


def _levels(model: Model, count: int) -> list[list[Any]]:
    relation = _relation(model)
    levels = [[state for state in dict.fromkeys(initial_states(model)) if _is_inside(model, None, state)]]
    known = set(levels[0])
    while len(levels) < count:
        following = {
            successor: None
            for source in levels[-1]
            for *_, successor in relation.steps(source)
            if successor not in known and _is_inside(model, source, successor)
        }
        known |= set(following)
        levels.append(list(following))
    return levels


def _steps(
    model: Model, state: Any, numbers: dict[Any, int], of_steps: Sequence[Callable[..., bool]]
) -> list[tuple[int, int, list[bool]]]:
    labels = {
        (action.name, arguments): label for label, (action, arguments) in enumerate(instances_of(all_actions(model)))
    }
    found = {}
    files, state_class = model.spec.files, model.spec.state_class
    allowed = {successor for *_, successor in _relation(model).steps(state)}
    for action, arguments, successor in NextStateRelation(all_actions(model), state_class, files).steps(state):
        inside = state == successor or (successor in allowed and _is_inside(model, state, successor))
        target = numbers.get(successor, int(OUTSIDE)) if inside else int(OUTSIDE)
        bits = [bool(function(state, successor)) for function in of_steps]
        found[target, labels[action.name, arguments], tuple(bits[::-1])] = bits
    return [(target, label, bits) for (target, label, _), bits in sorted(found.items())]


def _stored(graph: BehaviourGraph, number: int, of_steps: int) -> list[tuple[int, int, list[bool]]]:
    start, end = graph.offsets[number : number + 2].tolist()
    return [
        (
            int(graph.targets[step]),
            int(graph.labels[step]),
            [bool(bit_of(graph.step_bits[step : step + 1], atom)[0]) for atom in range(of_steps)],
        )
        for step in range(start, end)
    ]


def is_well_formed(graph: BehaviourGraph) -> bool:
    """Whether arrays have their sizes and types, and targets are states or outside."""
    starts, offsets = graph.level_starts.tolist(), graph.offsets.tolist()
    return (
        all(before <= after for before, after in pairwise(starts))
        and all(before <= after for before, after in pairwise(offsets))
        and (starts[0], offsets[0]) == (0, 0)
        and len(offsets) == graph.states + 1
        and offsets[graph.expanded] == offsets[-1] == len(graph.targets) == len(graph.labels) == len(graph.step_bits)
        and (graph.targets.dtype, graph.labels.dtype) == (np.dtype(np.uint32), np.dtype(np.uint16))
        and bool(((graph.targets < graph.states) | (graph.targets == OUTSIDE)).all())
        and len(graph.state_bits) == graph.states
    )
