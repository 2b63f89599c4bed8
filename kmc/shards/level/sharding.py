"""The division of a state space into shards. Only `shards` is a user's choice; no number here changes a result.

A shard costs a file or two in each level that sends it something. So a search begins with few shards, and divides them
when they are full, and a small search has the same duration with any number of `shards`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmc.engine.layout.search_outcome import Settings

THIN_ROWS = 300_000
"""A level of fewer rows is made in the driver of a cluster: a job would be slower."""

SHARDS_MAX = 1 << 12
"""A search has no more shards than these."""
_GROWTH = 4
_SHARDS_PER_SLOT = 4
_TASKS_PER_SLOT = 16


@dataclass(frozen=True, slots=True)
class Sharding:
    """The number of shards, and the sizes of tasks.

    A search begins with `shards_first` shards, or with `shards` if these are fewer. Whenever they hold more than
    `shard_states` states on average, it goes on with four times as many, up to `shards` and to four for each slot: more
    of them would only cost. Beyond, it does so whenever they hold more than `shard_states_max`.

    A task gets segments until it has `task_rows` rows; fewer if a level is too small for all slots, and more, up to
    `task_rows_max`, if the level has more than `tasks_many` tasks and 16 for each slot. A segment ends when it has
    `segment_rows` rows, which is tested whenever `slice_chunks` chunks were read. `batch` and `chunk_rows` are those of
    `Settings`; a task's table begins with `slots_min` slots. `piece` is the number of fingerprints of a run that are
    written at once.
    """

    shards: int
    shards_first: int = 4
    shard_states: int = 1 << 16
    shard_states_max: int = 1 << 24
    task_rows: int = 1 << 17
    task_rows_max: int = 1 << 19
    tasks_many: int = 1 << 12
    segment_rows: int = 1 << 14
    slice_chunks: int = 32
    slots_min: int = 1 << 14
    piece: int = 1 << 15
    batch: int = field(default=Settings().batch)
    chunk_rows: int = field(default=Settings().chunk_rows)

    def shards_for(self, states: int, slots: int) -> int:
        """Return the number of shards of a search that knows so many states and runs so many tasks at once."""
        shards = min(self.shards, self.shards_first)
        while shards < self.shards and states > shards * self._states_of(shards, slots):
            shards = min(self.shards, shards * _GROWTH)
        return shards

    def _states_of(self, shards: int, slots: int) -> int:
        return self.shard_states if shards < _SHARDS_PER_SLOT * slots else self.shard_states_max

    def rows_of_task(self, rows: int, slots: int) -> int:
        """Return the rows of a task of a level that has so many, for so many slots."""
        tasks_max = max(self.tasks_many, _TASKS_PER_SLOT * slots)
        most = max(self.task_rows, min(self.task_rows_max, -(-rows // tasks_max)))
        return max(1, min(most, -(-rows // slots)))
