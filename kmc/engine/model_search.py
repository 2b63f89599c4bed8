"""The interface of a search, whether it holds its levels in memory, in shards or on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.lassos.choice import LassoAnswers
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.search.predecessors import StepLookup
from kmc.liveness.behaviour_graph import BehaviourSource
from kmc.liveness.lasso_queries import FairnessCondition, TemporalCheck
from kmc.result import Counters


class ModelSearch(Protocol):
    """A search of a model's states, and the queries that it answers afterwards."""

    @property
    def predecessors(self) -> StepLookup:
        """The steps that lead to a state; available after `run`."""

    def run(self) -> SearchOutcome:
        """Explore until done, a finding, a limit or Ctrl-C."""

    def counters(self) -> Counters:
        """The counters so far."""

    @property
    def behaviours(self) -> BehaviourSource | None:
        """The source of the behaviour graph, after `run`; None if no steps were recorded."""

    def lassos(self, fairness: Sequence[FairnessCondition], checks: Sequence[TemporalCheck], /) -> LassoAnswers:
        """The search for lassos in the behaviour graph; call this once, after `run`. `checks` are likely to follow."""

    @property
    def ends_when_refuted(self) -> bool:
        """Whether the search itself ends at the level whose steps refute a temporal property."""

    def ended_at(self, levels: int, /) -> SearchOutcome:
        """The outcome of a search that ends when it has made so many levels, where it does not end by itself."""

    def close(self) -> None:
        """Give back the resources that it holds outside of this process; `predecessors` cannot be queried any more."""


class SearchMaker(Protocol):
    """A function that makes a search of a compiled model from initial states."""

    def __call__(
        self,
        compiled: CompiledModel,
        initial: Sequence[PackedState],
        settings: Settings,
        progress: Callable[[Counters], None] | None,
        directory: RunDirectory | None,
        /,
        noting: Noting | None = None,
    ) -> ModelSearch:
        """See `kmc.engine.search.breadth_first.Search`. With `noting`, it makes the behaviour graph too."""
