"""Random graphs, fairness and queries, and the lassos that answer them by trying all."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from kmc.liveness.lasso_queries import (
    AllStates,
    AllSteps,
    AndSteps,
    AtomHolds,
    Changing,
    FairnessCondition,
    From,
    HasStep,
    Labelled,
    LassoQuery,
    NotStates,
    NotSteps,
    OrStates,
    Phase,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lasso_check import how_met, phase_entries
from kmc.reference.temporal.lassos import Path

ATOMS = 3
LABELS = 4


def random_behaviours(random: Random, states: int) -> Behaviours:
    """A graph over 0, 1, ...; atom n holds in random states, and some steps lead out of the graph."""
    inside = states
    outside = random.choice([0, 0, 1])
    expanded = random.choice([inside, inside, inside - 1])
    chosen = [frozenset(s for s in range(states) if random.random() < 0.5) for _ in range(ATOMS)]
    steps = []
    for _ in range(expanded):
        targets: dict[int, frozenset[int]] = {}
        for target in range(inside + outside):
            if random.random() < 1.6 / states:
                targets[target] = frozenset(random.sample(range(LABELS), random.choice([1, 1, 2])))
        steps.append(targets)
    atoms = tuple((lambda state, members=members: state in members) for members in chosen)
    numbers: Any = range(inside + outside)
    return Behaviours(TemporalProblem(atoms, (), (), ()), numbers, inside, steps)


def random_states(random: Random) -> StateSet:
    """A set of states."""
    atom = AtomHolds(random.randrange(ATOMS))
    kinds: list[StateSet] = [atom, atom, NotStates(atom), OrStates((atom, NotStates(AtomHolds(0))))]
    return random.choice([*kinds, HasStep(AndSteps((Changing(), random_labels(random))))])


def random_labels(random: Random) -> Labelled:
    """The steps with some labels."""
    return Labelled(frozenset(random.sample(range(LABELS), random.choice([1, 2]))))


def random_steps(random: Random) -> StepSet:
    """A set of steps."""
    kinds: list[StepSet] = [AllSteps(), NotSteps(random_labels(random)), From(AtomHolds(0)), random_labels(random)]
    return random.choice(kinds)


def random_fairness(random: Random) -> tuple[FairnessCondition, ...]:
    """None to three conditions."""
    return tuple(
        FairnessCondition(f"F{n}", "F", random.random() < 0.5, AndSteps((Changing(), random_labels(random))))
        for n in range(random.randrange(4))
    )


def random_query(random: Random) -> LassoQuery:
    """One to three phases with conditions."""

    def some(states: float) -> StateSet:
        return random_states(random) if random.random() < states else AllStates()

    def steps(chance: float) -> StepSet:
        return random_steps(random) if random.random() < chance else AllSteps()

    phases = tuple(Phase(some(0.5), some(0.4), steps(0.2), steps(0.2)) for _ in range(random.choice([1, 1, 2, 2, 3])))
    recurrences = tuple(
        random.choice([Recurrence(states=random_states(random)), Recurrence(steps=random_labels(random))])
        for _ in range(random.choice([0, 0, 1]))
    )
    responses = tuple(
        Response(random_states(random), Recurrence(random_states(random), random_labels(random)))
        for _ in range(random.choice([0, 0, 1]))
    )
    return LassoQuery(phases, recurrences, responses)


def all_paths(behaviours: Behaviours, initial: int, length: int) -> Iterator[tuple[int, ...]]:
    """All paths of expanded states with so many states."""
    paths: list[tuple[int, ...]] = [(state,) for state in range(min(initial, behaviours.expanded))]
    for _ in range(length - 1):
        paths = [
            (*path, target)
            for path in paths
            for target in behaviours.successors(path[-1])
            if target < behaviours.expanded
        ]
    yield from paths


def answering_lassos(
    behaviours: Behaviours,
    initial: int,
    query: LassoQuery,
    fairness: tuple[FairnessCondition, ...],
    length: int,
    *,
    begun: bool,
) -> Iterator[Path]:
    """All fair lassos with so many states that answer a query; with `begun`, the last phase begins before the cycle."""
    for states in all_paths(behaviours, initial, length):
        for begin in range(length):
            path = Path(states[:begin], states[begin:])
            closes = len(path.cycle) == 1 or states[begin] in behaviours.successors(states[-1])
            fair = all(how_met(behaviours, path, condition) is not None for condition in fairness)
            if begun and phase_entries(behaviours, Path((*path.stem, path.cycle[0]), ()), query) is None:
                continue
            if closes and fair and phase_entries(behaviours, path, query) is not None:
                yield path
