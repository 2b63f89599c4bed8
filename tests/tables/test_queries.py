"""Queries of tables: in a folder of any name, and with no way to anything else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from kmc.errors import CommandLineError, SystemFault
from kmc.tables import queries
from kmc.tables.parquet_files import parquet_writer
from kmc.tables.queries import ask

NAMES = [
    "t*",
    "t?",
    "t[1]",
    "[",
    "{a,t1}",
    "it's",
    '"t"',
    "a t",
    "tä→",
    "t\n1",
    "s3:t",
    "file:",
    "t\\1",
    "%41",
    "$HOME",
]

FORBIDDEN = [
    "COPY (SELECT 1) TO 'made.csv'",
    "COPY levels TO 'made.parquet'",
    "COPY (PIVOT levels ON level USING sum(states)) TO 'made.csv'",
    "COPY (SELECT 1) TO '{table}' (USE_TMP_FILE false)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{table}' (USE_TMP_FILE false)",
    "EXPLAIN /* */ ANALYZE COPY (SELECT 1) TO 'made.csv'",
    "PREPARE p AS COPY (SELECT 1) TO 'made.csv'; EXECUTE p",
    "SELECT 1; COPY (SELECT 1) TO 'made.csv'",
    "CREATE TABLE t (x INT); COPY t FROM 'there.csv'",
    "SELECT * FROM read_csv('there.csv')",
    "SELECT * FROM read_text('there.csv')",
    "SELECT * FROM 'there.csv'",
    "SELECT * FROM glob('*')",
    "SELECT * FROM sniff_csv('there.csv')",
    "ATTACH 'made.db'",
    "EXPORT DATABASE 'made'",
    "IMPORT DATABASE 'there'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD './there.duckdb_extension'",
    "UPDATE EXTENSIONS",
    "SELECT * FROM 'https://127.0.0.1:9/there.parquet'",
    "SELECT * FROM read_parquet('s3://there/there.parquet')",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "SET allowed_directories = ['/']",
    "SET temp_directory = 'made'",
    "PRAGMA enable_profiling = 'json'",
    "SET profile_output = 'made'",
    "CALL enable_logging(storage = 'file', storage_path = 'made')",
    "CREATE SECRET made (TYPE s3)",
    "CREATE PERSISTENT SECRET made (TYPE s3)",
]

ALLOWED = [
    "SELECT count(*) FROM levels",
    "FROM levels SELECT count(*)",
    "VALUES (2)",
    "WITH l AS (FROM levels) SELECT count(*) FROM l",
    "CREATE TABLE found AS FROM levels; INSERT INTO found FROM levels; SELECT count(*) // 2 FROM found",
    "CREATE MACRO twice(x) AS 2 * x; SELECT twice(1)",
    "SET VARIABLE found = 2; SELECT getvariable('found')",
    "SELECT states FROM (PIVOT levels ON level USING sum(states)) CROSS JOIN (SELECT 2 AS states)",
    "-- how many\nSELECT count(*) FROM levels;",
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory that holds a file, and tables with two levels in the folder `t1`."""
    monkeypatch.chdir(tmp_path)
    Path("there.csv").write_text("x\n1\n")
    write_tables(Path("t1"), 2)
    return tmp_path


def write_tables(folder: Path, levels: int) -> None:
    """Write a table of levels, a file each."""
    schema = pa.schema([("level", pa.int32()), ("states", pa.int64())])
    (folder / "levels").mkdir(parents=True)
    for number in range(levels):
        with parquet_writer(folder / "levels" / f"part-{number:05}.parquet", schema) as out:
            out.write_table(pa.table({"level": [number], "states": [10]}, schema))


def contents(folder: Path) -> dict[Path, bytes | None]:
    """All that lies in a folder, with the bytes of its files."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_query_reads_the_tables_of_its_folder_whatever_the_name(name: str) -> None:
    write_tables(Path(name), 3)
    write_tables(Path(name) / "deeper" / name, 4)
    assert ask(Path(name), "SELECT count(*), sum(states)::INT FROM levels").rows == [(3, 30)]
    assert ask(Path(name) / "deeper" / name, "SELECT count(*) FROM levels").rows == [(4,)]
    assert ask(Path(name), "SELECT count(*) FROM levels", allow_files=True).rows == [(3,)]


def test_temporary_folders_with_wildcards_in_their_path_are_not_used(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "tmp[1]*").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place / "tmp[1]*"))
    assert ask(Path("t1"), "SELECT count(*) FROM levels").rows == [(2,)]


def test_without_a_place_for_temporary_files_the_query_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "nowhere")
    with pytest.raises(SystemFault, match=r"KMC503.*nowhere") as raised:
        ask(Path("t1"), "SELECT 1")
    assert "TMPDIR" in (raised.value.help or "")


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_a_query_reaches_nothing_but_the_tables(sql: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place))
    before = contents(place)
    with pytest.raises(CommandLineError) as raised:
        ask(Path("t1"), sql.format(table=Path("t1/levels/part-00000.parquet").resolve()))
    if "/* */" not in sql:
        assert (raised.value.code, "--allow-files" in (raised.value.help or "")) == ("KMC639", True)
    assert contents(place) == before


def test_a_file_of_the_tables_is_not_replaced_under_the_path_that_the_query_reads(place: Path) -> None:
    """The paths that DuckDB may read are the only ones that it could write."""
    ((paths,),) = ask(Path("t1"), "SELECT current_setting('allowed_paths')").rows
    assert len(paths) == 2
    before = contents(place)
    for statement in ("COPY (SELECT 1) TO '{}' (USE_TMP_FILE false)", "ATTACH '{}'"):
        with pytest.raises(CommandLineError, match="KMC639"):
            ask(Path("t1"), "SELECT 1; " + statement.format(paths[0]))
    assert contents(place) == before


@pytest.mark.parametrize("kind", sorted(duckdb.StatementType.__members__))
def test_no_kind_of_statement_that_writes_files_is_harmless(kind: str) -> None:
    writing = {"ATTACH", "COPY", "COPY_DATABASE", "DETACH", "EXECUTE", "EXPORT", "EXTENSION", "LOAD", "PREPARE"}
    assert (getattr(duckdb.StatementType, kind) in queries._HARMLESS) <= (kind not in writing)


@pytest.mark.parametrize("sql", ALLOWED)
def test_a_query_may_be_several_statements_that_stay_in_memory(sql: str) -> None:
    assert ask(Path("t1"), sql).rows == [(2,)]


@pytest.mark.parametrize("sql", ["DESCRIBE levels", "SUMMARIZE levels", "SHOW TABLES", "EXPLAIN FROM levels"])
@pytest.mark.parametrize("head", ["", "EXPLAIN ANALYZE ", "EXPLAIN (ANALYZE, FORMAT json) "])
def test_a_query_may_describe_and_explain(sql: str, head: str) -> None:
    if head and sql.startswith("EXPLAIN"):
        sql = "FROM levels"
    assert ask(Path("t1"), head + sql).rows


def test_allow_files_gives_the_query_what_the_user_has() -> None:
    ask(Path("t1"), "COPY (SELECT * FROM levels) TO 'made.csv'", allow_files=True)
    assert ask(Path("t1"), "SELECT count(*) FROM 'made.csv'", allow_files=True).rows == [(2,)]
    assert ask(Path("t1"), "SET threads = 1; SELECT count(*) FROM levels", allow_files=True).rows == [(2,)]


@pytest.mark.parametrize("sql", ["", " ", ";", " ;; ", "-- nothing", "/* nothing */"])
@pytest.mark.parametrize("allow_files", [False, True])
def test_a_text_without_a_query_is_refused(sql: str, allow_files: bool) -> None:
    with pytest.raises(CommandLineError, match=r"KMC632.*no query"):
        ask(Path("t1"), sql, allow_files=allow_files)


MISTAKES = [
    "SELECT",
    "SELECT nothing FROM levels",
    "SELECT * FROM nowhere",
    "SELECT ?",
    "x" * 5000,
    "(" * 5000,
    "SELECT '\x1b'::INT",
]


@pytest.mark.parametrize("sql", MISTAKES, ids=lambda sql: ascii(sql)[:20])
def test_a_mistake_in_a_query_is_the_askers(sql: str) -> None:
    with pytest.raises(CommandLineError, match="KMC632"):
        ask(Path("t1"), sql)
