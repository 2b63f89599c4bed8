"""How a state space is divided. Only `shards` is a user's choice; no other number makes a difference to a result."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmc.engine.layout.search_outcome import Settings


@dataclass(frozen=True, slots=True)
class Sharding:
    """The number of shards, and the sizes of what tasks take.

    A task takes segments until it has `task_rows` rows; fewer where a level is too small for all slots. A segment ends
    when it has `segment_rows` rows, which is looked at whenever `slice_chunks` chunks were read. `batch` and
    `chunk_rows` are those of `Settings`; a task's table begins with `slots_min` slots. `piece` is how many fingerprints
    of a run are written at once.
    """

    shards: int
    task_rows: int = 1 << 17
    segment_rows: int = 1 << 14
    slice_chunks: int = 32
    slots_min: int = 1 << 14
    piece: int = 1 << 15
    batch: int = field(default=Settings().batch)
    chunk_rows: int = field(default=Settings().chunk_rows)
