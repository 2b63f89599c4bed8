"""The one rule, for all engines, that decides where a search ends and which finding it reports.

An engine applies it to each level that is whole. The first of these that holds ends the search:

1. The level has no states, so all states have been expanded, or all within the bound.
2. A failure was found while the level was made.
3. The steps to the level refute a temporal property for certain.
4. A limit or Ctrl-C stops the search.

So if one level has both a failure and a refutation, the search reports the failure; otherwise the earlier level wins. A
search that keeps going after a failure skips 2 and 3: it reports its first failure, and a refutation if there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import partial

from kmc.result import Bound, Verdict, Violation


class SearchEnd(Enum):
    """The reason why a search does not expand a level that was made. Limits are the engine's own."""

    NO_STATES = auto()
    FAILURE = auto()
    REFUTATION = auto()


def search_end(
    *, keep_going: bool, has_states: bool, has_failed: bool, is_refuted: Callable[[], bool]
) -> SearchEnd | None:
    """Return why a search ends with a level; None if it goes on to the next one, unless a limit stops it.

    `has_failed` says whether there is a failure by now. `is_refuted` is called only where the answer matters.
    """
    if not has_states:
        return SearchEnd.NO_STATES
    if keep_going:
        return None
    if has_failed:
        return SearchEnd.FAILURE
    return SearchEnd.REFUTATION if is_refuted() else None


def refuting_end(levels: int, failed_at: int | None, refuted_at: int | None) -> int | None:
    """Return the level in which a refutation ends a search that did not look for any; None if none does.

    The search has made `levels` levels with states, which count from 1. The first failure showed when level `failed_at`
    was made, the first refutation when level `refuted_at` was.
    """
    for made in range(1, levels + 1):
        end = search_end(
            keep_going=False,
            has_states=True,
            has_failed=_is_known(failed_at, made),
            is_refuted=partial(_is_known, refuted_at, made),
        )
        if end is not None:
            return made if end is SearchEnd.REFUTATION else None
    return None


def _is_known(since: int | None, made: int) -> bool:
    return since is not None and since <= made


def reported_verdict(violation: Violation | None, *, interrupted: bool, bound: Bound | None) -> Verdict:
    """Return the verdict of a check: a violation that was found counts, whatever stopped the search."""
    if violation is not None:
        return violation.verdict
    if interrupted:
        return Verdict.INTERRUPTED
    return Verdict.OK if bound is None else Verdict.BOUND_REACHED
