"""The queries of a sharded search after it ran: rows of its levels, found in the files that it keeps.

A search keeps the rows of its last levels, as one in memory does. For an older level another search goes there first
and keeps all that it makes: it costs as much time as the first one at most, and only a counterexample needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.search.predecessors import StepLookup
from kmc.shards.level.run_state import LevelFiles


class KeptLevels(Protocol):
    """A search that keeps the rows of its levels for queries."""

    @property
    def depth(self) -> int:
        """The number of levels that have states, whether they are kept or not."""

    @property
    def levels(self) -> Mapping[int, LevelFiles]:
        """The files of the levels that it keeps, by number."""

    def seek(self, level: int, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
        """See `StepLookup.seek`, for a level that it keeps."""

    def close(self) -> None:
        """Give its files back."""


class ShardedLookup(StepLookup):
    """Looks into the levels of a search. `search_again(level)` is one that went to `level` and keeps all levels."""

    def __init__(self, kernels: KernelTable, search: KeptLevels, search_again: Callable[[int], KeptLevels]) -> None:
        super().__init__(kernels)
        self._search = search
        self._search_again = search_again
        self._again: KeptLevels | None = None

    @property
    def deepest(self) -> int:
        """See `StepLookup`."""
        return self._search.depth

    def seek(self, level: int, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
        """See `StepLookup`."""
        return self._with(level).seek(level, fingerprints, steps=steps)

    def _with(self, level: int) -> KeptLevels:
        """A search that keeps the rows of a level."""
        if level in self._search.levels:
            return self._search
        if self._again is None or level not in self._again.levels:
            self.close()
            self._again = self._search_again(level)
        return self._again

    def close(self) -> None:
        """Give back the files of another search."""
        if self._again is not None:
            self._again.close()
            self._again = None
