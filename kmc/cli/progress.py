"""Progress on stderr: a live line on a terminal, plain lines now and then elsewhere, in TLC's form.

A search in shards has more to tell, of the level in work and of its files: on a terminal in one line of its own form,
elsewhere in a second line below TLC's.

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

from kmc.cli.console import bytes_in_words, count_in_words
from kmc.cli.fingerprint_width import odds_text
from kmc.result import Counters, ShardProgress

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

    def update(self, line: str, live: str | None = None) -> None:
        """Show this line, unless the status line is quiet; on a terminal `live`, cut to its width, if there is one."""
        if self._quiet:
            return
        self._shown = self._seconds()
        if self._live is None:
            self._console.print(line)
        elif live is None:
            self._live.update(Text(line), refresh=True)
        else:
            self._live.update(Text(live, no_wrap=True, overflow="ellipsis"), refresh=True)

    def note(self, text: str) -> None:
        """Print a text that stays, above a live line; nothing if the status line is quiet."""
        if not self._quiet:
            self._console.print(text)


class Progress:
    """What a search calls with its counters."""

    def __init__(self, line: StatusLine, clock: Callable[[], datetime] = datetime.now) -> None:
        self._line = line
        self._clock = clock
        self._before: Counters | None = None
        self._warned = False

    def __call__(self, counters: Counters) -> None:
        """Show these counters, if a line is due, and once that the disk is probably too small."""
        warning = disk_warning(counters.shards) if counters.shards is not None and not self._warned else None
        if warning is not None:
            self._warned = True
            self._line.note(warning)
        if not self._line.is_due():
            return
        if counters.activity:
            self._line.update(activity_text(counters, self._clock()))
            return
        tlc = progress_text(counters, self._before, self._clock())
        if counters.shards is None:
            self._line.update(tlc)
        else:
            live = live_text(counters, counters.shards, self._before)
            self._line.update(f"{tlc}\n  {shards_text(counters, counters.shards)}", live)
        self._before = counters


def _rates(now: Counters, before: Counters | None) -> tuple[float, float]:
    """States generated and distinct states found per minute, since `before` or the beginning."""
    elapsed = now.seconds - (before.seconds if before else 0.0)
    per_minute = 60.0 / elapsed if elapsed > 0 else 0.0
    generated = now.generated - (before.generated if before else 0)
    return generated * per_minute, (now.distinct - (before.distinct if before else 0)) * per_minute


def progress_text(now: Counters, before: Counters | None, at: datetime) -> str:
    """One line of progress in TLC's form; rates are per minute since `before`, or since the beginning."""
    generated, distinct = _rates(now, before)
    return (
        f"Progress({now.depth}) at {at:%Y-%m-%d %H:%M:%S}: "
        f"{now.generated:,} states generated ({generated:,.0f} s/min), "
        f"{now.distinct:,} distinct states found ({distinct:,.0f} ds/min), "
        f"{now.left:,} states left on queue, {bytes_in_words(now.memory_bytes)} of memory."
    )


def activity_text(now: Counters, at: datetime) -> str:
    """One line of what goes on after the search."""
    return (
        f"{now.activity} at {at:%Y-%m-%d %H:%M:%S}: {now.distinct:,} distinct states, "
        f"{bytes_in_words(now.memory_bytes)} of memory."
    )


def shards_text(now: Counters, shards: ShardProgress) -> str:
    """What a search in shards has to tell beside TLC's counters: of the level in work, and since the beginning."""
    level = shards.level
    work = "Between levels"
    if level is not None:
        longest = f", the longest {level.task_skew:.1f} times the median" if level.task_skew is not None else ""
        done = f"{level.done:,} of {level.tasks:,} tasks done{longest}" if level.tasks else "again what it accepted"
        work = f"Level {level.level} in work: {level.phase} {done}; {level.new:,} new states so far"
    back = shards.looking_back
    if back is not None:
        work = f"A failure was found. Another search looks for its trace: level {back.level:,} of {back.last:,}"
    return (
        f"{work}. Since the beginning: {bytes_in_words(shards.sent_bytes)} sent to shards, "
        f"{bytes_in_words(shards.written_bytes)} written, {bytes_in_words(shards.disk_bytes)} on disk, "
        f"the largest shard {shards.shard_skew:.2f} times the mean, odds of a collision {_odds(now, shards)}."
    )


def live_text(now: Counters, shards: ShardProgress, before: Counters | None) -> str:
    """The same for one line of a terminal, the first things first."""
    level, back = shards.level, shards.looking_back
    if back is not None:
        return (
            f"A failure was found; another search looks for its trace: level {back.level:,} of {back.last:,} | "
            f"{count_in_words(now.distinct)} states | {bytes_in_words(shards.disk_bytes)} on disk | "
            f"{bytes_in_words(now.memory_bytes)} of memory"
        )
    work = f"Level {now.depth} done"
    if level is not None:
        skew = f" (skew {level.task_skew:.1f})" if level.task_skew is not None else ""
        done = f" {level.done:,}/{level.tasks:,} tasks{skew}" if level.tasks else ""
        work = f"Level {level.level}: {level.phase}{done}, {count_in_words(level.new)} new"
    generated, _ = _rates(now, before)
    return (
        f"{work} | {count_in_words(now.distinct)} states, {count_in_words(round(generated / 60))} generated/s | "
        f"collision {_odds(now, shards)} | {bytes_in_words(shards.sent_bytes)} sent, "
        f"{bytes_in_words(shards.written_bytes)} written, {bytes_in_words(shards.disk_bytes)} on disk | "
        f"{bytes_in_words(now.memory_bytes)} of memory"
    )


def _odds(now: Counters, shards: ShardProgress) -> str:
    # Imported here, because numpy and the compiler take a third of a second; a search that calls has them.
    from kmc.engine.check_model import collision_bound

    found = now.distinct + (shards.level.new if shards.level is not None else 0)
    return odds_text(collision_bound(found, shards.fingerprint_bits))


def disk_warning(shards: ShardProgress) -> str | None:
    """What to do before the disk is full, if the next level probably fills it."""
    need, free = shards.next_level_bytes, shards.free_bytes
    if need is None or free is None or need <= free:
        return None
    return (
        f"Warning: The next level probably takes {bytes_in_words(need)}, and the disk of the run has "
        f"{bytes_in_words(free)} left. Free space now: a full disk ends the run, which goes on from its last save."
    )
