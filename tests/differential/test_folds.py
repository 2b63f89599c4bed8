"""Folds with drawn functions: compiled code gives what a loop over the elements gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.result import Limits

WORLD = """
from kmc.lang import fold


class State(Record):
    n: Int(-3, 6)
    up: Bool
    log: Seq[Int(0, 3), 3]
    seen: Set[Int(0, 3)]


@spec.init
def init():
    yield State(n=0, up=True, log=[], seen=set())


@spec.action
def grow(st):
    require(len(st.log) < 3)
    for k in range(0, 4):
        yield st.set(log=st.log.append(k), n=k - 3, seen=st.seen | {k}, up=not st.up)
"""
NUMBERS = ("so_far + k", "k - so_far", "max(so_far, k)", "so_far if k > so_far else k", "so_far * 2 - k", "k", "so_far")
SETS = ("so_far | {k % 4}", "so_far - {k % 4}", "so_far if k > 1 else {k % 4}", "{j for j in so_far if j != k}")
TRUTHS = ("so_far != (k > 1)", "so_far and k < 3", "k in st.seen or not so_far")
ELEMENTS = (
    "st.log",
    "range(0, len(st.log))",
    "range(st.n, 3)",
    "range(3, st.n, -2)",
    "[j // 2 for j in st.log]",
    "[1, 0]",
)


def folds(chance: random.Random) -> list[str]:
    """Conditions about folds: of numbers, sets, truths and pairs of them."""
    drawn = []
    for _ in range(4):
        elements = chance.choice(ELEMENTS)
        number, other = chance.choice(NUMBERS), chance.choice(NUMBERS)
        drawn += [
            f"fold(lambda so_far, k: {number}, st.n, {elements}) > {chance.randint(-3, 5)}",
            f"len(fold(lambda so_far, k: {chance.choice(SETS)}, st.seen, {elements})) > {chance.randint(0, 3)}",
            f"fold(lambda so_far, k: {chance.choice(TRUTHS)}, st.up, {elements})",
            f"fold(lambda so_far, k: fold(lambda so_far, k: {number}, so_far, [k, 2]), 1, {elements}) == 3",
            f"both_of(st, {elements}, lambda so_far, k: {number}, lambda so_far, k: {other})",
        ]
    return drawn


BOTH = """


def both_of(st, elements, one, other):
    def further(so_far, k):
        first, second = so_far
        return one(first, k), other(second, first)

    first, second = fold(further, (0, st.n), elements)
    return first < second
"""


@pytest.mark.parametrize("seed", range(2))
def test_a_fold_gives_what_its_loop_gives(tmp_path: Path, seed: int) -> None:
    conditions = folds(random.Random(seed))
    goals = [f"\n\n@spec.reachable\ndef goal_{n}(st):\n    return {text}\n" for n, text in enumerate(conditions)]
    model = model_of(tmp_path, WORLD + BOTH + "".join(goals))
    states = level_states(model, Limits(), at_most=40, seed=seed)
    assert list(differences(kernels_of(model), states))[:2] == []
