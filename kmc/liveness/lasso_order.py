"""The total order of the counterexamples to one property: every engine and every kind of search shows the least.

The one with the fewest states comes first. Among equals a finite prefix precedes a lasso that stutters, and that one
precedes a lasso whose cycle has several states; then the shortest stem decides. The states break the last ties, in the
engine's own order: of their values (`kmc.reference.temporal.lassos`), or of their numbers (`kmc.engine.lassos.choice`).
The order of queries, conjuncts, threads or shards never matters.

Searches use the rank of the best known lasso as a bound: they search only for strictly smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

_PREFIX, _STUTTERING, _CYCLE = range(3)

Asked = TypeVar("Asked")
Found = TypeVar("Found")


class LassoRank(NamedTuple):
    """The place of a counterexample in the order, but for its states."""

    length: int
    kind: int
    stem: int

    @classmethod
    def of(cls, stem: Sequence[int], cycle: Sequence[int]) -> LassoRank:
        """Return the rank of a lasso, or of a finite prefix, which has no cycle."""
        kind = _PREFIX if not cycle else _STUTTERING if len(cycle) == 1 else _CYCLE
        return cls(len(stem) + len(cycle), kind, len(stem))

    @property
    def or_alike(self) -> LassoRank:
        """The bound below which this rank lies, and whatever is less."""
        return self._replace(stem=self.stem + 1)


def may_stutter(distance: int, below: LassoRank | None) -> bool:
    """Return whether a lasso that stutters in a state at this distance lies below a bound."""
    return below is None or LassoRank(distance + 1, _STUTTERING, distance) < below


def longest_cycle(distance: int, below: LassoRank) -> int:
    """Return the number of states that a cycle from a state at this distance may have, so that its lasso lies below a
    bound.
    """
    is_less = (_CYCLE, distance) < (below.kind, below.stem)
    return below.length - distance - (not is_less)


def least_answer(
    asked: Iterable[Asked],
    answer: Callable[[Asked, LassoRank | None], Found | None],
    order: Callable[[Found], tuple[LassoRank, Any]],
    known: tuple[Asked, Found] | None = None,
    below: LassoRank | None = None,
) -> tuple[Asked, Found] | None:
    """Return the least answer to some queries, or `known`, with its query; `order` is its rank, then its states.

    `answer` gets a query and a bound: the rank of the best known answer, so equally good answers are compared by their
    states.
    """
    for one in asked:
        bound = below if known is None else order(known[1])[0].or_alike
        answered = answer(one, bound)
        if answered is not None and (known is None or order(answered) < order(known[1])):
            known = one, answered
    return known
