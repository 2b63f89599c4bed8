"""Random small graphs and random questions about lassos in them, for comparison with the obvious search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from support.oracles.lassos import Pair, SmallGraph, is_answer, least_length

from kmc.engine.lassos.search import LassoSearch
from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.problem import Lasso

LABELS = 5
ATOMS = 3


def random_graph(random: Random, *, busy: bool = False) -> SmallGraph:
    """A graph of at most eight states, all of them reached, numbered in the order of a breadth-first search.

    In a busy one every state has a step, mostly of one action.
    """
    count = random.randint(3 if busy else 1, 8)
    moves: dict[tuple[int, int], frozenset[int]] = {}
    for number in range(random.randint(count, 2 * count) if busy else random.randint(0, 3 * count)):
        pair = number if number < count and busy else random.randrange(count), random.randrange(count)
        moves[pair] = _some(random, LABELS, 1 if random.random() < (0.9 if busy else 0.7) else 2)
    initial = random.randint(1, min(3, count))
    order = list(range(initial))
    expanded = 0
    expanded_max = count if random.random() < 0.7 else random.randint(0, count)
    while expanded < min(len(order), expanded_max):
        order += sorted({t for s, t in moves if s == order[expanded]} - set(order))
        expanded += 1
    numbers = {state: number for number, state in enumerate(order)}
    pairs = [
        Pair(numbers[s], numbers[t], labels, _some(random, ATOMS, random.randint(0, 2)))
        for (s, t), labels in moves.items()
        if numbers.get(s, expanded) < expanded
    ]
    for state in range(expanded):
        dropped = _some(random, LABELS, random.randint(1, 2)) if random.random() < 0.15 else ()
        pairs += [Pair(state, None, frozenset({label}), _some(random, ATOMS, 1)) for label in sorted(dropped)]
    atoms = tuple(_some(random, ATOMS, random.randint(0, ATOMS)) for _ in order)
    return SmallGraph(len(order), initial, expanded, atoms, tuple(pairs))


def _some(random: Random, count: int, most: int) -> frozenset[int]:
    return frozenset(random.randrange(count) for _ in range(most))


def random_states(random: Random, depth: int = 2) -> q.StateSet:
    """A set of states."""
    if depth == 0 or random.random() < 0.4:
        plain: list[q.StateSet] = [q.AtomHolds(random.randrange(ATOMS)), q.AllStates()]
        return random.choice(plain)
    inner = depth - 1
    match random.randrange(4):
        case 0:
            return q.NotStates(random_states(random, inner))
        case 1:
            return q.AndStates(tuple(random_states(random, inner) for _ in range(random.randint(0, 2))))
        case 2:
            return q.OrStates(tuple(random_states(random, inner) for _ in range(random.randint(0, 2))))
        case _:
            return q.HasStep(random_steps(random, inner))


def random_steps(random: Random, depth: int = 2) -> q.StepSet:
    """A set of steps."""
    if depth == 0 or random.random() < 0.4:
        labelled = q.Labelled(_some(random, LABELS, 2))
        plain: list[q.StepSet] = [labelled, q.StepAtomHolds(random.randrange(ATOMS)), q.Changing(), q.AllSteps()]
        return random.choice(plain)
    inner = depth - 1
    match random.randrange(5):
        case 0:
            return q.NotSteps(random_steps(random, inner))
        case 1:
            return q.AndSteps(tuple(random_steps(random, inner) for _ in range(random.randint(0, 2))))
        case 2:
            return q.OrSteps(tuple(random_steps(random, inner) for _ in range(random.randint(0, 2))))
        case 3:
            return q.From(random_states(random, inner))
        case _:
            return q.Into(random_states(random, inner))


def random_fairness(random: Random) -> tuple[q.FairnessCondition, ...]:
    """Weak and strong fairness of actions and groups of actions, seldom with a subscript of its own."""
    found = []
    for number in range(random.choice([0, 1, 1, 2, 3, 4])):
        steps: q.StepSet = q.AndSteps((q.Labelled(_some(random, LABELS, random.randint(1, 2))), q.Changing()))
        if random.random() < 0.2:
            steps = q.AndSteps((steps, random_steps(random, 1)))
        elif random.random() < 0.2:
            either = q.OrSteps(tuple(q.Labelled(_some(random, LABELS, 1)) for _ in range(2)))
            changing: list[q.StepSet] = [q.Changing(), q.AndSteps((either, q.Changing()))]
            steps = random.choice(changing)
        found.append(q.FairnessCondition(f"F{number}", "F", random.random() < 0.5, steps))
    return tuple(found)


def busy_fairness(random: Random) -> tuple[q.FairnessCondition, ...]:
    """Weak fairness of all steps, which excludes most stuttering, and strong fairness of a few actions."""
    strong = [q.AndSteps((q.Labelled(frozenset({label})), q.Changing())) for label in _some(random, LABELS, 3)]
    conditions = [q.FairnessCondition(f"SF{n}", "SF", True, steps) for n, steps in enumerate(strong)]
    return (q.FairnessCondition("WF", "WF", False, q.Changing()), *conditions)


def random_recurrence(random: Random) -> q.Recurrence:
    """States, steps, or both."""
    states = random_states(random) if random.random() < 0.7 else q.NO_STATES
    steps = random_steps(random) if random.random() < 0.5 else q.NO_STEPS
    return q.Recurrence(states, steps)


def random_query(random: Random) -> q.LassoQuery:
    """One to three phases, of which each is restricted in some way, and a few conditions."""

    def phase() -> q.Phase:
        drawn = [random_states(random) if random.random() < 0.4 else q.AllStates() for _ in range(2)]
        steps = [random_steps(random) if random.random() < 0.2 else q.AllSteps() for _ in range(2)]
        return q.Phase(drawn[0], drawn[1], steps[0], steps[1])

    phases = tuple(phase() for _ in range(random.choice([1, 1, 2, 2, 3])))
    recurrences = tuple(random_recurrence(random) for _ in range(random.choice([0, 0, 1, 2])))
    responses = tuple(
        q.Response(random_states(random), random_recurrence(random)) for _ in range(random.choice([0, 0, 1, 2]))
    )
    return q.LassoQuery(phases, recurrences, responses)


class Finder(Protocol):
    """A search of one graph."""

    def find(self, check: q.TemporalCheck) -> Lasso | None:
        """The lasso that it finds."""


def disagreement(
    search_of: Callable[[BehaviourGraph, Sequence[q.FairnessCondition]], Finder],
    seed: int,
    graphs: int,
    *,
    least: bool = True,
) -> tuple[str | None, int]:
    """Where a search first differs from the obvious one in verdict, lasso or least length; how many lassos it found."""
    random = Random(seed)
    found = 0
    for number in range(graphs):
        busy = random.random() < 0.4
        graph = random_graph(random, busy=busy)
        fairness = busy_fairness(random) if busy else random_fairness(random)
        search = search_of(graph.as_arrays(), fairness)
        for _ in range(3):
            query = random_query(random) if random.random() < 0.6 or not busy else q.LassoQuery((q.Phase(),))
            lasso = search.find(q.TemporalCheck("P", "", (query,)))
            length = least_length(graph, fairness, query)
            about = f"seed {seed}, graph {number}: {graph}\n{fairness}\n{query}\n{lasso}, {length}"
            if (lasso is None) != (length is None):
                return about, found
            if lasso is not None:
                found += 1
                is_least = not least or len(lasso.stem) + len(lasso.cycle) == length
                if not is_least or not is_answer(graph, fairness, query, lasso):
                    return about, found
    return None, found


def disagreement_on_verdicts(seed: int, graphs: int) -> tuple[str | None, int]:
    """Where a search first differs from the obvious one in whether there is a lasso; how many questions have one.

    Some of the queries are told before, others are not.
    """
    random = Random(seed)
    found = 0
    for number in range(graphs):
        busy = random.random() < 0.4
        graph = random_graph(random, busy=busy)
        fairness = busy_fairness(random) if busy else random_fairness(random)
        queries = [random_query(random) if random.random() < 0.6 else q.LassoQuery((q.Phase(),)) for _ in range(3)]
        expected = q.TemporalCheck("P", "", tuple(queries[: random.randrange(4)]))
        search = LassoSearch(graph.as_arrays(), fairness, [expected])
        for query in queries:
            length = least_length(graph, fairness, query)
            if search.has_lasso(query) != (length is not None):
                return f"seed {seed}, graph {number}: {graph}\n{fairness}\n{expected}\n{query}", found
            found += length is not None
    return None, found
