"""The queries for lassos that an engine answers; `kmc.reference.temporal.verdicts` turns the answers into verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.lasso_queries import LassoQuery
from kmc.reference.temporal.lassos import Path


class LassosUnfinished(Exception):
    """The time for the search for lassos is over."""


class LassoFinder(Protocol):
    """The queries that an engine answers about the behaviours that it has found."""

    def least(self, query: LassoQuery, below: LassoRank | None) -> Path | None:
        """Return the least fair lasso that answers a query, of a rank less than `below`; or None."""

    def order(self, path: Path) -> tuple[LassoRank, Any]:
        """Return the place of a path in the order of counterexamples: its rank, then its states."""

    def has_lasso(self, query: LassoQuery) -> bool:
        """Whether a fair lasso answers a query."""

    def shortest_prefix(self, query: LassoQuery) -> Path | None:
        """The shortest way into the last phase, or None."""

    def states(self, indices: Sequence[int]) -> list[Any]:
        """The states of some numbers."""


def is_answered(query: LassoQuery, finder: LassoFinder) -> bool:
    """Whether a behaviour answers a query, by a finite prefix where that is enough."""
    return finder.shortest_prefix(query) is not None if query.is_of_prefixes else finder.has_lasso(query)
