"""A native check gives one result on 1 to 4 threads, run after run: counts, coverage, verdict and the very trace.

Specs with every kind of property and reduction, searched in tiny pieces by threads that wait for each other as chance
says. That the result is the interpreter's is held in test_native_results.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import CASES, TINY, told
from support.specs.small import BALLOT, model_of

from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.search.breadth_first import Search
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.reference.states.initial import initial_states
from kmc.result import Limits, Result

THREADS = (1, 2, 3, 4)


def results(model: Model, limits: Limits, seeds: tuple[int, ...], **options: Any) -> list[Result]:
    """Results on each number of threads, with each seed for what threads wait."""
    return [
        check_native(model, limits, threads=threads, settings=replace(TINY, schedule_seed=seed), **options)
        for threads in THREADS
        for seed in seeds
    ]


def assert_same(found: list[Result]) -> dict[str, Any]:
    """What all results say."""
    first, *others = map(told, found)
    for other in others:
        assert other == first
    return first


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_small_spec_has_the_same_result_in_every_run(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    assert_same(results(model, case.limits or Limits(), (len(name),), keep_going=case.keep_going))


FOUR = "CONSTANT Server = {n1, n2, n3, n4}"
LATE = """

@spec.invariant
def Early(st):
    return st.total < 4 or len(st.voted) < 3


@spec.invariant
def EarlyEnough(st):
    return st.total < 5 or len(st.voted) < 3


@spec.action_property
def SmallerSteps(st, nxt):
    return nxt.total < st.total + 2 or len(st.voted) < 3 or st.total < 2
"""
"""Properties that first fail where levels are wide."""

MANY = {
    "states": (f"{FOUR} CONSTRAINT Small INVARIANT Early", 252),
    "steps": (f"{FOUR} CONSTRAINT Small PROPERTY SmallerSteps", 288),
    "orbits": (f"{FOUR} SYMMETRY servers INVARIANT EarlyEnough", 153),
    "views": (f"{FOUR} VIEW forgetful INVARIANT Early", 42),
}


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_of_many_failures_at_one_depth_every_run_reports_the_same(name: str, tmp_path: Path) -> None:
    cfg, findings = MANY[name]
    model = model_of(tmp_path, BALLOT + LATE, cfg)
    compiled = compile_model(model)
    initial = [compiled.record(state) for state in initial_states(model)]
    assert len(Search(compiled.kernels, initial, Settings()).run().findings) == findings
    assert_same(results(model, Limits(), (1,)))


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
def test_a_shipped_model_with_symmetry_has_the_same_result_in_every_run() -> None:
    root = find_spec_root("kraft")
    file = find_model(root, "two_elections")
    assert file is not None
    model = bind(root, file)
    found = [
        check_native(model, Limits(depth=10), threads=threads, settings=replace(TINY, schedule_seed=seed))
        for threads in THREADS
        for seed in (1, 2)
    ]
    assert len(assert_same(found)["levels"]) == 10
