"""Another search for the rows that a search in shards did not keep; see `looking_back`."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from kmc.errors import InternalError
from kmc.result import LookingBack, ShardProgress
from kmc.shards.sharded_search import ShardedSearch


class SearchAgain(ShardedSearch):
    """Has the executor and the store of the first search, and keeps all rows of its levels."""

    _last = 0

    def gone_to(self, level: int) -> Self:
        """Make the levels up to this one. Its files are removed if that fails or is interrupted."""
        self._last = level
        try:
            tasks = self._first_tasks()
            while self.depth < level:
                if not self._make_level(tasks, store=True):
                    raise InternalError("KMC930", f"level {level} was not found again")
                tasks = self._tasks()
        except BaseException:  # Ctrl-C too leaves no files behind
            self.close()
            raise
        return self

    def told(self, found: ShardProgress) -> ShardProgress:
        """The progress of the first search, with where this one stands."""
        back = LookingBack(min(self.depth + 1, self._last), self._last)
        return replace(found, disk_bytes=found.disk_bytes + self.state.bytes, looking_back=back)

    def close(self) -> None:
        """Remove its files."""
        self._store.remove([*self.state.names, *self._garbage])
