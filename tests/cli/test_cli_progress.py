"""Progress on stderr: TLC's words, and how often a line comes."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import datetime

import pytest
from rich.console import Console

from kmc.cli.console import count_in_words
from kmc.cli.progress import Progress, StatusLine, disk_warning, live_text, progress_text, shards_text
from kmc.result import Counters, LevelInWork, LookingBack, ShardProgress

NOON = datetime(2026, 11, 20, 12, 0, 0)
FIRST = Counters(1_864_449, 596_235, 440_358, 10, 60.0, 512 * 1024**2)
SECOND = Counters(1_864_449 + 300, 596_235 + 30, 440_000, 11, 90.0, 3 * 1024**3)


def test_the_first_line_has_the_rates_since_the_beginning() -> None:
    assert progress_text(FIRST, None, NOON) == (
        "Progress(10) at 2026-11-20 12:00:00: 1,864,449 states generated (1,864,449 s/min), 596,235 distinct states "
        "found (596,235 ds/min), 440,358 states left on queue, 512 MB of memory."
    )


def test_a_later_line_has_the_rates_since_the_one_before() -> None:
    assert progress_text(SECOND, FIRST, NOON) == (
        "Progress(11) at 2026-11-20 12:00:00: 1,864,749 states generated (600 s/min), 596,265 distinct states found "
        "(60 ds/min), 440,000 states left on queue, 3.0 GB of memory."
    )


def test_a_line_at_the_very_beginning_has_no_rate_to_divide_by() -> None:
    assert "(0 s/min)" in progress_text(Counters(1, 1, 1, 1, 0.0, 0), None, NOON)


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The seconds now."""
        return self.now


MEGABYTE = 1024**2
WORK = LevelInWork(level=24, phase="expand", done=37, tasks=120, new=0, task_skew=1.34)
SHARDS = ShardProgress(300 * MEGABYTE, 5 * 1024 * MEGABYTE, 4 * 1024 * MEGABYTE, 1.014, 64, WORK)
IN_SHARDS = replace(SECOND, shards=SHARDS)


def test_the_level_in_work_is_told_apart() -> None:
    assert shards_text(IN_SHARDS, SHARDS) == (
        "Level 24 in work: expand 37 of 120 tasks done, the longest 1.3 times the median; 0 new states so far. "
        "Since the beginning: 300 MB sent to shards, 5.0 GB written, 4.0 GB on disk, "
        "the largest shard 1.01 times the mean, odds of a collision 9.6E-09."
    )


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (None, "Between levels. Since"),
        (replace(WORK, task_skew=None), "Level 24 in work: expand 37 of 120 tasks done; 0 new states"),
        (replace(WORK, phase="merge", done=3, tasks=4, new=5_000), "merge 3 of 4 tasks done, the longest 1.3 times"),
        (LevelInWork(24, "check", 0, 0, 5_000, None), "in work: check again what it accepted; 5,000 new states so far"),
    ],
)
def test_phases_have_their_words(level: LevelInWork | None, text: str) -> None:
    assert text in shards_text(IN_SHARDS, replace(SHARDS, level=level))


def test_a_search_for_the_trace_says_so() -> None:
    back = replace(SHARDS, level=None, looking_back=LookingBack(12, 1_053))
    told = "nother search looks for its trace: level 12 of 1,053"
    assert shards_text(IN_SHARDS, back).startswith(f"A failure was found. A{told}. Since the beginning: ")
    assert live_text(IN_SHARDS, back, FIRST) == (
        f"A failure was found; a{told} | 596.3 K states | 4.0 GB on disk | 3.0 GB of memory"
    )


def test_the_odds_are_those_of_all_states_found() -> None:
    # Twice as many states collide four times as often.
    more = replace(SHARDS, level=replace(WORK, new=SECOND.distinct))
    assert "odds of a collision 3.9E-08" in shards_text(IN_SHARDS, more)
    assert "odds of a collision 5.2E-28" in shards_text(IN_SHARDS, replace(SHARDS, fingerprint_bits=128))


def test_a_terminal_has_one_line_of_its_width() -> None:
    text = live_text(IN_SHARDS, SHARDS, FIRST)
    assert text == (
        "Level 24: expand 37/120 tasks (skew 1.3), 0 new | 596.3 K states, 10 generated/s | collision 9.6E-09 | "
        "300 MB sent, 5.0 GB written, 4.0 GB on disk | 3.0 GB of memory"
    )
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, soft_wrap=True, highlight=False)
    clock = Clock()
    with StatusLine(console, seconds=clock) as line:
        clock.now = 2.0
        Progress(line, clock=lambda: NOON)(IN_SHARDS)
    rows = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n").splitlines()
    (row,) = {row.strip() for row in rows if "Level" in row}  # it may be drawn more than once
    assert row.startswith("Level 24: expand 37/120 tasks (skew 1.3), 0 new | 596.3 K states")
    assert row.endswith("…")
    assert len(row) == 80


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (None, "Level 11 done | 596.3 K states"),
        (LevelInWork(12, "merge", 3, 4, 5_000, None), "Level 12: merge 3/4 tasks, 5.0 K new |"),
        (LevelInWork(12, "check", 0, 0, 5_000, None), "Level 12: check, 5.0 K new |"),
    ],
)
def test_a_terminal_tells_the_phase(level: LevelInWork | None, text: str) -> None:
    assert live_text(IN_SHARDS, replace(SHARDS, level=level), FIRST).startswith(text)


@pytest.mark.parametrize(("count", "text"), [(0, "0"), (999, "999"), (54_846_012, "54.8 M"), (10**13, "10,000.0 G")])
def test_counts_are_short(count: int, text: str) -> None:
    assert count_in_words(count) == text


def test_elsewhere_a_second_line_follows_tlcs() -> None:
    stream = io.StringIO()
    clock = Clock()
    with StatusLine(Console(file=stream, width=80, soft_wrap=True), seconds=clock) as line:
        clock.now = 2.0
        Progress(line, clock=lambda: NOON)(IN_SHARDS)
    first, second = stream.getvalue().splitlines()
    assert first == progress_text(SECOND, None, NOON)
    assert second == "  " + shards_text(IN_SHARDS, SHARDS)


SHORT = replace(SHARDS, level=None, next_level_bytes=3 * MEGABYTE, free_bytes=2 * MEGABYTE)


def test_a_disk_that_is_too_small_is_warned_of() -> None:
    assert disk_warning(SHORT) == (
        "Warning: The next level probably takes 3 MB, and the disk of the run has 2 MB left. Free space now: a full "
        "disk ends the run, which goes on from its last save."
    )
    for enough in (replace(SHORT, free_bytes=3 * MEGABYTE), replace(SHORT, free_bytes=None), SHARDS):
        assert disk_warning(enough) is None


@pytest.mark.parametrize(("quiet", "times"), [(False, 1), (True, 0)])
def test_the_warning_comes_once_and_does_not_wait(quiet: bool, times: int) -> None:
    stream = io.StringIO()
    with StatusLine(Console(file=stream, width=80, soft_wrap=True), quiet=quiet, seconds=Clock()) as line:
        progress = Progress(line, clock=lambda: NOON)
        for shards in (SHARDS, SHORT, SHORT):
            progress(replace(SECOND, shards=shards))
    assert stream.getvalue().count("Warning: The next level") == times


def reports_at(*moments: float, quiet: bool = False, terminal: bool = False) -> list[str]:
    """The lines that come when a search reports at these moments."""
    clock, stream = Clock(), io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=200, soft_wrap=True, highlight=False)
    with StatusLine(console, quiet=quiet, seconds=clock) as line:
        progress = Progress(line, clock=lambda: NOON)
        for number, moment in enumerate(moments, start=1):
            clock.now = moment
            progress(Counters(number, number, 0, 1, moment, 0))
    return [line for line in stream.getvalue().splitlines() if "Progress" in line]


def test_nothing_is_shown_in_the_first_second() -> None:
    assert reports_at(0.5, 0.9) == []


def test_plain_lines_come_every_ten_seconds() -> None:
    shown = [line.split(": ")[1].split()[0] for line in reports_at(1, 2, 10.9, 11, 12, 21)]
    assert shown == ["1", "4", "6"]


def test_a_quiet_line_is_never_due() -> None:
    assert reports_at(1, 20, quiet=True) == []


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(("quiet", "shown"), [(True, False), (False, True)])
def test_only_a_line_that_is_not_quiet_shows_what_it_is_told(terminal: bool, quiet: bool, shown: bool) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=200)
    with StatusLine(console, quiet=quiet) as line:
        line.update("Checking kraft smoke (1 of 2).")
    assert ("Checking" in stream.getvalue()) == shown


def test_a_terminal_is_told_every_second() -> None:
    assert len(reports_at(1, 2, 3, terminal=True)) >= 3
