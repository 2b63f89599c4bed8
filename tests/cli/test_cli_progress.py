"""Progress on stderr: TLC's words, and how often a line comes."""

from __future__ import annotations

import io
from datetime import datetime

import pytest
from rich.console import Console

from kmc.cli.progress import Progress, StatusLine, progress_text
from kmc.result import Counters

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
