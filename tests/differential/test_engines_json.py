"""`kmc check --json` says the same on both engines, for each small shipped model: all but times and the engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import IMPORTS

TIMES = ("seconds", "cpu_seconds", "compile_seconds", "peak_memory_bytes")
# The interpreter compares values and has no fingerprints.
OF_THE_ENGINE = ("engine", "fingerprint_bits", "collision_bound", "trace_file")
CHECKS = [
    ("die_hard", "solution"),
    ("two_phase_commit", "smoke"),
    ("kraft", "smoke"),
    ("kraft", "restarts"),
    ("kraft", "restarts", "--continue", "--max-depth", "8"),
    ("kraft", "standard", "--max-depth", "7", "--strict"),
    # Deeper levels are in test_golden_counts, and of actions and reachable properties they reach no more.
    ("kip_996", "smoke", "--max-depth", "7"),
]


def told(engine: str, words: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    """The exit status and what an engine says, without what may differ."""
    done = kmc("check", *words, "--engine", engine, "--json", "--no-run-dir")
    found = json.loads(done.stdout)
    assert found["engine"] == engine
    return done.exit_code, {key: value for key, value in found.items() if key not in TIMES + OF_THE_ENGINE}


@pytest.mark.slow
@pytest.mark.parametrize("words", CHECKS, ids=" ".join)
def test_both_engines_say_the_same(words: tuple[str, ...]) -> None:
    assert told("native", words) == told("python", words)


REFUTED_IN_LEVEL_TWO = """
from kmc.spec import eventually

Bad = constant("Bad", Int(0, 9), "The number that the invariant forbids", 1)
Last = constant("Last", Int(0, 9), "The number without a successor", 9)


class State(Record):
    n: Int(0, 9)


@spec.init
def init():
    yield State(n=0)


@spec.action
def up(st):
    if st.n < Last:
        yield st.set(n=st.n + 1)


@spec.invariant
def NotBad(st):
    return st.n != Bad


@spec.liveness
def Five():
    return eventually(lambda st: st.n == 5)
"""
"""A behaviour that stays in the initial state refutes the property, which shows when level 2 is made."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "last", "statuses"),
    [(0, 9, (12, 12)), (1, 9, (12, 12)), (2, 9, (13, 12)), (9, 0, (11, 11)), (9, 1, (13, 11)), (2, 2, (13, 12))],
)
@pytest.mark.parametrize("keep_going", [False, True])
def test_all_ways_say_the_same_of_a_failure_beside_a_refuted_property(
    bad: int, last: int, statuses: tuple[int, int], keep_going: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(IMPORTS + REFUTED_IN_LEVEL_TWO)
    Path("model.cfg").write_text(f"CONSTANTS Bad = {bad} Last = {last} INVARIANT NotBad PROPERTY Five")
    check = ("check", "counting.py", "model.cfg", "--json", *["--continue"] * keep_going)
    ways = (("--engine", "python"), ("--threads", "1"), ("--threads", "2"), ("--shards", "1"), ("--shards", "5"))
    answers = []
    for way in ways:
        done = kmc(*check, *way)
        found = json.loads(done.stdout)
        others = (*TIMES, *OF_THE_ENGINE, "shards", "run_dir")
        answers.append((done.exit_code, {key: value for key, value in found.items() if key not in others}))
    for way, answer in zip(ways, answers, strict=True):
        assert answer == answers[0], way
    # A search that keeps going reports the failure, wherever it is.
    assert answers[0][0] == statuses[keep_going]


def test_the_native_engine_is_the_default() -> None:
    done = kmc("check", "die_hard", "solution", "--json", "--no-run-dir")
    assert json.loads(done.stdout)["engine"] == "native"
