"""Queries of the tables of a run, in SQL: DuckDB reads the Parquet files, each table under its name.

Invariant: the SQL reads the tables and nothing else, unless files are allowed. Files are listed here and never found by
a pattern: DuckDB expands `*`, `?` and `[` in every path, also in that of a single file. So it reads the files through
links in a folder whose path has none of these.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from duckdb import StatementType

from kmc.errors import CommandLineError, SystemFault

TABLES = ("states", "levels", "parents", "edges")

_SUFFIX = ".parquet"
_WILDCARDS = re.compile(r"[*?\[\]{}\\]")
_EXPLAIN = re.compile(r"\s*explain\s+(analyze\s+)?(\([^()]*\)\s*)?", re.IGNORECASE)
_SELECTS = re.compile(r"\s*(pivot|from|select|with)\b", re.IGNORECASE)
# DuckDB's text for a setting that is locked; the error has no class of its own.
_LOCKED = "the configuration has been locked"

# Statements that reach no file but those that the settings below allow, and write none. COPY is not one of them: it
# could replace a file of the tables.
_HARMLESS = frozenset(
    {
        StatementType.ALTER,
        StatementType.ANALYZE,
        StatementType.CALL,
        StatementType.CREATE,
        StatementType.CREATE_FUNC,
        StatementType.DELETE,
        StatementType.DROP,
        StatementType.INSERT,
        StatementType.MERGE_INTO,
        StatementType.PRAGMA,
        StatementType.SELECT,
        StatementType.SET,
        StatementType.TRANSACTION,
        StatementType.UPDATE,
        StatementType.VACUUM,
        StatementType.VARIABLE_SET,
    }
)


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The names of the columns, and the rows."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def ask(folder: Path, sql: str, *, allow_files: bool = False) -> QueryAnswer:
    """Answer a query of the tables in `folder`.

    Raises CommandLineError: KMC632 with DuckDB's words if the query cannot be answered, and KMC639 if it needs files,
    the network, an extension or another setting, which only `allow_files` gives it. SystemFault KMC503 if there is no
    place for temporary files.
    """
    with _linked(folder) as (tables, spill), duckdb.connect(config={"temp_directory": spill}) as connection:
        try:
            for name, files in tables.items():
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({_list(files)})")
            if not allow_files:
                _close(connection, [file for files in tables.values() for file in files])
            return _answer(connection, sql, allow_files)
        except duckdb.Error as error:
            raise _refused(str(error), wants_more=not allow_files and _is_refusal(error)) from None


def _answer(connection: duckdb.DuckDBPyConnection, sql: str, allow_files: bool) -> QueryAnswer:
    statements = connection.extract_statements(sql)
    if not statements:
        raise CommandLineError("KMC632", "there is no query in the text", help="the tables: DESCRIBE states")
    if not allow_files:
        for statement in statements:
            if not _is_harmless(connection, statement):
                raise _refused(f"{_first_words(statement.query)} is not allowed", wants_more=True)
    for statement in statements:
        cursor = connection.execute(statement)
    return QueryAnswer(tuple(column[0] for column in cursor.description or ()), cursor.fetchall())


def _is_harmless(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> bool:
    match _type(statement):
        case StatementType.EXPLAIN:
            # EXPLAIN ANALYZE runs its statement.
            explained = connection.extract_statements(_EXPLAIN.sub("", statement.query, count=1))
            return [_type(inner) for inner in explained] == [StatementType.SELECT]
        case StatementType.MULTI:
            # DuckDB makes several statements of whatever holds a PIVOT, also of a COPY.
            return _SELECTS.match(statement.query) is not None
        case kind:
            return kind in _HARMLESS


def _type(statement: duckdb.Statement) -> StatementType | None:
    """Return the kind of a statement; None for one that Python's enumeration lacks, such as UPDATE EXTENSIONS."""
    try:
        return statement.type
    except ValueError:
        return None


def _close(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    """Leave the SQL nothing but these files, for good."""
    connection.execute(f"SET allowed_paths = {_list(files)}")
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "python_enable_replacements"):
        connection.execute(f"SET {setting} = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _is_refusal(error: duckdb.Error) -> bool:
    return isinstance(error, duckdb.PermissionException) or _LOCKED in str(error)


def _refused(text: str, *, wants_more: bool) -> CommandLineError:
    """Return DuckDB's error in kmc's form: KMC632, or KMC639 if the query needs a permission that only --allow-files
    gives.
    """
    first, _, rest = text.partition("\n")
    notes = tuple(line for line in rest.splitlines() if line.strip())
    if not wants_more:
        return CommandLineError("KMC632", first, help="the tables: DESCRIBE states", notes=notes)
    return CommandLineError(
        "KMC639",
        f"the query wants more than the tables of the run: {first}",
        help="a query has no access to files, network, extensions and settings unless you give --allow-files",
        notes=notes,
    )


def _first_words(sql: str) -> str:
    words = sql.split()
    return " ".join(words[:2]).upper()[:40] if words else "this statement"


@contextmanager
def _linked(folder: Path) -> Iterator[tuple[Mapping[str, list[str]], str]]:
    """Link the tables; yield their files under paths without wildcards, and a folder for temporary files."""
    try:
        with tempfile.TemporaryDirectory(prefix="kmc-query-", dir=_place()) as made:
            tables = {}
            for name in TABLES:
                if (folder / name).is_dir():
                    (Path(made) / name).symlink_to((folder / name).resolve())
                    files = sorted(file for file in os.listdir(folder / name) if file.endswith(_SUFFIX))
                    tables[name] = [os.path.join(made, name, file) for file in files]
            yield {name: files for name, files in tables.items() if files}, os.path.join(made, "spill")
    except OSError as error:
        reason = error.strerror or str(error)
        raise SystemFault(
            "KMC503",
            f"cannot read the tables in {folder}: {error.filename or _place()}: {reason}",
            help="a query needs a folder for temporary files; TMPDIR names another one",
        ) from None


def _place() -> str:
    """Return a folder for temporary files whose path has no wildcard."""
    folder = tempfile.gettempdir()
    return "/tmp" if _WILDCARDS.search(folder) else folder


def _list(texts: Sequence[str]) -> str:
    """Write a list of texts in SQL."""
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"
