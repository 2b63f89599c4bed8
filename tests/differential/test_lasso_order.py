"""Among equally long counterexamples the promised one is shown, whatever engine is asked and in which order.

The promise stands in `kmc.liveness.lasso_order` and docs/liveness.md: fewest states, one that stutters, the shortest
stem, then the states. It is held beside all lassos of small drawn graphs, each judged by the definition of the formula.
Permuted conjuncts, disjuncts and conditions of fairness change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from support.drawing.formulas import LABELS, RandomFormulas, World, random_world
from support.oracles.lassos import Pair, SmallGraph

from kmc.engine.lassos.number_finder import NumberFinder
from kmc.engine.lassos.search import LassoSearch
from kmc.liveness.formula_text import text_of
from kmc.liveness.formulas import (
    ActionSteps,
    Always,
    And,
    Eventually,
    Fair,
    Formula,
    Iff,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
)
from kmc.liveness.lasso_queries import AndSteps, Changing, FairnessCondition, Labelled, LassoQuery, TemporalCheck
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.negation import negated
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.queries_of_formula import queries_of
from kmc.liveness.temporal_core import TooManyCases
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lassos import Path
from kmc.reference.temporal.verdicts import GraphFinder, begun_in_the_cycle, least_path

SIZE = 4
LENGTH_MAX = 6


@dataclass(frozen=True)
class Asked:
    """A property of a world, whose state 0 is its initial one, with the fairness that is assumed."""

    world: World
    formula: Formula
    fairness: tuple[Fair, ...]

    def __str__(self) -> str:
        return f"{text_of(self.formula)}; {[text_of(fair) for fair in self.fairness]}; {self.world.steps}"


@dataclass(frozen=True)
class Answers:
    """What both engines find: a path that a finite prefix answers, if there is one, else a lasso."""

    queries: tuple[LassoQuery, ...]
    interpreted: Path | None
    native: Path | None

    @property
    def covered(self) -> bool:
        """Whether all lassos are looked at: none begins its last wait in the cycle, and no prefix comes before it."""
        are_of_lassos = not any(query.is_of_prefixes for query in self.queries)
        return are_of_lassos and all(len(query.phases) == 1 or begun_in_the_cycle(query) for query in self.queries)


def reached(world: World) -> World:
    """The states that the first one leads to, numbered as a breadth-first search finds them."""
    order = [0]
    for state in order:
        order += sorted({target for _, target in world.steps[state]} - set(order))
    numbers = {state: number for number, state in enumerate(order)}
    return World([[(label, numbers[target]) for label, target in world.steps[state]] for state in order])


def fairness_of(fair: Fair) -> FairnessCondition:
    """The condition of a search that means the same."""
    assert isinstance(fair.steps, ActionSteps)
    return FairnessCondition("F", "F", fair.strong, AndSteps((Labelled(fair.steps.labels), Changing())))


def answers(asked: Asked) -> Answers | None:
    """What is found; None for a formula of too many cases."""
    predicates = NumberedPredicates()
    try:
        queries = queries_of(negated(asked.formula, predicates))
    except TooManyCases:
        return None
    world, check = asked.world, TemporalCheck("P", "", queries)
    fairness = [fairness_of(fair) for fair in asked.fairness]
    atoms, step_atoms = tuple(predicates.of_states), tuple(predicates.of_steps)
    count, generated = len(world.steps), [world.generated(state) for state in range(len(world.steps))]
    steps = [{target: frozenset(labels) for target, labels in found.items()} for found in generated]
    states: Any = range(count)
    behaviours = Behaviours(TemporalProblem(atoms, step_atoms, (), ()), states, count, steps)
    graph = SmallGraph(
        count,
        1,
        count,
        tuple(frozenset(n for n, atom in enumerate(atoms) if atom(state)) for state in range(count)),
        tuple(
            Pair(state, target, labels, frozenset(n for n, atom in enumerate(step_atoms) if atom(state, target)))
            for state, found in enumerate(steps)
            for target, labels in found.items()
        ),
    )
    # `least_path` needs all of a finder but its `states`, and NumberFinder lacks only those.
    finders: tuple[Any, ...] = (
        GraphFinder(behaviours, 1, fairness),
        NumberFinder(LassoSearch(graph.as_arrays(), fairness)),
    )
    for of_prefixes in (True, False):
        interpreted, native = (least_path(check, finder, of_prefixes=of_prefixes) for finder in finders)
        if interpreted is not None or native is not None or not of_prefixes:
            break
    return Answers(queries, interpreted and interpreted[1], native and native[1])


def least_by_trial(asked: Asked) -> Path | None:
    """The least of all lassos with at most LENGTH_MAX states, by the definition of the formula."""
    for length in range(1, LENGTH_MAX + 1):
        found = [path for path in all_lassos(asked.world, length) if refutes(asked, path)]
        if found:
            return min(found, key=lambda path: (path.rank, path.cycle, path.stem[::-1]))
    return None


def all_lassos(world: World, length: int) -> Iterator[Path]:
    """All lassos with so many states."""
    ways: list[tuple[int, ...]] = [(0,)]
    for _ in range(length - 1):
        ways = [(*way, target) for way in ways for target in world.generated(way[-1]) if target != way[-1]]
    for way in ways:
        for loop in range(length):
            if loop == length - 1 or (way[loop] in world.generated(way[-1]) and way[loop] != way[-1]):
                yield Path(way[:loop], way[loop:])


def refutes(asked: Asked, path: Path) -> bool:
    """Whether a lasso is fair, and the property false of it."""
    states: Any = [*path.stem, *path.cycle]
    behaviour = EndlessBehaviour(states, len(path.stem), asked.world.generated)
    return not behaviour.satisfies(asked.formula) and all(map(behaviour.satisfies, asked.fairness))


def permuted(random: Random, formula: Formula) -> Formula:
    """The formula with its conjuncts and disjuncts in another order."""
    match formula:
        case And(parts) | Or(parts):
            others = [permuted(random, part) for part in parts]
            return replace(formula, parts=tuple(random.sample(others, len(others))))
        case Iff(left, right):
            return Iff(permuted(random, right), permuted(random, left))
        case Implies(premise, conclusion):
            return Or((permuted(random, conclusion), Not(permuted(random, premise))))
        case LeadsTo(premise, goal):
            return LeadsTo(permuted(random, premise), permuted(random, goal))
        case Not(part) | Always(part) | Eventually(part):
            return replace(formula, part=permuted(random, part))
        case _:
            return formula


def drawn(random: Random) -> Asked:
    """A property of a random world; in most of them something must happen wherever something can."""
    world = reached(random_world(random, SIZE))
    while len(world.steps) < SIZE:
        world = reached(random_world(random, SIZE))
    formulas = RandomFormulas(random, len(world.steps))
    parts = [formulas.temporal(random.choice([1, 2, 2, 3])) for _ in range(random.choice([1, 2, 3]))]
    kinds: list[type[And] | type[Or]] = [And, Or]
    kind = random.choice(kinds)
    labels = [
        random.sample(range(LABELS), random.choice([1, LABELS, LABELS])) for _ in range(random.choice([0, 1, 1, 2]))
    ]
    fairness = tuple(Fair(random.random() < 0.3, ActionSteps(frozenset(chosen), "A", "A")) for chosen in labels)
    whole: Formula = kind(tuple(parts))
    return Asked(world, Not(whole) if random.random() < 0.5 else whole, fairness)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_least_of_all_lassos_is_shown_by_both_engines(seed: int) -> None:
    random, ties = Random(seed), 0
    for _ in range(60):
        asked = drawn(random)
        found = answers(asked)
        if found is None:
            continue
        assert (found.interpreted is None) == (found.native is None), asked
        if found.interpreted is None or found.native is None:
            continue
        assert found.interpreted.rank == found.native.rank, asked
        least = least_by_trial(asked)
        if found.covered and least is not None:
            assert found.interpreted == least, asked
            ties += sum(refutes(asked, path) for path in all_lassos(asked.world, len(least))) > 1
    assert ties > 2, "several lassos are equally long"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_conjuncts_and_conditions_changes_the_lasso(seed: int) -> None:
    random, found = Random(seed), 0
    for _ in range(60):
        asked = drawn(random)
        fairness = tuple(random.sample(asked.fairness, len(asked.fairness)))
        other = Asked(asked.world, permuted(random, asked.formula), fairness)
        one, two = answers(asked), answers(other)
        if one is None or two is None:
            continue
        assert (one.interpreted, one.native) == (two.interpreted, two.native), (str(asked), str(other))
        found += one.native is not None
    assert found > 10


def in_state(state: int) -> StatePredicate:
    """The predicate of one state."""
    return StatePredicate(lambda found: found == state)


def world_of(*steps: tuple[int, int]) -> World:
    """A world of steps with one label."""
    size = 1 + max(max(step) for step in steps)
    return World([[(0, target) for source, target in steps if source == state] for state in range(size)])


RUNS = Fair(False, ActionSteps(frozenset({0}), "A", "A"))

NEITHER = (Not(Always(Eventually(in_state(1)))), Not(Eventually(Always(in_state(2)))))
TWO_WAYS = world_of((0, 1), (1, 0), (0, 2))

NAMED: dict[str, tuple[World, Formula, Sequence[Fair], Path]] = {
    "the shortest stem": (
        world_of((0, 1), (1, 2), (2, 0), (2, 1)),
        LeadsTo(in_state(1), in_state(3)),
        (RUNS,),
        Path((), (0, 1, 2)),
    ),
    "stuttering before a cycle": (TWO_WAYS, And(NEITHER), (RUNS,), Path((0,), (2,))),
    "the same in the other order": (TWO_WAYS, And(NEITHER[::-1]), (RUNS,), Path((0,), (2,))),
    "the least state": (TWO_WAYS, And(NEITHER), (), Path((0,), (1,))),
    "the least state in the other order": (TWO_WAYS, And(NEITHER[::-1]), (), Path((0,), (1,))),
}


@pytest.mark.parametrize("title", NAMED)
def test_equally_long_lassos_are_told_apart(title: str) -> None:
    world, formula, fairness, wanted = NAMED[title]
    found = answers(Asked(world, formula, tuple(fairness)))
    assert found is not None
    assert (found.interpreted, found.native) == (wanted, wanted)
