"""The tasks of a table, in any process: each writes some rows to a file of its own.

Invariant: the file of an attempt has a name that no other file has, and lies beside the tables. It is part of a table
once the driver has given it its name there. So an attempt that died, was doubled or comes late adds no row to any
table.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kmc import failpoints
from kmc.tables.parts import TablePart
from kmc.tables.state_tables import StateReader, write_states
from kmc.tables.step_tables import write_edges

STATES, LEVELS, PARENTS, EDGES = "states", "levels", "parents", "edges"


@dataclass(frozen=True, slots=True)
class PartTask:
    """Write one part of the table of states or of edges to `folder`; of states, these columns, or all."""

    table: str
    part: TablePart
    folder: str
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AttemptFile:
    """The file that an attempt of task `number` wrote."""

    number: int
    name: str
    bytes: int
    rows: int


def write_part(reader: StateReader, task: PartTask) -> AttemptFile:
    """Write a part to a new file."""

    def write(path: Path) -> int:
        if task.table == EDGES:
            return write_edges(reader, task.part, path)
        return write_states(reader, task.part, path, task.columns)

    return write_attempt(Path(task.folder), task.table, task.part.number, write)


def write_attempt(folder: Path, table: str, ordinal: int, write: Callable[[Path], int]) -> AttemptFile:
    """Let `write` fill a new file, and return the file with its number of rows; a file that fails is removed."""
    path = folder / f"{table}-{ordinal}-{secrets.token_hex(8)}"
    failpoints.reach(f"before write {table}")
    try:
        rows = write(path)
    except BaseException:  # Ctrl-C too leaves no half of a file behind
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise
    failpoints.reach(f"after write {table}")
    return AttemptFile(ordinal, path.name, path.stat().st_size, rows)
