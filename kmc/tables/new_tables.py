"""A folder of tables that comes into being as a whole.

Invariant: the folder has its name when all its tables are written, and not before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from kmc.errors import CommandLineError, SystemFault
from kmc.tables.table_tasks import AttemptFile

_REMOVALS = 5


@dataclass(frozen=True, slots=True)
class NewTables:
    """`tables` will have the name of the folder; `attempts` holds the files of tasks, and is removed."""

    tables: Path
    attempts: Path

    def take(self, table: str, files: Iterable[AttemptFile]) -> int:
        """Make these files a table; return its number of rows."""
        folder = self.tables / table
        folder.mkdir()
        rows = 0
        for file in files:
            written = self.attempts / file.name
            size = written.stat().st_size
            if size != file.bytes:
                raise OSError(f"{written} has {size:,} bytes, and {file.bytes:,} were written")
            written.rename(folder / f"part-{file.number:05}.parquet")
            rows += file.rows
        return rows


def refuse_existing(out: Path) -> None:
    """Raise CommandLineError KMC630 if something has this name."""
    if out.exists():
        raise CommandLineError("KMC630", f"{out} is there already", help="remove it, or give another --out DIR")


@contextmanager
def new_tables(out: Path) -> Iterator[NewTables]:
    """Tables to be filled, which are in the folder `out` when the block has ended. KMC503, KMC630 for that folder."""
    refuse_existing(out)
    made = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        new = NewTables(made / "tables", made / "attempts")
        for folder in (new.tables, new.attempts):
            folder.mkdir()
        yield new
        new.tables.rename(out)
    except OSError as error:
        raise cannot_write(out, error) from None
    finally:
        if made is not None:
            _remove(made)


def cannot_write(out: Path, error: OSError) -> SystemFault:
    """KMC503: the system refuses to write tables to a folder."""
    why = error.strerror or str(error)
    return SystemFault("KMC503", f"cannot write {out}: {why}", help="give another --out DIR")


def _remove(folder: Path) -> None:
    """Remove a folder in which a late attempt may still make a file."""
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
