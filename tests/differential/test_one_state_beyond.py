"""A bound that cuts one state is a bound, in every engine; one that cuts none is not, and says nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import ExitStatus
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.result import Bound, Limits, Result
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

DIAMOND = """
Longest = constant("Longest", Int(0, 9), "The largest sum that is stored", 9)


class State(Record):
    n: Int(0, 1)
    m: Int(0, 1)
    steps: Int(0, 2)


@spec.init
def init():
    yield State(n=0, m=0, steps=0)


@spec.action
def right(st):
    if st.n == 0:
        yield st.set(n=1, steps=st.steps + 1)


@spec.action
def up(st):
    if st.m == 0:
        yield st.set(m=1, steps=st.steps + 1)


@spec.constraint
def IsShort(st):
    return st.n + st.m <= Longest


spec.view("WithoutSteps", drop=["steps"])
"""
"""Levels of one, two and one states; two steps lead to the last one."""

Engine = Callable[[Model, Limits, Path], Result]


def interpreted(model: Model, limits: Limits, folder: Path) -> Result:
    return Search(model, limits, view_order=fingerprint_order).run()


def native(threads: int, bits: int) -> Engine:
    return lambda model, limits, folder: check_native(model, limits, threads=threads, fingerprint_bits=bits)


def in_shards(shards: int, bits: int) -> Engine:
    def search(model: Model, limits: Limits, folder: Path) -> Result:
        directory = RunDirectory.created(folder, {})
        search_of = sharded(Sharding(shards))
        result = check_native(model, limits, fingerprint_bits=bits, directory=directory, search_of=search_of)
        directory.discard()
        return result

    return search


ENGINES: dict[str, Engine] = {
    "interpreter": interpreted,
    "one thread": native(1, 64),
    "two threads, 128 bits": native(2, 128),
    "one shard": in_shards(1, 64),
    "three shards, 128 bits": in_shards(3, 128),
}

BOUNDS: tuple[tuple[Limits, Bound | None, tuple[int, ...]], ...] = (
    (Limits(depth=2), Bound.DEPTH, (1, 2)),
    (Limits(depth=3), None, (1, 2, 1)),
    (Limits(states=3), Bound.STATES, (1, 2)),
    (Limits(states=4), Bound.STATES, (1, 2, 1)),
    (Limits(states=5), None, (1, 2, 1)),
)
"""Limits, the bound that is named, and the levels that are counted."""


def ended(result: Result) -> tuple[Bound | None, tuple[int, ...], ExitStatus]:
    return result.bound, result.levels, result.exit_status()


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("view", ["", "VIEW WithoutSteps"])
def test_one_state_that_is_cut_is_enough(view: str, tmp_path: Path) -> None:
    model = model_of(tmp_path / "spec", DIAMOND, f"CHECK_DEADLOCK FALSE {view}")
    for limits, bound, levels in BOUNDS:
        status = ExitStatus.OK if bound is None else ExitStatus.BOUND_REACHED
        for name, engine in ENGINES.items():
            assert ended(engine(model, limits, tmp_path)) == (bound, levels, status), (name, limits)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_a_state_outside_of_a_constraint_is_not_cut_by_the_bound(tmp_path: Path) -> None:
    cfg = "CHECK_DEADLOCK FALSE CONSTANT Longest = 1 CONSTRAINT IsShort"
    model = model_of(tmp_path / "spec", DIAMOND, cfg)
    for name, engine in ENGINES.items():
        assert ended(engine(model, Limits(depth=2), tmp_path)) == (None, (1, 2), ExitStatus.OK), name
