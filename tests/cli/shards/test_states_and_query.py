"""`kmc states` and `kmc query`: tables of a run, and questions about them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.cli.commands import states as states_command
from kmc.cli.options import search_choice


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of a run whose states are kept."""
    monkeypatch.chdir(tmp_path)
    kmc("check", COUNTER, "--shards", "2", "--keep-states")
    (found,) = Path(".kmc/runs").iterdir()
    return str(found)


@pytest.mark.slow
def test_states_are_written_and_asked(run: str) -> None:
    done = kmc("states", run, "--parents", "--edges")
    assert done.exit_code == 0, done.stderr
    assert f"Written to {run}/tables:" in done.stdout
    count = json.loads(kmc("query", run, "SELECT count(*) AS n FROM states", "--json").stdout)["rows"]
    levels = json.loads(kmc("query", run, "SELECT sum(states)::INT AS n FROM levels", "--json").stdout)["rows"]
    assert count == levels
    joined = "SELECT count(*) AS n FROM parents JOIN edges ON edges.source = parents.parent"
    assert kmc("query", run, joined).exit_code == 0


def test_a_run_with_temporal_properties_has_the_same_states(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kmc("check", COUNTER, "temporal", "--shards", "2", "--keep-states", "--continue", "--run-dir", "temporal")
    (other,) = Path("temporal").iterdir()
    ran = kmc("states", str(other), "--parents")
    assert ran.exit_code == 0, ran.stderr
    kmc("states", run, "--parents")
    asked = "SELECT * FROM states ORDER BY fingerprint"
    first, second = (json.loads(kmc("query", each, asked, "--json").stdout)["rows"] for each in (run, str(other)))
    assert first == second != []


def test_an_answer_is_a_table(run: str) -> None:
    kmc("states", run)
    found = kmc("query", run, "SELECT 1234 AS number, 'x' AS text, true AS truth, NULL AS nothing")
    assert found.stdout == "number  text  truth  nothing\n 1,234  x     true   -\n"


def test_tables_elsewhere_are_asked_too(run: str, tmp_path: Path) -> None:
    out = str(tmp_path / "deep" / "place")
    told = json.loads(kmc("states", run, "--out", out, "--json").stdout)
    assert told["folder"] == out
    assert kmc("query", out, "SELECT * FROM states").exit_code == 0
    assert "KMC630" in kmc("states", run, "--out", out).stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gl/t*", "[t]", "t?", "s3:t", "file:", "it's\nt", "täbles"], ids=ascii)
def test_tables_lie_in_a_folder_of_any_name(run: str, name: str) -> None:
    kmc("states", run, "--out", "gl/t1")
    assert kmc("states", run, "--out", name, "--parents", "--edges").exit_code == 0
    for table in ("states", "levels", "parents", "edges"):
        rows = [kmc("query", out, f"SELECT count(*) FROM {table}").stdout for out in ("gl/t1", name)]
        if table in ("states", "levels"):
            assert rows[0] == rows[1] != ""
        assert rows[1].startswith("count_star()")


def test_a_query_reaches_no_files_unless_they_are_allowed(run: str) -> None:
    kmc("states", run)
    copy = "COPY (SELECT * FROM states) TO 'states.csv'"
    refused = kmc("query", run, copy)
    assert (refused.exit_code, Path("states.csv").exists()) == (2, False)
    assert refused.stderr.splitlines() == [
        "error[KMC639]: the query wants more than the tables of the run: COPY (SELECT is not allowed",
        "  = help: a query has no access to files, network, extensions and settings unless you give --allow-files",
    ]
    assert kmc("query", run, "--allow-files", copy).exit_code == 0
    assert Path("states.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("MAP([(1, 2)], [3])", {"key": [[1, 2]], "value": [3]}),
        ("MAP([1], ['a'])", {"1": "a"}),
        ("MAP([DATE '2020-01-02'], [[1.5]])", {"2020-01-02": ["1.5"]}),
        ("'nan'::DOUBLE", "nan"),
        ("['-inf'::DOUBLE]", ["-inf"]),
        ("repeat('9', 5000)::BIGNUM", "9" * 5000),
    ],
)
def test_any_value_of_an_answer_is_json(run: str, sql: str, value: object) -> None:
    kmc("states", run)
    ran = kmc("query", run, f"SELECT {sql} AS x", "--json")
    assert json.loads(ran.stdout, parse_constant=pytest.fail) == {"rows": [{"x": value}]}


@pytest.mark.parametrize("sql", ["", ";", " ", "--"])
def test_a_query_without_words_is_refused(run: str, sql: str) -> None:
    kmc("states", run)
    found = kmc("query", "--", run, sql)
    assert (found.exit_code, "error[KMC632]: there is no query in the text" in found.stderr) == (2, True)


def test_a_wrong_query_is_an_error_of_the_person_who_asks(run: str) -> None:
    kmc("states", run)
    found = kmc("query", run, "SELECT nowhere FROM states")
    assert (found.exit_code, "KMC632" in found.stderr, "nowhere" in found.stderr) == (2, True, True)


def test_a_run_without_tables_names_the_command_that_writes_them(run: str) -> None:
    found = kmc("query", run, "SELECT 1")
    assert (found.exit_code, "KMC633" in found.stderr) == (2, True)
    assert f"kmc states {run}" in found.stderr


def test_a_run_without_states_says_how_to_keep_them(tmp_path: Path) -> None:
    found = kmc("states", str(tmp_path))
    assert (found.exit_code, "KMC557" in found.stderr) == (153, True)


def test_a_spec_that_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path(COUNTER)
    copy = tmp_path / "counter"
    copy.mkdir()
    for file in source.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    kmc("check", "./counter", "--shards", "2", "--keep-states")
    (run,) = Path(".kmc/runs").iterdir()
    for file in copy.glob("*.py"):
        file.write_text(file.read_text().replace("+ 1", "+ 2"))
    found = kmc("states", str(run))
    assert (found.exit_code, "KMC554" in found.stderr) == (153, True)


def test_threads_and_spark_exclude_each_other(run: str) -> None:
    found = kmc("states", run, "--threads", "2", "--spark", "local[2]")
    assert (found.exit_code, "error[KMC619]: --threads and --spark exclude each other" in found.stderr) == (2, True)


def test_a_missing_pyspark_is_named_before_anything_is_written(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_choice, "find_spec", lambda name: None)
    found = kmc("states", run, "--spark", "local[2]")
    assert (found.exit_code, "error[KMC618]" in found.stderr) == (2, True)
    assert not (Path(run) / "tables").exists()


@pytest.mark.parametrize("missing", ["pyarrow", "duckdb"])
def test_a_missing_package_is_named_with_what_installs_it(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states_command, "find_spec", lambda name: None if name == missing else object())
    for words in (("states", "."), ("query", ".", "SELECT 1")):
        found = kmc(*words)
        assert (found.exit_code, f"error[KMC505]: {missing} is not installed" in found.stderr) == (153, True)
        assert f"install it: {sys.executable} -m pip install 'kraft-model-checker[tables]'" in found.stderr


def test_last_is_the_newest_run_that_will_do(run: str) -> None:
    untold = kmc("query", "last", "SELECT 1")
    assert (untold.exit_code, f"write them: kmc states {run}" in untold.stderr) == (2, True)
    kmc("check", COUNTER, "--engine", "python")  # newer, without states
    assert kmc("states", "last").exit_code == 0
    assert kmc("query", "last", "SELECT count(*) AS n FROM states", "--json").exit_code == 0


def test_where_no_states_are_kept_the_advice_is_a_check_that_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("query", "last", "SELECT 1"), ("states", "last")):
        assert "kmc check SPEC MODEL --shards 4 --keep-states" in kmc(*words).stderr
    kmc("check", "die_hard")
    (run,) = Path(".kmc/runs").iterdir()
    told = kmc("query", str(run), "SELECT 1").stderr
    assert "kmc check die_hard smoke --shards 4 --keep-states, then: kmc states last" in told
    assert f"kmc states {run}" not in told
