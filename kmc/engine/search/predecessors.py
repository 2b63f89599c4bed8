"""The paths that a search took: the states of a level, and the steps into it, found again by fingerprint.

A level that is kept is expanded again, once for all queries. For an older level another search, without properties,
runs up to it first: if levels grow, that costs less than the search did.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection

from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import FoundStep
from kmc.engine.search.history import History
from kmc.engine.search.level_maker import LevelMaker


class StepLookup(ABC):
    """Looks up states and steps of a search that has run; levels count from 1. How a level is read is up to `seek`."""

    def __init__(self, kernels: KernelTable) -> None:
        self._kernels = kernels

    @property
    @abstractmethod
    def deepest(self) -> int:
        """The number of the last level that has states."""

    @abstractmethod
    def seek(self, level: int, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
        """The states of `level` that are among `fingerprints`, or those with a step to one of them, by fingerprint."""

    def of(self, level: int, fingerprint: int, *, rank: int | None = None, inside: bool = True) -> list[FoundStep]:
        """`steps_into` one state. `rank` distinguishes states of one view; `inside` omits steps that break a
        constraint.
        """
        edges = self.steps_into(level, [fingerprint])[fingerprint]
        return [edge for edge in edges if self.counts(edge, rank=rank, inside=inside)]

    def counts(self, edge: FoundStep, *, rank: int | None, inside: bool) -> bool:
        """Whether `of` includes a step, of those that `steps_into` returns."""
        kernels = self._kernels
        if rank is not None and kernels.rank_of(edge.successor.row) != rank:
            return False
        return not inside or kernels.is_inside(edge.source.row, edge.successor.row)

    def steps_into(self, level: int, fingerprints: Collection[int]) -> dict[int, list[FoundStep]]:
        """All steps from states of `level` to each of some states, by fingerprint of the source."""
        steps: dict[int, list[FoundStep]] = {fingerprint: [] for fingerprint in fingerprints}
        for source in self.seek(level, fingerprints, steps=True):
            for successor in self._kernels.successors(source.row):
                if successor.fingerprint in steps:
                    steps[successor.fingerprint].append(FoundStep(source, successor))
        return steps

    def states(self, level: int, fingerprints: Collection[int]) -> dict[int, PackedState]:
        """The states of `level` with these fingerprints, those that are there."""
        if level > self.deepest:
            # Every state of it lies outside of the constraints.
            return {}
        return {record.fingerprint: record for record in self.seek(level, fingerprints, steps=False)}


class Predecessors(StepLookup):
    """The queries that a search in memory answers.

    `search_again(level)` is that of a search that went as far as to keep `level`.
    """

    def __init__(
        self, kernels: KernelTable, maker: LevelMaker, history: History, search_again: Callable[[int], Predecessors]
    ) -> None:
        super().__init__(kernels)
        self._maker = maker
        self._history = history
        self._search_again = search_again
        self._earlier: Predecessors | None = None

    @property
    def deepest(self) -> int:
        """See `StepLookup`."""
        return max(self._history, default=0)

    def seek(self, level: int, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
        """See `StepLookup`."""
        if level not in self._history:
            return self._before(level).seek(level, fingerprints, steps=steps)
        return self._maker.seek(self._history[level], fingerprints, steps=steps)

    def kept(self, level: int) -> list[PackedState]:
        """All states of a level, in order, if it is still kept; KeyError if not."""
        return self._maker.records(self._history[level])

    def covers(self, level: int) -> bool:
        """Whether looking into this level costs no more than expanding a level."""
        return level in self._history or (self._earlier is not None and self._earlier.covers(level))

    def _before(self, level: int) -> Predecessors:
        if self._earlier is None or not self._earlier.covers(level):
            # The old search goes first, so that two are never in memory; it is in a cycle of references.
            self._earlier = None
            gc.collect()
            self._earlier = self._search_again(level)
        return self._earlier
