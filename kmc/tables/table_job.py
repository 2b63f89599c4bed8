"""The data that another process needs to write tables of a run: bytes, and no compiler and no sources."""

from __future__ import annotations

from dataclasses import dataclass

from kmc.engine.loops.compiled_loops import object_codes, receive, table_loops
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.storage.store_place import StorePlace
from kmc.tables.state_tables import StateReader


@dataclass(frozen=True, slots=True)
class TableJob:
    """The states of a run: `spec` is a compiled spec with the object code of loops, `place` where the files lie."""

    spec: bytes
    shards: int
    place: StorePlace

    @classmethod
    def of(cls, spec: CompiledSpec, shards: int, place: StorePlace) -> TableJob:
        """The job of a run whose states lie there, in so many shards."""
        return cls(spec.with_loops(object_codes(table_loops())).to_bytes(), shards, place)

    def reader(self) -> StateReader:
        """The reader that `write_states` and `write_edges` need beside a part of the run, in this process."""
        spec = CompiledSpec.from_bytes(self.spec)
        receive(spec.loops)
        return StateReader(spec, self.place.store(), self.shards)
