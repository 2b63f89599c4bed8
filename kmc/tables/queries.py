"""Questions about the tables of a run, in SQL: DuckDB reads the Parquet files, each table under its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from kmc.errors import CommandLineError

TABLES = ("states", "levels", "parents", "edges")


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The names of the columns, and the rows."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def ask(folder: Path, sql: str) -> QueryAnswer:
    """The answer to a query; CommandLineError KMC632 with DuckDB's words if it cannot be answered."""
    connection = duckdb.connect()
    try:
        for name in TABLES:
            if (folder / name).is_dir():
                files = str(folder / name / "*.parquet").replace("'", "''")
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{files}')")
        found = connection.execute(sql)
        columns = tuple(one[0] for one in found.description or ())
        return QueryAnswer(columns, found.fetchall())
    except duckdb.Error as error:
        first, _, rest = str(error).partition("\n")
        notes = tuple(line for line in rest.splitlines() if line.strip())
        raise CommandLineError("KMC632", first, help="the tables: DESCRIBE states", notes=notes) from None
    finally:
        connection.close()
