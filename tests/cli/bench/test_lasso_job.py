"""The measurement of the search for lassos, on a small graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmc.bench import stored_lasso_job
from kmc.bench.lasso_job import INSTANCES, PROPERTIES, main


def test_the_figures_are_of_a_search_that_found_what_there_is(tmp_path: Path) -> None:
    main(["2000", str(tmp_path / "figures.json")])
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert (figures["states"], figures["steps"], figures["instances"]) == (2000, 10_000, INSTANCES)
    ways = figures["ways"]
    assert ways["one property that holds"]["violated"] == ways["the same with one instance"]["violated"] == [False]
    assert ways["ten properties that hold"]["violated"] == [False] * PROPERTIES
    violated = ways["ten properties that are violated"]
    assert violated["violated"] == [True] * PROPERTIES
    assert violated["lasso"] == ways["one property that is violated"]["lasso"]
    assert len(violated["lasso"]) == 2


@pytest.mark.slow
def test_the_figures_of_a_graph_in_files_are_those_of_a_search_that_found_what_there_is(tmp_path: Path) -> None:
    answer = tmp_path / "figures.json"
    stored_lasso_job.main(["2000", "100000", str(answer)])
    figures = json.loads(answer.read_text(encoding="utf-8"))
    assert (figures["states"], figures["steps"], figures["instances"]) == (2000, 10_000, INSTANCES)
    assert figures["ways"]["one property that holds"]["lasso"] is None
    assert len(figures["ways"]["one property that is violated"]["lasso"]) == 2
    assert list(tmp_path.iterdir()) == [answer]
