"""With symmetry a check reports the failure that it reports without, and its trace shows it, on every engine.

A failure lies in an orbit: several states, several steps, of which some do not fail, because they change nothing or
lead to another permutation. What must be found is worked out by brute force over single states (`orbit_specs`), where
no orbit is. Drawn specs are full of steps that stutter or exchange symmetric members, and of action properties that
are false of a stuttering step, such as `[][ctr' > ctr]_vars`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.drawing.orbit_specs import BruteForce, OrbitSpec, orbit_spec, reported
from support.oracles.results import TINY, told
from support.specs.small import model_of

from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.reference.states.replay import check_violation
from kmc.result import Limits, Result
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

DRAWN = st.randoms(use_true_random=True).map(orbit_spec)

MANY, FEW = settings().max_examples * 2, settings().max_examples // 8
"""How many specs the interpreter checks, and all engines: 80 and 5; with `make fuzz` 4,000 and 250."""


def on_every_engine(model: Model, folder: Path) -> Iterator[tuple[str, Result]]:
    """The results of both engines, and of searches in one and in three shards."""
    yield "interpreter", Search(model, view_order=fingerprint_order).run()
    yield "native", check_native(model, Limits(), settings=TINY)
    for shards in (1, 3):
        directory = RunDirectory.created(folder, {})
        yield (
            f"{shards} shards",
            check_native(model, Limits(), directory=directory, search_of=sharded(Sharding(shards))),
        )
        directory.discard()


def both(drawn: OrbitSpec, folder: Path) -> tuple[Model, Model]:
    """The model of a drawn spec, and the same without symmetry."""
    model = model_of(folder, drawn.source, f"{drawn.cfg} {drawn.reduced}")
    return model, replace(model, symmetry=())


def assert_reports(result: Result, wanted: BruteForce, plain: Model) -> None:
    """The failure is the one that brute force finds, and the trace is one of the model without symmetry."""
    assert reported(result) == wanted.least_failure()
    assert set(result.unreached) == {goal.name for goal in plain.reachable} - wanted.reached
    violation = result.violation
    if violation is None:
        return
    check_violation(plain, violation)
    if violation.is_step:
        before, last = (step.state for step in violation.trace.steps[-2:])
        assert (violation.name, before, last) in wanted.steps


@pytest.mark.hypothesis
@pytest.mark.slow
def test_a_random_spec_fails_with_symmetry_as_it_does_without() -> None:
    shown: Counter[str | None] = Counter()

    @settings(max_examples=MANY)
    @given(DRAWN)
    def compare(drawn: OrbitSpec) -> None:
        note(str(drawn))
        with TemporaryDirectory() as folder:
            model, plain = both(drawn, Path(folder))
            wanted = BruteForce(plain)
            for one in (plain, model):
                assert_reports(Search(one).run(), wanted, plain)
            least = wanted.least_failure()
            shown[least and (least[1] or least[0].value)] += 1

    compare()
    assert {None, "Step", "Other", "Inv", "deadlock"} <= set(shown)


@pytest.mark.hypothesis
@pytest.mark.slow
@settings(max_examples=FEW)
@given(DRAWN)
def test_a_random_spec_fails_alike_with_symmetry_on_every_engine(drawn: OrbitSpec) -> None:
    note(str(drawn))
    with TemporaryDirectory() as folder:
        model, plain = both(drawn, Path(folder))
        wanted, first = BruteForce(plain), None
        for engine, result in on_every_engine(model, Path(folder)):
            assert_reports(result, wanted, plain)
            first = first or told(result)
            assert told(result) == first, engine


@pytest.mark.hypothesis
@pytest.mark.slow
@settings(max_examples=FEW)
@given(DRAWN, st.randoms(use_true_random=True))
def test_a_random_spec_fails_alike_from_any_state_and_under_a_view(drawn: OrbitSpec, chance: Random) -> None:
    """A view merges states that differ, so no brute force over single states says what it reports."""
    note(str(drawn))
    with TemporaryDirectory() as folder:
        reductions = f"{drawn.reduced} {chance.choice(['', 'VIEW without_low', 'VIEW without_low'])}"
        model = model_of(Path(folder), drawn.source, f"{drawn.cfg} {reductions}")
        search = Search(model, view_order=fingerprint_order)
        search.run()
        start = chance.choice(search.graph.states)
        limits = Limits(depth=chance.choice([None, 2, 3]))
        wanted = Search(model, limits, start=start, view_order=fingerprint_order).run()
        assert told(check_native(model, limits, start=start, settings=TINY)) == told(wanted)


HELD = """
Server = constant("Server", IdentSet(symmetric=True), "Who")


class State(Record):
    token: Server
    count: Int(0, 2)
    low: Opt[Int(0, 2)]


@spec.init
def init():
    for s in Server:
        yield State(token=s, count=0, low=None)


@spec.action
def move(st, s: Server):
    if st.count < 2:
        yield st.set(token=s)


@spec.action
def rise(st, s: Server):
    if st.count < 2:
        yield st.set(count=st.count + 1, token=s)


spec.symmetry("servers", Server)
spec.view("without_token", drop=["token"])


@spec.action_property
def Rises(st, nxt):
    return nxt.count > st.count


@spec.action_property
def Changes(st, nxt):
    return nxt != st


@spec.action_property
def KeepsTheToken(st, nxt):
    return nxt.token == st.token


@spec.action_property
def HasALow(st, nxt):
    return (nxt != st or st.low + 1 > 0) and nxt.count > st.count


@spec.action_property
def NotToOne(st, nxt):
    return nxt.count != 1 or nxt.token == st.token


@spec.invariant
def NotOne(st):
    return st.count != 1


@spec.invariant
def LowIsThere(st):
    return st.count < 1 or st.low + 1 > 0


@spec.constraint
def Zero(st):
    return st.count == 0


@spec.action_constraint
def Moves(st, nxt):
    return nxt.token != st.token
"""
"""The token moves to any server, also to its holder: a step that changes nothing."""

SHAPES = {
    "a property that is false of stuttering": ("PROPERTY Rises", ("violation", "Rises", 2)),
    "a property that is false of stuttering alone": ("PROPERTY Changes", ("deadlock", None, 3)),
    "a property of symmetric values": ("PROPERTY KeepsTheToken", ("violation", "KeepsTheToken", 2)),
    "a property without a value for stuttering": ("PROPERTY HasALow", ("violation", "HasALow", 2)),
    "a step out of the constraint": ("PROPERTY NotToOne CONSTRAINT Zero", ("violation", "NotToOne", 2)),
    "a step that an action constraint refuses": ("PROPERTY Rises ACTION_CONSTRAINT Moves", ("violation", "Rises", 2)),
    "a state out of the constraint": ("INVARIANT NotOne CONSTRAINT Zero", ("violation", "NotOne", 2)),
    "a state without a value": ("INVARIANT LowIsThere CONSTRAINT Zero", ("error", None, 2)),
    "two properties": ("PROPERTIES NotToOne Rises", ("violation", "NotToOne", 2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", SHAPES)
def test_each_shape_of_a_failure_in_an_orbit_is_reported(title: str, tmp_path: Path) -> None:
    rest, wanted = SHAPES[title]
    viewed = model_of(tmp_path, HELD, f"CONSTANT Server = {{s1, s2}} SYMMETRY servers VIEW without_token {rest}")
    symmetric = replace(viewed, view=None)
    plain = replace(symmetric, symmetry=())
    for model in (plain, symmetric):
        for engine, result in on_every_engine(model, tmp_path):
            found = reported(result)
            assert found is not None
            assert (found[0].value, *found[1:]) == wanted, engine
            assert result.violation is not None
            check_violation(plain, result.violation)
    results = [told(result) for _, result in on_every_engine(viewed, tmp_path)]
    assert results == results[:1] * len(results)
