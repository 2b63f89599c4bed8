"""The search in memory as a `ModelSearch`: with the search for lassos in the steps that it recorded."""

from __future__ import annotations

from collections.abc import Sequence

from kmc.engine.lassos.search import LassoSearch
from kmc.engine.search.breadth_first import Search
from kmc.liveness.lasso_queries import FairnessCondition, TemporalCheck


class SearchInMemory(Search):
    """A search whose known states are in memory, and the behaviour graph too if it records steps."""

    def lassos(self, fairness: Sequence[FairnessCondition], checks: Sequence[TemporalCheck], /) -> LassoSearch:
        """See `kmc.engine.model_search.ModelSearch`."""
        assert self.behaviours is not None, "the search has recorded steps"
        return LassoSearch(self.behaviours.graph(), fairness, checks)
