"""Another search for the rows that a search in shards did not keep; see `looking_back`."""

from __future__ import annotations

from typing import Self

from kmc.errors import InternalError
from kmc.shards.sharded_search import ShardedSearch


class SearchAgain(ShardedSearch):
    """Has the executor and the store of the first search, and keeps all rows of its levels."""

    def gone_to(self, level: int) -> Self:
        """Make the levels up to this one."""
        tasks = self._first_tasks()
        while len(self._levels) < level:
            if not self._make_level(tasks, store=True):
                raise InternalError("KMC930", f"level {level} was not found again")
            tasks = self._tasks()
        return self

    def close(self) -> None:
        """Remove its files."""
        self._store.remove([*self.state.names, *self._garbage])
