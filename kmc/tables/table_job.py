"""What another process needs to write tables of a run: bytes, and no compiler, sources or numba."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.loops.compiled_loops import object_codes, receive, table_loops
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.store import FolderStore
from kmc.tables.state_tables import StateReader


@dataclass(frozen=True, slots=True)
class TableJob:
    """The states of a run: `spec` is a compiled spec with the object code of loops, `folder` where the files lie."""

    spec: bytes
    shards: int
    folder: str

    @classmethod
    def of(cls, spec: CompiledSpec, shards: int, folder: Path) -> TableJob:
        """The job of a run whose states lie in this folder, in so many shards."""
        return cls(spec.with_loops(object_codes(table_loops())).to_bytes(), shards, str(folder.resolve()))

    def reader(self) -> StateReader:
        """What `write_states` and `write_edges` take with a part of the run, in this process."""
        spec = CompiledSpec.from_bytes(self.spec)
        receive(spec.loops)
        return StateReader(spec, FolderStore(DurableFolder(Path(self.folder))), self.shards)
