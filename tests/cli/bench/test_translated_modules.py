"""`kmc plan` and `kmc bench` with `--engine native`: the translation of a TLA+ module is explored and measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import check_json, kmc
from support.commands.fake_java import fake_java

from kmc.errors import ExitStatus

DATA = Path(__file__).parents[2] / "data" / "tla" / "checked"
POOL = str(DATA / "Pool.tla")

LATE = """---- MODULE Late ----
EXTENDS Naturals
VARIABLES steps, size
Init == steps = 0 /\\ size = 0
Next == steps < 2600 /\\ steps' = steps + 1 /\\ size' = IF steps < 2500 THEN 0 ELSE 5
====
"""
"""Its `size` has a value other than 0 behind all that is observed."""

TLC_STOPPED = "60 states generated, 28 distinct states found, 3 states left on queue."


@pytest.fixture
def late(tmp_path: Path) -> str:
    path = tmp_path / "Late.tla"
    path.write_text(LATE)
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    return str(path)


def test_a_native_plan_of_a_small_module_is_exact() -> None:
    found = json.loads(kmc("plan", POOL, "--engine", "native", "--threads", "1", "--json").stdout)
    assert (found["forecast"]["is_exact"], found["forecast"]["states"], found["engine"]) == (True, 28, "native")
    assert found["check"] == ["kmc", "check", POOL, "--engine", "native"]
    assert found["needs"][0]["disk_bytes"] > 0
    assert found["row_bytes"] > 0


@pytest.mark.slow
def test_a_native_plan_says_that_a_failure_ends_the_check() -> None:
    shown = kmc("plan", str(DATA / "Grid.tla"), "--engine", "native", "--quiet").stdout
    assert "A failure was found" in shown


@pytest.mark.slow
def test_a_check_begins_with_the_types_that_a_plan_has_found(late: str) -> None:
    planned = kmc("plan", late, "--engine", "native", "--sample", "5000")
    assert "the search starts again with wider types" in planned.stderr
    checked = kmc("check", late, "--engine", "native", "--no-run-dir")
    assert checked.exit_code == ExitStatus.OK
    assert "the search starts again" not in checked.stderr


def test_the_interpreter_is_advised_against_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.cli.commands.plan.available_bytes", lambda: 1)
    monkeypatch.setattr("kmc.cli.modules.planning.available_bytes", lambda: 1)
    shown = kmc("plan", POOL, "--quiet").stdout
    assert f"takes a hundredth of the time: kmc check {POOL} --engine native" in shown


@pytest.mark.parametrize("command", ["plan", "bench"])
def test_the_engine_of_a_spec_in_python_is_not_chosen(command: str) -> None:
    refused = kmc(command, "kraft", "--engine", "native")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--engine is for TLA+ modules" in refused.stderr


@pytest.mark.slow
def test_a_native_benchmark_has_the_runs_of_the_translation(tmp_path: Path) -> None:
    words = ("--engine", "native", "--runs", "1", "--threads", "1,2", "--states", "1000", "--out", str(tmp_path))
    ran = kmc("bench", POOL, str(DATA / "PoolView.cfg"), *words, "--no-starts")
    assert ran.exit_code == ExitStatus.OK, ran.output
    written = json.loads((tmp_path / "Pool-PoolView-translated.json").read_text())
    interpreted = check_json(POOL, str(DATA / "PoolView.cfg"), "--engine", "python")
    for threads in ("1", "2"):
        figures = written["figures"][threads]
        assert (figures["generated"], figures["distinct"]) == (interpreted["generated"], interpreted["distinct"])
    assert str(DATA) not in json.dumps(written)
    assert "the translation of the TLA+ module Pool" in ran.stdout


@pytest.mark.slow
def test_a_native_benchmark_compares_with_tlc_on_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = fake_java(tmp_path, monkeypatch, TLC_STOPPED, "Pool")
    own = ("--engine", "native", "--runs", "1", "--threads", "1", "--states", "1000", "--out", str(tmp_path), "--json")
    ran = kmc("bench", POOL, *words, "--tlc-seconds", "9", "--no-starts", *own)
    assert ran.exit_code == ExitStatus.OK, ran.output
    (found,) = json.loads(ran.stdout)["benchmarks"]
    assert found["tlc"]["runs"][0]["generated"] == 60
    assert found["ratios"]["1"]["generated_per_second"] > 0
    calls = (tmp_path / "bin" / "calls").read_text()
    assert "stopAfter=9" in calls
    assert calls.count("Pool.tla") == 2


@pytest.mark.slow
def test_a_native_benchmark_starts_the_module_itself(tmp_path: Path) -> None:
    own = ("--runs", "1", "--threads", "1", "--states", "1000", "--out", str(tmp_path), "--json")
    (found,) = json.loads(kmc("bench", POOL, "--engine", "native", *own).stdout)["benchmarks"]
    assert 0 < found["starts"]["cached_seconds"] < found["starts"]["cold_seconds"]


@pytest.mark.slow
def test_a_module_that_fails_is_not_measured(tmp_path: Path) -> None:
    refused = kmc("bench", str(DATA / "Grid.tla"), "--engine", "native", "--states", "1000", "--out", str(tmp_path))
    assert refused.exit_code == ExitStatus.SYSTEM
    assert "KMC545" in refused.stderr
    assert not list(tmp_path.glob("*.json"))
