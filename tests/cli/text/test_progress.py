"""Progress on stderr: TLC's words, and how often a line comes."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

from kmc.amounts import count_in_words
from kmc.checking.level_trend import guess, trend_text
from kmc.cli.text.progress import Progress, StatusLine, compiling_shown
from kmc.cli.text.progress_text import (
    Scale,
    compiling_text,
    disk_warning,
    fitted,
    outlook,
    progress_text,
    shard_fields,
    shards_text,
)
from kmc.compile_log import CacheFault, CompileLog
from kmc.result import Counters, LevelInWork, LookingBack, ShardProgress
from kmc.runtime.object_cache import KernelCache

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
    assert shard_fields(IN_SHARDS, back, FIRST, Scale()) == [
        "1 min 30 s",
        f"a failure was found; a{told}",
        "596.3 K distinct",
        "4.0 GB on disk",
    ]


def test_the_odds_are_those_of_all_states_found() -> None:
    # Twice as many states collide four times as often.
    more = replace(SHARDS, level=replace(WORK, new=SECOND.distinct))
    assert "odds of a collision 3.9E-08" in shards_text(IN_SHARDS, more)
    assert "odds of a collision 5.2E-28" in shards_text(IN_SHARDS, replace(SHARDS, fingerprint_bits=128))


def drawn(*counters: Counters, width: int, scale: Scale | None = None, encoding: str = "utf-8") -> list[str]:
    """The rows that a terminal of this width shows last."""
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding=encoding)
    console = Console(file=stream, force_terminal=True, width=width, soft_wrap=True, highlight=False)
    clock = Clock()
    with StatusLine(console, seconds=clock) as line:
        progress = Progress(line, clock=lambda: NOON, scale=scale)
        for count in counters:
            clock.now += 2.0
            progress(count)
        # Before the rows are cleared.
        stream.flush()
        shown = written.getvalue().decode(encoding)
    return (
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.rpartition("\x1b[2K")[2]).replace("\r", "\n").strip().splitlines()
    )


GROWING = replace(SECOND, left=440_000, levels=tuple(round(1000 * 1.5**level) for level in range(14)))
SHRINKING = replace(SECOND, levels=(1, 10, 100, 300, 250, 200))


def test_fields_fill_rows_in_order_and_the_last_ones_go_first() -> None:
    assert fitted(["12 s", "level 3", "9 states"], 80) == ["12 s | level 3 | 9 states"]
    assert fitted(["12 s", "", "level 3", "9 states"], 16) == ["12 s | level 3", "9 states"]
    assert fitted(["12 s", "level 3", "9 states"], 8, 2) == ["12 s", "level 3"]
    assert fitted(["12 seconds", "level 3"], 6) == ["12 se…", "level…"]
    assert fitted(["12 seconds"], 6, ascii_only=True) == ["12 ..."]


@pytest.mark.parametrize("width", [*range(1, 40), 60, 80, 120, 300])
def test_no_row_is_as_wide_as_the_terminal(width: int) -> None:
    for counters in (IN_SHARDS, GROWING, replace(IN_SHARDS, activity="Building the behaviour graph")):
        rows = drawn(FIRST, counters, width=width, scale=Scale(memory_bytes=8 * 1024**3))
        assert 1 <= len(rows) <= 3
        assert all(len(row) < max(width, 2) for row in rows), rows


def test_the_important_fields_come_first() -> None:
    assert drawn(FIRST, SECOND, width=200, scale=Scale(memory_bytes=8 * 1024**3)) == [
        "1 min 30 s | level 11 | 10 states/s | 596.3 K distinct | 440.0 K queued | 3.0 of 8.0 GB"
    ]
    assert drawn(FIRST, SECOND, width=60) == [
        "1 min 30 s | level 11 | 10 states/s | 596.3 K distinct",
        "440.0 K queued | 3.0 GB",
    ]
    assert drawn(FIRST, SECOND, width=12) == ["1 min 30 s", "level 11"]


def test_a_terminal_without_unicode_gets_none() -> None:
    assert drawn(SECOND, width=9, encoding="ascii")[0] == "1 min..."


def test_the_share_of_the_expected_states_and_the_time_left_are_told() -> None:
    told = outlook(SECOND, Scale(expected=1_192_530), NOON, None)
    assert told == ["50 % of 1.2 M", "about 1 min 30 s left"]
    assert outlook(SECOND, Scale(expected=10**9), NOON, None) == ["0.1 % of 1.0 G", "about 41 h 54 min left"]
    assert outlook(SECOND, Scale(expected=100), NOON, None) == ["more than the 100 states that the manifest expects"]


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ((1, 2), ""),
        ((1, 2, 4, 8, 16, 32), "levels growing by 2.0"),
        ((1, 3, 9, 12, 15, 19, 25), "levels growing by 1.3"),
        ((1, 10, 100, 300, 250, 200), "levels shrinking since level 5"),
        # Sizes that alternate are not taken for a trend.
        ((10, 20, 15, 30, 22, 45, 33), "levels growing by 1.2"),
        ((7, 7, 7, 7, 7), "levels of about 7 states"),
    ],
)
def test_the_trend_of_levels_has_words(levels: tuple[int, ...], text: str) -> None:
    assert trend_text(levels) == text


def test_a_guess_says_states_memory_and_an_end() -> None:
    bell = tuple(round(1e6 * math.exp(-(((level - 30) / 9) ** 2))) for level in range(6, 32))
    counters = replace(SECOND, distinct=sum(bell), levels=bell, rows_bytes=20 * sum(bell), seconds=1000.0)
    trend, states, memory, end = outlook(counters, Scale(), NOON, guess(bell))
    assert trend == "levels growing by 1.02"
    assert states == "guess: 11.0 to 25.0 M states"
    assert memory == "memory up to 423 MB"
    assert end == "ends about 12:11"
    assert guess(bell[:5]) is None


def test_growth_without_an_end_in_sight_is_told_without_an_end() -> None:
    levels = tuple(2**level for level in range(20))
    told = outlook(replace(SECOND, levels=levels), Scale(), NOON, guess(levels))
    assert told == ["levels growing by 2.0", "guess: no end in sight"]


def test_a_log_has_the_outlook_after_tlcs_sentence() -> None:
    stream, clock = io.StringIO(), Clock()
    with StatusLine(Console(file=stream, width=80, soft_wrap=True), seconds=clock) as line:
        clock.now = 2.0
        Progress(line, clock=lambda: NOON)(SHRINKING)
    assert stream.getvalue() == progress_text(SECOND, None, NOON) + " Levels shrinking since level 5.\n"


def compiled_with(log: CompileLog, terminal: bool, quiet: bool = False) -> str:
    """What is shown while nothing is compiled, with this log."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100, soft_wrap=True, highlight=False)
    with StatusLine(console, quiet=quiet) as line, compiling_shown(line, log):
        pass
    return stream.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_a_cache_that_cannot_be_written_is_told_once(terminal: bool) -> None:
    log = CompileLog()
    log.not_kept(CacheFault("/home/ci/.cache/kmc/kernels", "Read-only file system"))
    log.not_kept(CacheFault("/other", "No space left on device"))
    assert compiled_with(log, terminal, quiet=True) == ""
    told = compiled_with(log, terminal)
    assert (
        "cannot be kept in /home/ci/.cache/kmc/kernels (Read-only file system), so each run compiles it again" in told
    )
    assert "export KMC_CACHE_DIR=/path/to/folder" in told
    assert compiled_with(log, terminal).count("Warning") == 0


def test_each_warning_about_compiled_code_is_shown_once() -> None:
    log = CompileLog()
    for text in ("one", "two"):
        log.warn(text)
    assert compiled_with(log, terminal=False) == "Warning: one\nWarning: two\n"
    assert compiled_with(log, terminal=False) == ""


def test_what_is_compiled_has_words() -> None:
    log = CompileLog()
    assert (log.in_work, log.seconds, log.ended) == ((), 0.0, 0)
    with log.compiling("24 functions of kraft smoke"), log.compiling("the loop work"):
        assert compiling_text(log.in_work, 7.4) == "Compiling 24 functions of kraft smoke and the loop work: 7 s"
    assert (log.in_work, log.ended) == ((), 2)


@pytest.mark.parametrize("home", ["", "file"])
def test_a_run_that_cannot_keep_its_code_says_so_and_what_to_do(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CompileLog()
    monkeypatch.setattr("kmc.runtime.object_cache.LOG", log)
    # Root may write wherever there is a folder.
    (tmp_path / "file").write_text("")
    KernelCache(tmp_path / "file" / "kernels" if home else None).write("key", b"code")
    fault = log.fault_to_tell()
    assert fault is not None
    reason = f"{tmp_path / 'file' / 'kernels'} (" if home else "a home directory (no home directory)"
    assert reason in fault.text


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (None, "level 11 done"),
        (LevelInWork(12, "merge", 3, 4, 5_000, None), "level 12: merge 3/4 tasks, 5.0 K new"),
        (LevelInWork(12, "check", 0, 0, 5_000, None), "level 12: check, 5.0 K new"),
    ],
)
def test_a_terminal_tells_the_phase(level: LevelInWork | None, text: str) -> None:
    elapsed, work, *_ = shard_fields(IN_SHARDS, replace(SHARDS, level=level), FIRST, Scale())
    assert (elapsed, work) == ("1 min 30 s", text)


def test_a_search_in_shards_has_its_bytes_after_the_counters() -> None:
    assert shard_fields(IN_SHARDS, SHARDS, FIRST, Scale(memory_bytes=8 * 1024**3), ["37 % of 6.2 M"]) == [
        *("1 min 30 s", "level 24: expand 37/120 tasks (skew 1.3), 0 new", "10 states/s", "596.3 K distinct"),
        *("440.0 K queued", "3.0 of 8.0 GB", "37 % of 6.2 M", "4.0 GB on disk", "5.0 GB written", "300 MB sent"),
        "collision 9.6E-09",
    ]


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
    assert disk_warning(replace(IN_SHARDS, shards=SHORT)) == (
        "Warning: The next level probably takes 3 MB, and the disk of the run has 2 MB left. Free space now: a full "
        "disk ends the run, which goes on from its last save."
    )
    for enough in (replace(SHORT, free_bytes=3 * MEGABYTE), replace(SHORT, free_bytes=None), SHARDS):
        assert disk_warning(replace(IN_SHARDS, shards=enough)) is None


def test_a_disk_that_has_no_room_for_a_save_is_warned_of() -> None:
    warning = disk_warning(replace(SECOND, lacking_bytes=3 * MEGABYTE))
    assert warning is not None
    assert "lacks 3 MB for a save" in warning
    assert disk_warning(SECOND) is None


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
    return [line for line in stream.getvalue().splitlines() if "Progress" in line or "level" in line]


def test_nothing_is_shown_in_the_first_second() -> None:
    assert reports_at(0.5, 0.9) == []


def test_plain_lines_come_every_ten_seconds() -> None:
    shown = [line.split(": ")[1].split()[0] for line in reports_at(1, 2, 10.9, 11, 12, 21)]
    assert shown == ["1", "4", "6"]


def test_a_long_run_has_a_line_a_minute() -> None:
    shown = [line.split(": ")[1].split()[0] for line in reports_at(1, 295, 301, 306, 330, 365, 366, 426)]
    assert shown == ["1", "2", "6", "8"]


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
