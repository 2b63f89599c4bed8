"""Faults planted in the search of a graph in files are caught by the comparison with the obvious search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.drawing.lassos import disagreement
from support.runs.graph_parts import searches_in

from kmc.shards.graph import condition_words, graph_rounds, graph_rows, graph_tasks
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.stored_components import StoredComponents

GRAPHS = 40
NOTHING_FITS = 0

Patch = pytest.MonkeyPatch


Caught = Callable[[int], bool]


@pytest.fixture
def is_caught(tmp_path: Path) -> Caught:
    """Whether the comparison tells that something is wrong, on the random graphs of a seed."""

    def caught(seed: int) -> bool:
        try:
            return disagreement(searches_in(tmp_path, NOTHING_FITS, 2), seed, GRAPHS, least=False)[0] is not None
        except (AssertionError, StopIteration):
            return True

    return caught


def test_trimming_removes_too_much(monkeypatch: Patch, is_caught: Caught) -> None:
    right = GraphRounds.sources

    def without_one(rounds: GraphRounds, within: Any, *asked: Any) -> Any:
        found = right(rounds, within, *asked)
        found[found.argmax()] = False
        return found

    monkeypatch.setattr(GraphRounds, "sources", without_one)
    assert is_caught(0)


def test_a_recurrence_is_forgotten(monkeypatch: Patch, is_caught: Caught) -> None:
    right = condition_words.masks_of
    monkeypatch.setattr(graph_tasks, "masks_of", lambda sets, conditions: right(sets, conditions[1:]))
    assert is_caught(0)


def test_a_part_is_lost(monkeypatch: Patch, is_caught: Caught) -> None:
    right = GraphRounds.parts_of
    monkeypatch.setattr(GraphRounds, "parts_of", lambda rounds, states: right(rounds, states)[:2])
    assert is_caught(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reached", "reaching"])
def test_rounds_end_early(monkeypatch: Patch, is_caught: Caught, name: str) -> None:
    def one_round(rounds: GraphRounds, start: Any, within: Any, steps: Any) -> Any:
        start = start & within
        if name == "reaching":
            return start | rounds.sources(within, steps, start)
        return start | rounds.targets(start, within, steps)

    monkeypatch.setattr(GraphRounds, name, one_round)
    assert is_caught(0)


def test_levels_end_early(monkeypatch: Patch, is_caught: Caught) -> None:
    right = graph_rounds.StoredDistances._advance
    monkeypatch.setattr(
        graph_rounds.StoredDistances, "_advance", lambda levels: levels._end if levels._begin else right(levels)
    )
    assert is_caught(0)


@pytest.mark.slow
def test_a_component_without_strong_fairness_is_discarded_whole(monkeypatch: Patch, is_caught: Caught) -> None:
    monkeypatch.setattr(
        graph_tasks.TriggerTask, "run", lambda task, store: graph_rows.packed(np.ones(task.part.file.end, np.bool_))
    )
    assert is_caught(0)


@pytest.mark.slow
def test_strong_fairness_is_not_refined(monkeypatch: Patch, is_caught: Caught) -> None:
    right = StoredComponents._bad_triggers

    def none(components: StoredComponents, has: Any) -> Any:
        bad = right(components, has)
        return replace(bad, of_steps=bad.of_steps * np.uint64(0), of_states=bad.of_states * np.uint64(0))

    monkeypatch.setattr(StoredComponents, "_bad_triggers", none)
    assert is_caught(2)


def test_a_step_out_of_the_part_is_not_followed(monkeypatch: Patch, is_caught: Caught) -> None:
    right = graph_tasks._allowed

    def inside(part: Any, store: Any, rows: Any, steps: Any) -> Any:
        targets = rows.part.targets
        return right(part, store, rows, steps) & (targets >= part.file.first) & (targets < part.file.end)

    monkeypatch.setattr(graph_tasks, "_allowed", inside)
    assert is_caught(0)


@pytest.mark.slow
def test_where_a_step_leads_is_looked_up_in_the_part(monkeypatch: Patch, is_caught: Caught) -> None:
    monkeypatch.setattr(GraphRounds, "known", lambda rounds: {})
    monkeypatch.setattr(
        "kmc.shards.graph.graph_rows.RowSets._are_in",
        lambda rows, states, numbers, sets: np.zeros(len(numbers), np.bool_),
    )
    assert is_caught(3)
