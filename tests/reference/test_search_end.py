"""The rule of where a search ends, told level by level and afterwards, and what it makes a check report."""

from __future__ import annotations

from functools import partial
from itertools import product
from operator import eq

import pytest

from kmc.reference.search_end import SearchEnd, refuting_end, reported_verdict, search_end
from kmc.result import Bound, Trace, Verdict, Violation

LEVELS = (None, 1, 2, 3, 4, 5)
FAILED = Violation(Verdict.DEADLOCK, None, Trace(()))


def level_by_level(levels: int, failed_at: int | None, refuted_at: int | None) -> tuple[SearchEnd, int]:
    """Why and where a search of so many levels ends that looks for failures and refutations in each."""
    for made in range(1, levels + 2):
        end = search_end(
            keep_going=False,
            has_states=made <= levels,
            has_failed=failed_at == made,
            is_refuted=partial(eq, refuted_at, made),
        )
        if end is not None:
            return end, made
    raise AssertionError("a level without states is the last one")


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_afterwards_a_search_is_known_to_end_where_it_ends_level_by_level(levels: int) -> None:
    ends = set()
    for failed_at, refuted_at in product(LEVELS, repeat=2):
        end, made = level_by_level(levels, failed_at, refuted_at)
        wanted = made if end is SearchEnd.REFUTATION else None
        assert refuting_end(levels, failed_at, refuted_at) == wanted, (failed_at, refuted_at)
        ends.add(end)
    assert ends == set(SearchEnd)


@pytest.mark.parametrize(
    ("has_states", "has_failed", "is_refuted", "end"),
    [
        (True, False, False, None),
        (True, False, True, SearchEnd.REFUTATION),
        (True, True, False, SearchEnd.FAILURE),
        (True, True, True, SearchEnd.FAILURE),
        (False, True, True, SearchEnd.NO_STATES),
    ],
)
def test_a_failure_comes_before_a_refutation(
    has_states: bool, has_failed: bool, is_refuted: bool, end: SearchEnd | None
) -> None:
    given = {"has_states": has_states, "has_failed": has_failed}
    assert search_end(keep_going=False, is_refuted=lambda: is_refuted, **given) is end
    assert search_end(keep_going=True, is_refuted=lambda: is_refuted, **given) is (None if has_states else end)


def test_a_refutation_is_asked_for_only_where_it_can_end_the_search() -> None:
    def asked() -> bool:
        raise AssertionError("the answer is not needed")

    for keep_going, has_states, has_failed in product([False, True], repeat=3):
        if keep_going or has_failed or not has_states:
            search_end(keep_going=keep_going, has_states=has_states, has_failed=has_failed, is_refuted=asked)


@pytest.mark.parametrize("bound", [None, Bound.TIME])
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_violation_is_reported_whatever_stopped_the_search(interrupted: bool, bound: Bound | None) -> None:
    assert reported_verdict(FAILED, interrupted=interrupted, bound=bound) is Verdict.DEADLOCK
    without = Verdict.INTERRUPTED if interrupted else Verdict.OK if bound is None else Verdict.BOUND_REACHED
    assert reported_verdict(None, interrupted=interrupted, bound=bound) is without
