"""`kmc plan`: what the first levels of a search say of the whole."""

from __future__ import annotations

import json
import math
from itertools import accumulate
from pathlib import Path

import pytest
from support.cli_runner import kmc

from kmc.bench.growth import forecast

RESULTS = Path(__file__).parents[2] / "results"
BELL = [round(1e6 * math.exp(-(((level - 30) / 9) ** 2))) for level in range(6, 80)]
"""Levels whose ratios fall evenly, down to none."""


def levels_of(spec: str, model: str) -> list[int]:
    """The levels of a model that was explored to its end, as results/ tells them."""
    found = json.loads((RESULTS / f"{spec}.json").read_text())
    return list(found["models"][model]["levels"])


def test_even_growth_is_carried_on_to_its_end() -> None:
    whole = [size for size in BELL if size]
    told = forecast(whole[:22], None, ended=False)
    assert told.states_low == pytest.approx(sum(whole), rel=0.05)
    assert told.states_high == pytest.approx(sum(whole), rel=0.05)
    assert told.widest == pytest.approx(max(whole), rel=0.05)
    assert abs(told.levels_low - len(whole)) <= 3


@pytest.mark.parametrize(
    ("spec", "model"),
    [("kip_996", "standard"), ("kip_996", "large"), ("kip_996", "grow"), ("kraft", "corrected_whole")],
)
def test_real_models_are_estimated_from_three_million_states(spec: str, model: str) -> None:
    whole = levels_of(spec, model)
    sample = next(number for number, states in enumerate(accumulate(whole), 1) if states >= 3_000_000)
    told = forecast(whole[:sample], None, ended=False)
    assert told.states_high is not None
    assert 0.4 * sum(whole) <= told.states_low <= told.states_high <= 1.4 * sum(whole)


def test_a_sample_that_ended_is_exact() -> None:
    told = forecast([1, 4, 2], None, ended=True)
    assert (told.states_low, told.states_high, told.levels_low, told.widest, told.is_exact) == (7, 7, 3, 4, True)


def test_a_bound_of_levels_is_the_end() -> None:
    assert forecast([1, 2, 4, 8, 16], 4, ended=False).states_high == 15
    told = forecast([2**level for level in range(14)], 16, ended=False)
    assert (told.levels_low, told.levels_high) == (16, 16)
    assert told.states_high == pytest.approx(2**16, rel=0.01)


@pytest.mark.parametrize("levels", [[2**level for level in range(14)], [1, 2, 4]])
def test_growth_that_does_not_slow_down_has_no_end_in_sight(levels: list[int]) -> None:
    told = forecast(levels, None, ended=False)
    assert (told.states_high, told.is_exact) == (None, False)
    assert told.states_low >= sum(levels)


def test_a_small_model_is_told_exactly_with_the_command_to_type() -> None:
    told = kmc("plan", "kraft", "smoke", "--quiet")
    assert told.exit_code == 0, told.stderr
    assert "Exact: these are all 10,468 states within the bounds of the model." in told.stdout
    assert "kmc check kraft smoke" in told.stdout.splitlines()[-1]
    assert "On 16 cores" not in told.stdout


def test_a_model_that_fails_soon_is_planned_to_end_there() -> None:
    told = kmc("plan", "die_hard", "solution", "--quiet", "--threads", "1")
    assert told.exit_code == 0, told.stderr
    assert "A failure was found: a check ends there, with these " in told.stdout
    assert "Estimate" not in told.stdout
    assert "--spark" not in told.stdout
    assert told.stdout.splitlines()[-1].startswith("This machine suffices")
    found = json.loads(kmc("plan", "kraft", "restarts", "--quiet", "--threads", "1", "--json").stdout)
    assert (found["forecast"]["is_exact"], found["forecast"]["states_high"]) == (True, found["sample"]["states"])


def test_a_plan_as_json_says_how_it_was_made() -> None:
    told = kmc("plan", "kraft", "standard", "--sample", "8000", "--threads", "1", "--json", "--quiet")
    found = json.loads(told.stdout)
    assert 8000 <= found["sample"]["states"] < 36_862
    assert not found["forecast"]["is_exact"]
    assert found["check"] == ["kmc", "check", "kraft", "standard"]
    assert set(found["needs"][0]["seconds_by_cores"]) == {"1", "16", "64"}
    text = kmc("plan", "kraft", "standard", "--sample", "8000", "--threads", "1", "--quiet").stdout
    assert "Estimate: " in text
    assert "if they scale at 70%" in text


def test_the_command_to_type_has_quotes_where_a_shell_needs_them() -> None:
    given = "Server={s1,s2}"
    told = kmc("plan", "kraft", "smoke", "--set", given, "--sample", "1000", "--threads", "1", "--quiet")
    assert told.exit_code == 0, told.stderr
    assert "kmc check kraft smoke --set 'Server={s1,s2}'" in told.stdout


def test_a_count_of_the_manifest_is_planned_with() -> None:
    words = ("plan", "kip_996", "smoke", "--sample", "1000", "--quiet")
    found = json.loads(kmc(*words, "--json").stdout)
    expected = sum(levels_of("kip_996", "smoke"))
    assert (found["expected_states"], [need["states"] for need in found["needs"]]) == (expected, [expected])
    assert f"Known: the manifest expects {expected:,} states; what follows is for these.\n" in kmc(*words).stdout
