"""TLC's golden cases of temporal properties, their graphs in files: verdicts and lassos are those of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.oracles.behaviour_graphs import native_graph
from support.runs.graph_parts import searches_in
from support.specs.temporal import LivenessCase, liveness_cases

from kmc.engine.lassos.search import LassoSearch
from kmc.reference.temporal.accepted_problem import accepted_problem

IN_THE_SUITE = {"d57_nested_scc", "d78_long_stem"}
"""`make golden` runs the others."""

ALL_FITS = 1 << 30
LITTLE_FITS = 40
"""Bytes for each state: fewer than a state with its steps takes."""

PARTS = 5


def _when(case: LivenessCase) -> Any:
    return pytest.mark.slow if case.id in IN_THE_SUITE else pytest.mark.golden_large


WITH_A_GRAPH = [pytest.param(case, id=case.id, marks=_when(case)) for case in liveness_cases() if case.graph]


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("case", WITH_A_GRAPH)
def test_a_golden_case_has_the_lassos_of_memory(case: LivenessCase, tmp_path: Path) -> None:
    model = case.model()
    problem = accepted_problem(model)
    assert problem is not None
    graph = native_graph(model, problem.atoms, problem.step_atoms).graph
    memory = LassoSearch(graph, problem.fairness)
    for room in (ALL_FITS, LITTLE_FITS * graph.states):
        search = searches_in(tmp_path, room, graph.states // PARTS + 1)(graph, problem.fairness)
        for check in problem.checks:
            wanted, found = memory.find(check), search.find(check)
            assert found == wanted if room == ALL_FITS else (found is None) == (wanted is None)
            assert any(map(search.has_lasso, check.queries)) is (wanted is not None)
