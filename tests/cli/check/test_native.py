"""`kmc check --engine native`: the same answers from compiled kernels."""

from __future__ import annotations

import json

import pytest
from support.commands.cli_runner import kmc


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_native_engine_gives_the_expected_counts(threads: str) -> None:
    done = kmc("check", "kraft", "smoke", "--engine", "native", "--threads", threads, "--no-run-dir")
    assert done.exit_code == 0
    assert "Counts equal the expected ones (origin: TLC, case kraft-1)." in done.stdout


@pytest.mark.slow
def test_both_engines_show_the_same_counterexample() -> None:
    outputs = [
        kmc("check", "kraft", "restarts", "--engine", engine, "--json", "--no-run-dir")
        for engine in ("python", "native")
    ]
    answers = [json.loads(done.stdout) for done in outputs]
    assert [done.exit_code for done in outputs] == [12, 12]
    compared = (
        "result",
        "generated",
        "distinct",
        "depth",
        "levels",
        "generated_by_action",
        "invariant",
        "trace_length",
    )
    assert {key: answers[0][key] for key in compared} == {key: answers[1][key] for key in compared}


@pytest.mark.slow
def test_the_native_engine_states_its_collision_bound() -> None:
    done = kmc("check", "kraft", "smoke", "--engine", "native", "--no-run-dir")
    assert "(bound: n(n-1)/2^(b+1) for n states, b-bit fingerprints)" in done.stdout
