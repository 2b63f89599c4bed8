"""`kmc plan`: what the first levels of a search say of the whole."""

from __future__ import annotations

import json
import math
from itertools import accumulate
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

from kmc.bench.growth import forecast
from kmc.unexplained import ERRORS_VARIABLE

RESULTS = Path(__file__).parents[3] / "results"
BELL = [round(1e6 * math.exp(-(((level - 30) / 9) ** 2))) for level in range(6, 80)]
"""Levels whose ratios fall evenly, down to none."""


def levels_of(spec: str, model: str) -> list[int]:
    """The levels of a model that was explored to its end, as results/ tells them."""
    found = json.loads((RESULTS / f"{spec}.json").read_text())
    return list(found["models"][model]["levels"])


def test_even_growth_is_carried_on_to_its_end() -> None:
    whole = [size for size in BELL if size]
    told = forecast(whole[:22], None, ended=False)
    assert told.states == pytest.approx(sum(whole), rel=0.05)
    assert told.states_high is not None
    assert told.states_low <= told.states <= told.states_high
    assert told.widest == pytest.approx(max(whole), rel=0.05)
    assert told.levels_high is not None
    assert told.levels_low <= len(whole) <= told.levels_high


SHIPPED = ("kip_642", "kip_996", "kip_996_draft", "kraft")


def _large() -> list[tuple[str, list[int], int | None]]:
    """The models of results/ above a million states that were explored to their end: name, levels, bound of levels."""
    found = []
    for spec in SHIPPED:
        for name, record in json.loads((RESULTS / f"{spec}.json").read_text())["models"].items():
            is_end = record["result"] == "ok" or record["bound"] in ("depth", "constraint")
            if record["distinct"] >= 1_000_000 and is_end:
                bound = len(record["levels"]) if record["bound"] == "depth" else None
                found.append((f"{spec} {name}", list(record["levels"]), bound))
    return found


@pytest.mark.parametrize("share", [2, 3, 6, 12])
def test_nine_of_ten_intervals_contain_the_states_and_nine_of_ten_the_levels(share: int) -> None:
    missed: dict[str, list[str]] = {"states": [], "levels": []}
    models = _large()
    for name, whole, bound in models:
        # As `kmc plan` does it by default, but never all of a model.
        wanted = min(3_000_000, sum(whole) / share)
        sample = next(number for number, states in enumerate(accumulate(whole), 1) if states >= wanted)
        told = forecast(whole[:sample], bound, ended=False)
        for kind, truth, low, high in (
            ("states", sum(whole), told.states_low, told.states_high),
            ("levels", len(whole), told.levels_low, told.levels_high),
        ):
            missed[kind] += [] if low <= truth <= (high or math.inf) else [f"{name}: {low} to {high}, not {truth}"]
    assert len(models) >= 50
    for kind, names in missed.items():
        assert len(names) <= len(models) / 10, (kind, names)


def test_an_interval_from_a_third_of_a_model_is_narrow_enough_to_plan_with() -> None:
    wide = []
    for _, whole, bound in _large():
        sample = next(number for number, states in enumerate(accumulate(whole), 1) if states >= sum(whole) / 3)
        told = forecast(whole[:sample], bound, ended=False)
        wide.append(math.inf if told.states_high is None else told.states_high / told.states_low)
    assert sorted(wide)[len(wide) // 2] < 4


def test_a_sample_that_ended_is_exact() -> None:
    told = forecast([1, 4, 2], None, ended=True)
    assert (told.states_low, told.states_high, told.levels_low, told.widest, told.is_exact) == (7, 7, 3, 4, True)


def test_a_bound_of_levels_is_the_end() -> None:
    assert forecast([1, 2, 4, 8, 16], 4, ended=False).states_high == 15
    told = forecast([2**level for level in range(14)], 16, ended=False)
    assert (told.levels_low, told.levels_high) == (16, 16)
    assert told.states == pytest.approx(2**16, rel=0.01)


@pytest.mark.parametrize("levels", [[2**level for level in range(14)], [1, 2, 4]])
def test_growth_that_does_not_slow_down_has_no_end_in_sight(levels: list[int]) -> None:
    told = forecast(levels, None, ended=False)
    assert (told.states_high, told.is_exact) == (None, False)
    assert told.states_low >= sum(levels)


@pytest.mark.slow
def test_a_small_model_is_told_exactly_with_the_command_to_type() -> None:
    told = kmc("plan", "kraft", "smoke", "--no-unread", "--quiet")
    assert told.exit_code == 0, told.stderr
    assert "Exact: these are all 10,468 states within the bounds of the model." in told.stdout
    assert "kmc check kraft smoke" in told.stdout.splitlines()[-1]
    assert "On 16 cores" not in told.stdout


@pytest.mark.slow
def test_a_model_that_fails_soon_is_planned_to_end_there() -> None:
    told = kmc("plan", "die_hard", "solution", "--quiet", "--threads", "1")
    assert told.exit_code == 0, told.stderr
    assert "A failure was found: a check ends there, with these " in told.stdout
    assert "Estimate" not in told.stdout
    assert "--spark" not in told.stdout
    assert told.stdout.splitlines()[-1].startswith("This machine suffices")
    found = json.loads(kmc("plan", "kraft", "restarts", "--no-unread", "--quiet", "--threads", "1", "--json").stdout)
    assert (found["forecast"]["is_exact"], found["forecast"]["states_high"]) == (True, found["sample"]["states"])


@pytest.mark.slow
def test_a_plan_as_json_says_how_it_was_made() -> None:
    told = kmc("plan", "kraft", "standard", "--sample", "8000", "--threads", "1", "--no-unread", "--json", "--quiet")
    found = json.loads(told.stdout)
    assert 8000 <= found["sample"]["states"] < 36_862
    assert not found["forecast"]["is_exact"]
    assert found["check"] == ["kmc", "check", "kraft", "standard"]
    assert set(found["needs"][0]["seconds_by_cores"]) == {"1", "16", "64"}
    text = kmc("plan", "kraft", "standard", "--sample", "8000", "--threads", "1", "--no-unread", "--quiet").stdout
    assert "Estimate: " in text
    assert "if they scale at 70%" in text


@pytest.mark.slow
def test_the_command_to_type_has_quotes_where_a_shell_needs_them() -> None:
    given = "Server={s1,s2}"
    told = kmc("plan", "kraft", "smoke", "--set", given, "--sample", "1000", "--threads", "1", "--no-unread", "--quiet")
    assert told.exit_code == 0, told.stderr
    assert "kmc check kraft smoke --set 'Server={s1,s2}'" in told.stdout


@pytest.mark.slow
def test_a_count_of_the_manifest_is_planned_with() -> None:
    words = ("plan", "kip_996", "smoke", "--sample", "1000", "--no-unread", "--quiet")
    found = json.loads(kmc(*words, "--json").stdout)
    expected = sum(levels_of("kip_996", "smoke"))
    assert (found["expected_states"], [need["states"] for need in found["needs"]]) == (expected, [expected])
    assert f"Known: the manifest expects {expected:,} states; what follows is for these.\n" in kmc(*words).stdout


@pytest.mark.slow
def test_what_nothing_reads_any_more_is_named_with_what_it_costs() -> None:
    told = kmc("plan", "two_phase_commit", "smoke", "--threads", "1", "--quiet").stdout
    assert "Of the 288 states of the first 11 levels are left\n    136 without prepared of State while tm is " in told
    found = json.loads(kmc("plan", "two_phase_commit", "smoke", "--threads", "1", "--quiet", "--json").stdout)
    (only,) = found["unread"]["dropped"]
    assert only == {"what": "prepared of State while tm is Aborted or Committed", "states": 136}


@pytest.mark.slow
def test_a_mistake_in_the_search_for_unread_state_costs_a_plan_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_model: object) -> None:
        raise KeyError("planted")

    monkeypatch.delenv(ERRORS_VARIABLE)
    monkeypatch.setattr("kmc.cli.commands.plan.unread_savings", fail)
    told = kmc("plan", "die_hard", "solution", "--quiet", "--threads", "1")
    assert told.exit_code == 0, told.stderr
    assert told.stderr.startswith("Warning: The search for unread state failed with KeyError: 'planted'")
    assert "This machine suffices" in told.stdout
