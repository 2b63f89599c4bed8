"""Progress on stderr: live rows on a terminal, plain lines now and then elsewhere.

Nothing is shown in the first second of the process. Then plain lines come every ten seconds, and after the first
minutes once a minute, so the log of a long run stays readable. The parts being compiled are shown too, before the
search and during it.
"""

from __future__ import annotations

import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from kmc.checking.level_trend import Guess, guess
from kmc.checking.memory_need import memory_warning
from kmc.cli.text.progress_text import (
    LIVE_ROWS_MAX,
    Scale,
    activity_text,
    compiling_text,
    disk_warning,
    fitted,
    live_fields,
    outlook,
    progress_text,
    shard_fields,
    shards_text,
)
from kmc.compile_log import LOG, CompileLog
from kmc.result import Counters

FIRST_SECONDS = 1.0
LIVE_INTERVAL_SECONDS = 0.5
PLAIN_INTERVAL_SECONDS = 10.0
LONG_RUN_SECONDS = 300.0
LONG_RUN_INTERVAL_SECONDS = 60.0
_COMPILING_POLL_SECONDS = 0.25


class StatusLine:
    """Rows that are rewritten on a terminal, and printed at intervals elsewhere; a context that clears them at its end.

    `seconds` is a clock that only rises, and `began` its value when a person began to wait; None is now. A quiet one
    shows nothing.
    """

    def __init__(
        self,
        console: Console,
        *,
        quiet: bool = False,
        seconds: Callable[[], float] = time.monotonic,
        began: float | None = None,
    ) -> None:
        self._console = console
        self.quiet = quiet
        self._seconds = seconds
        self._shown: float | None = None
        self._began = seconds() if began is None else began
        self.is_live = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, auto_refresh=False, transient=True) if self.is_live else None

    def __enter__(self) -> Self:
        if self._live is not None and not self.quiet:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def is_due(self) -> bool:
        """Whether another line is due."""
        if self.quiet:
            return False
        now = self._seconds()
        if self._shown is None:
            return now - self._began >= FIRST_SECONDS
        return now - self._shown >= self._interval(now)

    def _interval(self, now: float) -> float:
        if self.is_live:
            return LIVE_INTERVAL_SECONDS
        return LONG_RUN_INTERVAL_SECONDS if now - self._began >= LONG_RUN_SECONDS else PLAIN_INTERVAL_SECONDS

    def update(self, line: str, fields: Sequence[str] = ()) -> None:
        """Show this line, unless the status line is quiet; on a terminal these fields, if there are any, in rows."""
        if self.quiet:
            return
        self._shown = self._seconds()
        if self._live is None:
            self._console.print(line)
            return
        # The last column stays free: some terminals begin another row once it is filled.
        width = max(1, self._console.width - 1)
        if fields:
            rows = fitted(fields, width, ascii_only=not self._console.encoding.lower().startswith("utf"))
        else:
            rows = textwrap.wrap(line, width)[:LIVE_ROWS_MAX]
        self._live.update(Text("\n".join(rows), no_wrap=True, overflow="crop"), refresh=True)

    def note(self, text: str) -> None:
        """Print a text that stays, above a live line; nothing if the status line is quiet."""
        if not self.quiet:
            self._console.print(text)


class Progress:
    """The progress callback of a search, which gets its counters; they are compared with `scale`."""

    def __init__(
        self, line: StatusLine, clock: Callable[[], datetime] = datetime.now, scale: Scale | None = None
    ) -> None:
        self._line = line
        self._clock = clock
        self._scale = scale or Scale()
        self._before: Counters | None = None
        self._warned = False
        self._guessed: tuple[int, Guess | None] = 0, None

    def __call__(self, counters: Counters) -> None:
        """Show these counters, if a line is due, and once that the disk is probably too small."""
        warning = disk_warning(counters) if not self._warned else None
        if warning is not None:
            self._warned = True
            self._line.note(warning)
        if not self._line.is_due():
            return
        self._warn_of_memory(counters)
        at = self._clock()
        if counters.activity:
            self._line.update(activity_text(counters, at))
            return
        ahead = outlook(counters, self._scale, at, self._guess(counters))
        line = progress_text(counters, self._before, at) + (f" {_sentence(ahead)}" if ahead else "")
        if counters.shards is None:
            self._line.update(line, live_fields(counters, self._before, self._scale, ahead))
        else:
            fields = shard_fields(counters, counters.shards, self._before, self._scale, ahead)
            self._line.update(f"{line}\n  {shards_text(counters, counters.shards)}", fields)
        self._before = counters

    def _warn_of_memory(self, counters: Counters) -> None:
        """Say once that the expected states do not fit, with the first line of a search that keeps them in memory."""
        if self._before is None and counters.shards is None and counters.rows_bytes:
            scale = self._scale
            warning = memory_warning(scale.expected, scale.memory_bytes, scale.fingerprint_bits)
            if warning is not None:
                self._line.note(warning)

    def _guess(self, counters: Counters) -> Guess | None:
        """The guess from the levels that are whole, made once for each level."""
        levels, guessed = self._guessed
        if self._scale.expected is None and levels != len(counters.levels):
            guessed = guess(counters.levels, self._scale.max_depth)
            self._guessed = len(counters.levels), guessed
        return guessed


def _sentence(fields: Sequence[str]) -> str:
    text = ", ".join(fields)
    return f"{text[:1].upper()}{text[1:]}."


@contextmanager
def compiling_shown(line: StatusLine, log: CompileLog = LOG) -> Iterator[None]:
    """During the block the line shows the parts being compiled, and each warning about compiled code once."""
    if line.quiet:
        yield
        return
    if line.is_live and line.is_due():
        # A cold start: Python has just compiled kmc itself, and a person has seen nothing yet.
        line.update("Loading the compiler")
    ended = threading.Event()
    display = threading.Thread(target=_show_compiling, args=(line, log, ended), name="kmc compiling", daemon=True)
    display.start()
    try:
        yield
    finally:
        ended.set()
        display.join()


def _show_compiling(line: StatusLine, log: CompileLog, ended: threading.Event) -> None:
    """Until the event, show the parts in work: a terminal after a second, elsewhere now and then."""
    first = 0.0 if line.is_live else PLAIN_INTERVAL_SECONDS
    while True:
        is_last = ended.wait(_COMPILING_POLL_SECONDS)
        for text in log.warnings_to_show():
            line.note(f"Warning: {text}")
        if is_last:
            return
        titles, seconds = log.in_work, log.seconds
        if titles and seconds >= first and line.is_due():
            line.update(compiling_text(titles, seconds))
