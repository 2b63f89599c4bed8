"""`kmc check --json` says the same on both engines, for each small shipped model: all but times and the engine."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.cli_runner import kmc

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


def test_the_native_engine_is_the_default() -> None:
    done = kmc("check", "die_hard", "solution", "--json", "--no-run-dir")
    assert json.loads(done.stdout)["engine"] == "native"
