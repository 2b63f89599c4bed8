"""With all parts off kip_642 is kraft: TLC's counts of the golden cases, per action, and the edges of random walks."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from support.oracles.bisimulation import relation_of
from support.specs.golden import GoldenCase, golden_cases, outcome

from kmc.actions.relation import NextStateRelation
from kmc.engine.check_model import check_native
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue
from kmc.lang.order import sort_key
from kmc.lang.records import Record
from kmc.reference.states.initial import initial_states
from kmc.result import Limits

ADDED = {"assignment", "applied", "mcluster", "mvoter", "plan", "connected", "crashed", "counters", "observes"}
"""The fields that one of the specs adds, which never change with all parts off: `observes` is kraft's."""

FAST, SLOW = "kraft-7", "kraft-3"
"""A whole graph, and a violation; the other cases run with `make golden`."""


def _marks(case: GoldenCase) -> Any:
    return () if case.id == FAST else pytest.mark.slow if case.id == SLOW else pytest.mark.golden_large


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id, marks=_marks(case)) for case in golden_cases("kraft")])
def test_a_golden_case_of_kraft_has_its_counts(case: GoldenCase) -> None:
    result = check_native(replace(case, spec="kip_642").model(), Limits(), threads=2)
    assert outcome(result, case.expect) == case.expect


def in_kraft(value: Any) -> Any:
    """A value of either spec, by names and without the added fields."""
    if isinstance(value, Record):
        fields = tuple((name, in_kraft(part)) for name, part in value.items() if name not in ADDED)
        return type(value).__name__, fields
    if isinstance(value, MapValue):
        return frozenset((in_kraft(key), in_kraft(item)) for key, item in value.items())
    if isinstance(value, MessageBagValue):
        return frozenset((in_kraft(message), count) for message, count in value.counts())
    if isinstance(value, frozenset):
        return frozenset(map(in_kraft, value))
    return tuple(map(in_kraft, value)) if isinstance(value, tuple) else sort_key(value)


def steps_of(relation: NextStateRelation, state: Any) -> dict[tuple[str, Any], list[Any]]:
    """The successors of a state, by label and by what they are in kraft."""
    found: dict[tuple[str, Any], list[Any]] = {}
    for action, arguments, successor in relation.steps(state):
        found.setdefault((action.label(arguments), in_kraft(successor)), []).append(successor)
    return found


def walk_together(case: GoldenCase, seed: int, steps: int) -> Counter[str]:
    """How often each action was compared along a random behaviour that both specs take."""
    models = (case.model(), replace(case, spec="kip_642").model())
    relations = [relation_of(model) for model in models]
    states = [next(iter(initial_states(model))) for model in models]
    rng, met = random.Random(seed), Counter[str]()
    for _ in range(steps):
        assert in_kraft(states[0]) == in_kraft(states[1])
        ours, theirs = (steps_of(relation, state) for relation, state in zip(relations, states, strict=True))
        assert {key: len(found) for key, found in ours.items()} == {key: len(found) for key, found in theirs.items()}
        met.update(label.partition("(")[0] for label, _ in ours)
        if not ours:
            break
        by_action: dict[str, list[Any]] = {}
        for key in ours:
            by_action.setdefault(key[0].partition("(")[0], []).append(key)
        chosen = rng.choice(sorted(by_action[rng.choice(sorted(by_action))], key=repr))
        states = [ours[chosen][0], theirs[chosen][0]]
    return met


@pytest.mark.slow
def test_random_behaviours_have_the_edges_of_kraft() -> None:
    case = next(case for case in golden_cases("kraft") if case.id == "kraft-8")
    met = sum((walk_together(case, seed, 30) for seed in range(12)), Counter[str]())
    assert len(met) >= 11


def test_a_field_that_changes_without_its_part_is_noticed() -> None:
    """The comparison sees a value that kraft does not have."""
    case = next(case for case in golden_cases("kraft") if case.id == "kraft-8")
    state = next(iter(initial_states(replace(case, spec="kip_642").model())))
    server = next(iter(state.servers))
    other = state.set(servers=state.servers.set(server, state.servers[server].set(current_epoch=2)))
    assert in_kraft(state) != in_kraft(other)
