"""What can and cannot happen in a state, beside the next-state relation."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of

from kmc.actions.relation import NextStateRelation
from kmc.explorer.python_specs.moves import moves_of
from kmc.frontend.model import Model
from kmc.reference.states.initial import initial_states


def relation_of(model: Model) -> NextStateRelation:
    spec = model.spec
    return NextStateRelation(spec.actions, spec.state_class, spec.files)


@pytest.mark.parametrize(
    ("spec", "name"), [("kraft", "smoke"), ("kip_996", "smoke"), ("two_phase_commit", "smoke"), ("die_hard", "smoke")]
)
def test_enabled_and_disabled_instances_are_all_instances_on_random_walks(spec: str, name: str) -> None:
    model = shipped_model(spec, name)
    relation, chance = relation_of(model), random.Random(15)
    for _ in range(3):
        state = initial_states(model)[0]
        for _ in range(20):
            moves = moves_of(relation, state)
            steps = Counter(relation.steps(state))
            told = Counter({(m.instance.action, m.instance.arguments, m.step.state): 0 for m in moves.enabled})
            for move in moves.enabled:
                told[move.instance.action, move.instance.arguments, move.step.state] += move.ways
            assert told == steps
            enabled = {(m.instance.action.title, m.instance.arguments, m.instance.message) for m in moves.enabled}
            disabled = {(i.action.title, i.arguments, i.message) for i in moves.disabled}
            every = [(i.action.title, i.arguments, i.message) for i in relation.instances(state)]
            assert not enabled & disabled
            assert enabled | disabled == set(every)
            assert len(every) == len(set(every))
            if not moves.enabled:
                break
            state = chance.choice(moves.enabled).step.state


def test_the_order_of_moves_depends_on_values_only() -> None:
    model = shipped_model("kip_996", "smoke")
    state = initial_states(model)[0]
    for _ in range(4):
        moves = moves_of(relation_of(model), state)
        again = moves_of(relation_of(model), state)
        assert [m.step for m in moves.enabled] == [m.step for m in again.enabled]
        state = moves.enabled[-1].step.state


FAILS = (
    COUNTER
    + """

@spec.action
def jump(st):
    assert st.n != 1
    yield st.set(n=st.n + 200)
"""
)


def test_an_instance_that_fails_is_told_with_its_error_and_the_others_stay(tmp_path: Path) -> None:
    model = model_of(tmp_path, FAILS)
    moves = moves_of(relation_of(model), initial_states(model)[0])
    assert [m.step.label for m in moves.enabled] == ["Increase"]
    ((instance, error),) = moves.failing
    assert instance.action.title == "Jump"
    assert error.span is not None
    assert "n" in error.message
