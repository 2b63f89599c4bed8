"""Lassos by definition, on graphs of a few states: sets of states and pairs, and a search of all closed walks.

Shares nothing with the engine but the questions and the form of a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph
from kmc.liveness.problem import Lasso

Visit = tuple[str, int]


@dataclass(frozen=True)
class Pair:
    """Two states and what holds of them; `target` None: a constraint dropped it."""

    source: int
    target: int | None
    labels: frozenset[int]
    atoms: frozenset[int]


Node = TypeVar("Node")


@dataclass(frozen=True)
class SmallGraph:
    """A behaviour graph as sets. Atoms are the numbers of the predicates that hold."""

    states: int
    initial: int
    expanded: int
    atoms: tuple[frozenset[int], ...]
    pairs: tuple[Pair, ...]

    def moves(self, state: int) -> list[tuple[Pair, int]]:
        """The pairs that change the state and stay in the graph, with their targets."""
        return [
            (pair, pair.target)
            for pair in self.pairs
            if pair.source == state and pair.target is not None and pair.target != state
        ]

    def in_states(self, wanted: q.StateSet, state: int) -> bool:
        """Whether a state is in a set."""
        match wanted:
            case q.AtomHolds(number):
                return number in self.atoms[state]
            case q.HasStep(steps):
                return any(pair.source == state and self.in_steps(steps, pair) for pair in self.pairs)
            case q.AllStates():
                return True
            case q.NotStates(inner):
                return not self.in_states(inner, state)
            case q.AndStates(parts):
                return all(self.in_states(part, state) for part in parts)
            case q.OrStates(parts):
                return any(self.in_states(part, state) for part in parts)

    def in_steps(self, wanted: q.StepSet, pair: Pair) -> bool:
        """Whether a pair is in a set."""
        match wanted:
            case q.Labelled(labels):
                return bool(labels & pair.labels)
            case q.StepAtomHolds(number):
                return number in pair.atoms
            case q.Changing():
                return pair.source != pair.target
            case q.From(states):
                return self.in_states(states, pair.source)
            case q.Into(states):
                return pair.target is not None and self.in_states(states, pair.target)
            case q.AllSteps():
                return True
            case q.NotSteps(inner):
                return not self.in_steps(inner, pair)
            case q.AndSteps(parts):
                return all(self.in_steps(part, pair) for part in parts)
            case q.OrSteps(parts):
                return any(self.in_steps(part, pair) for part in parts)

    def as_arrays(self) -> BehaviourGraph:
        """The same graph as arrays. Its states are numbered in the order of a breadth-first search."""
        rows = sorted(
            (pair.source, int(OUTSIDE) if pair.target is None else pair.target, label, _bits(pair.atoms))
            for pair in self.pairs
            for label in pair.labels
        )
        degrees = np.bincount([row[0] for row in rows], minlength=self.states) if rows else np.zeros(self.states, int)
        return BehaviourGraph(
            level_starts=np.array([0, self.initial, self.states], np.int64),
            expanded=self.expanded,
            offsets=np.concatenate(([0], np.cumsum(degrees))).astype(np.int64),
            targets=np.array([row[1] for row in rows], np.uint32),
            labels=np.array([row[2] for row in rows], np.uint16),
            state_bits=np.array([[_bits(atoms)] for atoms in self.atoms], np.uint64),
            step_bits=np.array([[row[3]] for row in rows], np.uint64).reshape(-1, 1),
        )


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _visits(graph: SmallGraph, conditions: Sequence[q.Recurrence | q.Response], state: int) -> frozenset[Visit]:
    """What a cycle has by visiting a state: its conditions met there, and triggered there."""
    found = set()
    for number, condition in enumerate(conditions):
        answer = condition if isinstance(condition, q.Recurrence) else condition.answer
        if graph.in_states(answer.states, state):
            found.add(("met", number))
        if isinstance(condition, q.Response) and graph.in_states(condition.trigger, state):
            found.add(("triggered", number))
    return frozenset(found)


def _taken(graph: SmallGraph, conditions: Sequence[q.Recurrence | q.Response], pair: Pair) -> frozenset[Visit]:
    answers = [each if isinstance(each, q.Recurrence) else each.answer for each in conditions]
    return frozenset(("met", number) for number, each in enumerate(answers) if graph.in_steps(each.steps, pair))


def _are_met(conditions: Sequence[q.Recurrence | q.Response], seen: frozenset[Visit]) -> bool:
    return all(
        ("met", number) in seen or (isinstance(each, q.Response) and ("triggered", number) not in seen)
        for number, each in enumerate(conditions)
    )


def _breadth_first(start: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> dict[Node, int]:
    distances = dict.fromkeys(start, 0)
    level = list(distances)
    while level:
        found = []
        for node in level:
            for target in following(node):
                if target not in distances:
                    distances[target] = distances[node] + 1
                    found.append(target)
        level = found
    return distances


def _stems(graph: SmallGraph, phases: Sequence[q.Phase]) -> dict[int, int]:
    """How many steps lead to each state of the last phase that is reached."""

    def may_begin(phase: q.Phase, state: int) -> bool:
        return graph.in_states(phase.enters_at, state) and graph.in_states(phase.states, state)

    def following(node: tuple[int, int]) -> Iterable[tuple[int, int]]:
        number, state = node
        for pair, target in graph.moves(state):
            phase = phases[number]
            if graph.in_steps(phase.steps, pair) and graph.in_states(phase.states, target):
                yield number, target
            if number + 1 < len(phases):
                phase = phases[number + 1]
                if graph.in_steps(phase.entered_by, pair) and may_begin(phase, target):
                    yield number + 1, target

    start = [(0, state) for state in range(graph.initial) if may_begin(phases[0], state)]
    distances = _breadth_first(start, following)
    return {state: distance for (number, state), distance in distances.items() if number == len(phases) - 1}


def least_length(graph: SmallGraph, fairness: Sequence[q.FairnessCondition], query: q.LassoQuery) -> int | None:
    """How many positions the least lasso has that answers a query and is fair; None if there is none."""
    conditions = [*(each.condition for each in fairness), *query.recurrences, *query.responses]
    last = query.phases[-1]
    visits = [_visits(graph, conditions, state) for state in range(graph.states)]
    moves = [
        [
            (target, _taken(graph, conditions, pair))
            for pair, target in graph.moves(state)
            if graph.in_steps(last.steps, pair) and graph.in_states(last.states, target)
        ]
        for state in range(graph.states)
    ]
    lengths = []
    for state, distance in _stems(graph, query.phases).items():
        if state >= graph.expanded:
            continue
        if _are_met(conditions, visits[state]):
            lengths.append(distance + 1)
        walks = _breadth_first(
            [(state, visits[state], False)],
            lambda node: ((to, node[1] | made | visits[to], True) for to, made in moves[node[0]]),
        )
        lengths += [
            distance + steps
            for (end, seen, moved), steps in walks.items()
            if moved and end == state and _are_met(conditions, seen)
        ]
    return min(lengths, default=None)


def is_answer(graph: SmallGraph, fairness: Sequence[q.FairnessCondition], query: q.LassoQuery, lasso: Lasso) -> bool:
    """Whether a lasso is made of steps with these labels, goes through the phases, and meets every condition."""
    states = [*lasso.stem, *lasso.cycle]
    ways = list(zip(states, [*states[1:], *([] if lasso.stutters else [lasso.cycle[0]])], strict=False))
    if len(ways) != len(lasso.labels) or states[0] >= graph.initial or max(states) >= graph.expanded:
        return False
    pairs = [pair for s, t in ways for pair in [p for p, target in graph.moves(s) if target == t][:1]]
    if len(pairs) < len(ways):
        return False
    if any(label not in pair.labels for pair, label in zip(pairs, lasso.labels, strict=True)):
        return False
    conditions = [*(each.condition for each in fairness), *query.recurrences, *query.responses]
    seen = frozenset().union(*(_visits(graph, conditions, state) for state in lasso.cycle))
    around = [] if lasso.stutters else pairs[len(lasso.stem) :]
    seen = seen.union(*(_taken(graph, conditions, pair) for pair in around))
    return _are_met(conditions, seen) and _goes_through(graph, query.phases, states, pairs, len(lasso.stem))


def _goes_through(
    graph: SmallGraph, phases: Sequence[q.Phase], states: Sequence[int], pairs: Sequence[Pair], back_to: int
) -> bool:
    """Whether there are places where one phase may begin after another, the last one before the cycle."""

    def fits(place: int, number: int) -> bool:
        phase = phases[number]
        if not graph.in_states(phase.states, states[place]):
            return False
        if number == len(phases) - 1 and place == back_to:
            cycle = all(graph.in_states(phase.states, state) for state in states[back_to:])
            return cycle and all(graph.in_steps(phase.steps, pair) for pair in pairs[back_to:])
        if place >= back_to:
            return False
        stays = graph.in_steps(phase.steps, pairs[place]) and fits(place + 1, number)
        return stays or (number + 1 < len(phases) and begins(place + 1, number + 1))

    def begins(place: int, number: int) -> bool:
        phase = phases[number]
        entered = number == 0 or graph.in_steps(phase.entered_by, pairs[place - 1])
        return entered and graph.in_states(phase.enters_at, states[place]) and fits(place, number)

    return begins(0, 0)


def least_end(graph: SmallGraph, fairness: Sequence[q.FairnessCondition], query: q.LassoQuery) -> int | None:
    """How many steps lead to the nearest state where whatever follows answers a query, or else stuttering does."""
    conditions = [*(each.condition for each in fairness), *query.recurrences, *query.responses]
    ends = (
        distance
        for state, distance in _stems(graph, query.phases).items()
        if query.is_of_prefixes or _are_met(conditions, _visits(graph, conditions, state))
    )
    return min(ends, default=None)
