"""`kmc bench --shards`: whole checks in several ways, in turns, with equal results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

from kmc.bench import whole_checks
from kmc.bench.whole_checks import Way, WholeCheck, check_once, compare
from kmc.errors import SystemFault


@pytest.mark.slow
def test_a_comparison_is_written_with_all_its_runs(tmp_path: Path) -> None:
    words = ["--shards", "2", "--runs", "1", "--threads", "1", "--out", str(tmp_path), "--json"]
    ran = kmc("bench", "kraft", "smoke", *words)
    assert ran.exit_code == 0, ran.stderr
    found = json.loads((tmp_path / "kraft-smoke-shards.json").read_text())
    assert (found["distinct"], found["generated"], found["depth"]) == (10_468, 23_167, 30)
    assert list(found["ways"]) == ["in memory", "2 shards on threads"]
    one = found["ways"]["2 shards on threads"]
    assert one["shards"]["stored_bytes"] >= 8 * 10_468
    assert one["rate_by_cpu"] == pytest.approx(found["ways"]["in memory"]["cpu_seconds"] / one["cpu_seconds"], rel=0.01)
    assert one["java_cpu_seconds"] == 0
    assert one["peak_memory_bytes"] > 1 << 24
    assert len(one["runs"]) == 1


@pytest.mark.slow
def test_a_comparison_ends_after_the_states_asked_for(tmp_path: Path) -> None:
    words = ["--shards", "2", "--states", "500", "--runs", "1", "--threads", "1", "--out", str(tmp_path), "--json"]
    ran = kmc("bench", "kraft", "smoke", *words)
    assert ran.exit_code == 0, ran.stderr
    found = json.loads((tmp_path / "kraft-smoke-shards.json").read_text())
    assert found["check"] == ["kraft", "smoke", "--max-states", "500"]
    assert 500 < found["distinct"] < 10_468


@pytest.mark.parametrize("option", [["--python"], ["--tlc", "tla2tools.jar"], ["--spec-dir", "."]])
def test_what_a_comparison_does_not_measure_is_refused(option: list[str]) -> None:
    ran = kmc("bench", "kraft", "smoke", "--shards", "2", *option)
    assert ran.exit_code == 2
    assert f"{option[0]} measures nothing with --shards" in ran.stderr


@pytest.mark.parametrize(("words", "code"), [(("krafft", "smoke"), "KMC605"), (("kraft", "smoky"), "KMC349")])
def test_a_model_that_is_not_there_is_refused_before_a_process_begins(
    words: tuple[str, str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_checks, "check_once", None)
    ran = kmc("bench", *words, "--shards", "2")
    assert (code in ran.stderr, ran.exit_code) == (True, {"KMC605": 2, "KMC349": 151}[code])


@pytest.mark.slow
def test_a_check_without_a_result_is_an_error_with_its_last_lines() -> None:
    with pytest.raises(SystemFault, match="the check a way ended with status") as caught:
        check_once(Way("a way", ("--threads", "0")), ["kraft", "smoke"])
    assert caught.value.code == "KMC549"
    assert any("--threads" in note for note in caught.value.notes)


def test_different_results_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    result = dict.fromkeys(whole_checks._SAME, 1)
    one = WholeCheck("a", 1.0, 2.0, 3.0, 4.0, 0.0, result)
    answers = iter([one, replace(one, way="b", result={**result, "depth": 2})])
    monkeypatch.setattr(whole_checks, "check_once", lambda way, words: next(answers))
    with pytest.raises(SystemFault, match="b and a give different results: depth"):
        compare(["kraft"], [Way("a", ()), Way("b", ())], 1, lambda text: None)


def test_cpu_is_that_of_all_processes() -> None:
    assert WholeCheck("a", 1.0, 2.0, 3.0, 4.0, 0.0, {}).cpu_seconds == 7.0


def test_what_is_on_spark_is_projected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = {
        **dict.fromkeys(whole_checks._SAME, 1),
        "distinct": 9,
        "generated": 9,
        "levels": [9],
        "cpu_seconds": 7.0,
        "shards": {
            "shards_used": 4,
            **dict.fromkeys(("sent_bytes", "rows_bytes", "runs_bytes", "stored_bytes"), 0),
        },
        "peak_memory_bytes": 3 << 20,
    }
    asked: list[tuple[str, ...]] = []

    def checked(way: Way, words: object) -> WholeCheck:
        asked.append(way.words)
        return WholeCheck(way.name, 1.0, 2.0, 3.0, 4.0, 0.0, result)

    monkeypatch.setattr(whole_checks, "check_once", checked)
    masters = ["--spark", "local[2]", "--spark", "spark://host:7077"]
    ran = kmc("bench", "kraft", "smoke", "--runs", "1", *masters, "--out", str(tmp_path))
    assert ran.exit_code == 0, ran.stderr
    assert [words[3] for words in asked if "--spark" in words] == ["local[2]"] * 2 + ["spark://host:7077"] * 2
    told = [line for line in ran.stdout.splitlines() if "not measured" in line]
    assert len(told) == 4
    assert sum(line.endswith(" 3 MB") for line in ran.stdout.splitlines()) == 6
    assert "on local[2], by shuffle, not measured: 16 cores 7.0 s, 64 cores 7.0 s" in told[0]
    ways = json.loads((tmp_path / "kraft-smoke-shards.json").read_text())["ways"]
    assert [one["projected_seconds"] for one in ways.values()][:3] == [None, None, {"16": 7.0, "64": 7.0}]
