"""The interpreter's search for lassos against all lassos of small random graphs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from support.oracles.interpreted_lassos import (
    all_paths,
    answering_lassos,
    random_behaviours,
    random_fairness,
    random_query,
)

from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, Phase
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lasso_check import how_met, phase_entries
from kmc.reference.temporal.lassos import ObviousLassos, Path
from kmc.reference.temporal.verdicts import begun_in_the_cycle

LENGTH_MAX = 7


def least_by_trial(
    behaviours: Behaviours,
    initial: int,
    query: LassoQuery,
    fairness: tuple[FairnessCondition, ...],
    *,
    begun: bool = True,
) -> Path | None:
    """The least of all lassos with at most LENGTH_MAX states: fewest states, one that stutters, shortest stem."""
    for length in range(1, LENGTH_MAX + 1):
        found = list(answering_lassos(behaviours, initial, query, fairness, length, begun=begun))
        if found:
            return min(found, key=lambda path: (len(path.cycle) > 1, len(path.stem)))
    return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_least_lasso_is_found(seed: int) -> None:
    random = Random(seed)
    found = 0
    for _ in range(60):
        behaviours = random_behaviours(random, random.choice([2, 3, 4, 5]))
        initial = random.choice([1, 1, 2])
        query, fairness = random_query(random), random_fairness(random)
        least = ObviousLassos(behaviours, initial, query).least(fairness)
        wanted = least_by_trial(behaviours, initial, query, fairness)
        if wanted is None:
            assert least is None or len(least) > LENGTH_MAX
            continue
        found += 1
        assert least is not None
        assert (len(least), len(least.stem)) == (len(wanted), len(wanted.stem))
        assert phase_entries(behaviours, least, query) is not None
        assert all(how_met(behaviours, least, fair) for fair in fairness)
    assert found > 10


@pytest.mark.slow
def test_a_lasso_whose_last_phase_begins_in_the_cycle_is_found() -> None:
    random = Random(3)
    shorter = 0
    for _ in range(400):
        behaviours = random_behaviours(random, random.choice([3, 4, 5]))
        drawn, fairness = random_query(random), random_fairness(random)
        last = drawn.phases[-1]
        alike = replace(last, enters_at=drawn.phases[0].enters_at)
        query = replace(drawn, phases=(random.choice([Phase(), Phase(drawn.phases[0].enters_at), alike]), last))
        others = begun_in_the_cycle(query)
        assert others
        found = [ObviousLassos(behaviours, 1, each).least(fairness) for each in (query, *others)]
        lengths = [len(path) for path in found if path is not None]
        wanted = least_by_trial(behaviours, 1, query, fairness, begun=False)
        if wanted is None:
            assert all(length > LENGTH_MAX for length in lengths)
            continue
        assert min(lengths) == len(wanted)
        shorter += found[0] is None or len(found[0]) > min(lengths)
    assert shorter > 5


def test_the_shortest_prefix_is_found() -> None:
    random = Random(5)
    found = 0
    for _ in range(150):
        behaviours = random_behaviours(random, random.choice([3, 4, 5]))
        query = random_query(random)
        prefix = ObviousLassos(behaviours, 1, query).shortest_prefix()
        lengths = [
            length
            for length in range(1, 6)
            if any(phase_entries(behaviours, Path(path, ()), query) for path in all_paths(behaviours, 1, length))
        ]
        if prefix is None:
            assert lengths == []
        elif lengths:
            found += 1
            assert len(prefix) == lengths[0]
            assert phase_entries(behaviours, prefix, query) is not None
    assert found > 20
