"""The queries of `kmc.reference.temporal.lasso_finder`, answered in a graph whose states are numbers."""

from __future__ import annotations

from typing import Any

from kmc.engine.lassos.choice import LassoAnswers
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.lasso_queries import LassoQuery, TemporalCheck
from kmc.reference.temporal.lassos import Path


class NumberFinder:
    """A finder in a graph whose states are numbers; see `kmc.reference.temporal.lasso_finder.LassoFinder`."""

    def __init__(self, lassos: LassoAnswers) -> None:
        self.lassos = lassos

    def least(self, query: LassoQuery, below: LassoRank | None) -> Path | None:
        """See `kmc.reference.temporal.lasso_finder.LassoFinder`."""
        lasso = self.lassos.find(TemporalCheck("", "", (query,)), below)
        return Path(lasso.stem, lasso.cycle) if lasso is not None else None

    def order(self, path: Path) -> tuple[LassoRank, Any]:
        """See `LassoFinder`: the states by number, which no thread and no shard decides."""
        return path.rank, (*path.cycle, *path.stem)

    def has_lasso(self, query: LassoQuery) -> bool:
        """Return whether a fair lasso answers a query."""
        return self.lassos.has_lasso(query)

    def shortest_prefix(self, query: LassoQuery) -> Path | None:
        """The shortest way into the last phase, or None."""
        distances = self.lassos.distances(query.phases)
        for nodes in distances.levels():
            states = distances.last_states(nodes)
            # The steps of others are not known, and a phase may ask for them.
            states = states[states < self.lassos.expanded]
            if len(states):
                return Path(tuple(distances.path_to(int(states.min()))), ())
        return None
