"""Progress on stderr in TLC's form: a live line on a terminal, plain lines now and then elsewhere.

Nothing is shown in the first second. Then plain lines come every ten seconds, so the log of a long run stays readable.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from kmc.cli.console import bytes_in_words
from kmc.result import Counters

FIRST_SECONDS = 1.0
LIVE_INTERVAL_SECONDS = 0.5
PLAIN_INTERVAL_SECONDS = 10.0


class StatusLine:
    """A line that is rewritten on a terminal, and printed at intervals elsewhere; a context that clears it at its end.

    `seconds` is a clock that only rises. A quiet one shows nothing.
    """

    def __init__(self, console: Console, *, quiet: bool = False, seconds: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._quiet = quiet
        self._seconds = seconds
        self._shown: float | None = None
        self._began = seconds()
        changes = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, auto_refresh=False, transient=True) if changes else None

    def __enter__(self) -> Self:
        if self._live is not None and not self._quiet:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def is_due(self) -> bool:
        """Whether another line is due."""
        if self._quiet:
            return False
        if self._shown is None:
            return self._seconds() - self._began >= FIRST_SECONDS
        interval = LIVE_INTERVAL_SECONDS if self._live is not None else PLAIN_INTERVAL_SECONDS
        return self._seconds() - self._shown >= interval

    def update(self, line: str) -> None:
        """Show this line, unless the status line is quiet."""
        if self._quiet:
            return
        self._shown = self._seconds()
        if self._live is not None:
            self._live.update(Text(line), refresh=True)
        else:
            self._console.print(line)


class Progress:
    """What a search calls with its counters."""

    def __init__(self, line: StatusLine, clock: Callable[[], datetime] = datetime.now) -> None:
        self._line = line
        self._clock = clock
        self._before: Counters | None = None

    def __call__(self, counters: Counters) -> None:
        """Show these counters, if a line is due."""
        if self._line.is_due():
            self._line.update(progress_text(counters, self._before, self._clock()))
            self._before = counters


def progress_text(now: Counters, before: Counters | None, at: datetime) -> str:
    """One line of progress; rates are per minute since `before`, or since the beginning."""
    elapsed = now.seconds - (before.seconds if before else 0.0)
    generated = now.generated - (before.generated if before else 0)
    distinct = now.distinct - (before.distinct if before else 0)
    per_minute = 60.0 / elapsed if elapsed > 0 else 0.0
    return (
        f"Progress({now.depth}) at {at:%Y-%m-%d %H:%M:%S}: "
        f"{now.generated:,} states generated ({generated * per_minute:,.0f} s/min), "
        f"{now.distinct:,} distinct states found ({distinct * per_minute:,.0f} ds/min), "
        f"{now.left:,} states left on queue, {bytes_in_words(now.memory_bytes)} of memory."
    )
