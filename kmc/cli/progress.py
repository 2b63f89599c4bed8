"""Progress on stderr in TLC's form: a live line on a terminal, plain lines now and then elsewhere.

Plain lines come with the first report and then every ten seconds, so that a log of a run of hours stays readable.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from kmc.cli.console import bytes_in_words
from kmc.result import Counters

PLAIN_INTERVAL_SECONDS = 10.0


def progress_line(now: Counters, before: Counters | None, at: datetime) -> str:
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


class Progress:
    """What a search calls with its counters; a context that clears the live line at its end."""

    def __init__(self, console: Console, *, quiet: bool = False, clock: Callable[[], datetime] = datetime.now) -> None:
        self._console = console
        self._quiet = quiet
        self._clock = clock
        self._before: Counters | None = None
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None and not self._quiet:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, counters: Counters) -> None:
        """Show these counters, if it is time to."""
        if self._quiet:
            return
        if self._live is not None:
            self._live.update(Text(self._line(counters), overflow="ellipsis", no_wrap=True), refresh=True)
        elif self._before is None or counters.seconds - self._before.seconds >= PLAIN_INTERVAL_SECONDS:
            self._console.print(self._line(counters))

    def _line(self, counters: Counters) -> str:
        line = progress_line(counters, self._before, self._clock())
        self._before = counters
        return line
