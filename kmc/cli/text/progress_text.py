"""The texts of progress: TLC's line for a log, short fields for a terminal, and warnings.

A terminal gets fields, the important ones first, and rows of them that fit its width. A log gets TLC's sentence,
followed by the estimate of the whole search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kmc.amounts import bytes_in_words, count_in_words, seconds_in_words
from kmc.checking.collision_odds import odds_text
from kmc.checking.level_trend import Guess, growing_fields, memory_guess, states_guess_text, trend_text
from kmc.engine.collision_bound import collision_bound
from kmc.result import Counters, ShardProgress

SEPARATOR = " | "
LIVE_ROWS_MAX = 2
_ELLIPSIS = "…"
_RATED_STATES_MIN = 10_000
"""The number of states from which a rate is shown; before, the first steps and compilation would distort it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of a search's progress: the states that its manifest expects, its memory, its bound; None if unknown.

    `fingerprint_bits` is 0 where states are compared by value.
    """

    expected: int | None = None
    memory_bytes: int | None = None
    max_depth: int | None = None
    fingerprint_bits: int = 64


def fitted(fields: Sequence[str], width: int, rows_max: int = LIVE_ROWS_MAX, *, ascii_only: bool = False) -> list[str]:
    """Fields in order, in rows of at most `width`; fields that do not fit into so many rows are omitted, from the
    end.
    """
    rows: list[str] = []
    for field in filter(None, fields):
        mark = "..." if ascii_only else _ELLIPSIS
        text = field if len(field) <= width else field[: max(0, width - len(mark))] + mark[: max(0, width)]
        if rows and len(rows[-1]) + len(SEPARATOR) + len(text) <= width:
            rows[-1] += SEPARATOR + text
        elif len(rows) < rows_max:
            rows.append(text)
        else:
            break
    return rows


def rates(now: Counters, before: Counters | None) -> tuple[float, float]:
    """States generated and distinct states found per minute, since `before` or the beginning."""
    elapsed = now.seconds - (before.seconds if before else 0.0)
    per_minute = 60.0 / elapsed if elapsed > 0 else 0.0
    generated = now.generated - (before.generated if before else 0)
    return generated * per_minute, (now.distinct - (before.distinct if before else 0)) * per_minute


def progress_text(now: Counters, before: Counters | None, at: datetime) -> str:
    """One line of progress in TLC's form; rates are per minute since `before`, or since the beginning."""
    generated, distinct = rates(now, before)
    return (
        f"Progress({now.depth}) at {at:%Y-%m-%d %H:%M:%S}: "
        f"{now.generated:,} states generated ({generated:,.0f} s/min), "
        f"{now.distinct:,} distinct states found ({distinct:,.0f} ds/min), "
        f"{now.left:,} states left on queue, {bytes_in_words(now.memory_bytes)} of memory."
    )


def activity_text(now: Counters, at: datetime) -> str:
    """One line about the work after the search."""
    return (
        f"{now.activity} at {at:%Y-%m-%d %H:%M:%S}: {now.distinct:,} distinct states, "
        f"{bytes_in_words(now.memory_bytes)} of memory."
    )


def memory_text(used: int, limit: int | None) -> str:
    """Memory of its limit: `2.1 of 8.0 GB`; `512 MB of 8.0 GB` where the units differ."""
    text = bytes_in_words(used)
    if limit is None:
        return text
    amount, unit = text.split()
    whole = bytes_in_words(limit)
    return f"{amount if whole.endswith(unit) else text} of {whole}"


def outlook(now: Counters, scale: Scale, at: datetime, guessed: Guess | None) -> list[str]:
    """The outlook for the rest of a search: the share of the expected states, or the trend of the levels and an
    estimate.

    `guessed` is what `kmc.checking.level_trend.guess` says of the levels.
    """
    if scale.expected is not None:
        return _share(now, scale.expected)
    trend = trend_text(now.levels)
    signs = [*growing_fields(now.growing), *([trend] if trend else [])]
    if guessed is None or now.growing:
        return signs
    fields = [*signs, f"guess: {states_guess_text(guessed)}"]
    if guessed.high is None:
        return fields
    if now.shards is None and now.rows_bytes:
        row = now.rows_bytes / max(1, now.distinct)
        needed = memory_guess(guessed.high, guessed.widest, row, wide=scale.fingerprint_bits == 128)
        fields.append(f"memory up to {bytes_in_words(needed)}")
    distinct = now.distinct
    if now.seconds > 0 and distinct:
        left = max(0, guessed.likely - distinct) * now.seconds / distinct
        fields.append(f"ends {_moment(at, left)}")
    return fields


def _share(now: Counters, expected: int) -> list[str]:
    whole = count_in_words(expected)
    if now.distinct > expected:
        return [f"more than the {whole} states that the manifest expects"]
    share = now.distinct / max(1, expected)
    if now.distinct < min(_RATED_STATES_MIN, expected // 10):
        return [f"{100 * share:.{int(share < 0.01)}f} % of {whole}"]
    left = (expected - now.distinct) * now.seconds / max(1, now.distinct)
    return [f"{100 * share:.{int(share < 0.01)}f} % of {whole}", f"about {_whole_seconds(left)} left"]


def _whole_seconds(seconds: float) -> str:
    """A duration for a display that changes every second: `7 s`, `3 min 20 s`, `45 min`, `2 h 5 min`."""
    if seconds < 10:
        return f"{round(seconds)} s"
    return seconds_in_words(seconds if seconds < 600 or seconds >= 3600 else 60 * round(seconds / 60)).replace(
        " 0 s", ""
    )


def _moment(at: datetime, seconds: float) -> str:
    """When something ends: `about 14:32`, with the day where that is another, and the days where it is far."""
    days = seconds / 86400
    if days > 30:
        return f"in about {days:,.0f} days"
    end = at + timedelta(seconds=seconds)
    return f"about {end:%H:%M}" if end.date() == at.date() else f"about {end:%Y-%m-%d %H:%M}"


def live_fields(now: Counters, before: Counters | None, scale: Scale, ahead: Sequence[str] = ()) -> list[str]:
    """The fields of a search in memory for a terminal, the first things first; `ahead` is its outlook."""
    generated, _ = rates(now, before)
    return [
        _whole_seconds(now.seconds),
        f"level {now.depth}",
        f"{count_in_words(round(generated / 60))} states/s",
        f"{count_in_words(now.distinct)} distinct",
        f"{count_in_words(now.left)} queued",
        memory_text(now.memory_bytes, scale.memory_bytes),
        *ahead,
    ]


def shards_text(now: Counters, shards: ShardProgress) -> str:
    """The progress of a search in shards beside TLC's counters: of the level in work, and since the beginning."""
    level = shards.level
    work, files = "Between levels", shards.files_in_work
    if files is not None:
        work += f", {files.title}: {files.done:,} of {files.tasks:,} tasks done"
    if level is not None:
        longest = f", the longest {level.task_skew:.1f} times the median" if level.task_skew is not None else ""
        done = f"{level.done:,} of {level.tasks:,} tasks done{longest}" if level.tasks else "again what it accepted"
        where = {None: "", True: ", a job of Spark", False: ", in the driver"}[shards.is_job]
        work = f"Level {level.level} in work{where}: {level.phase} {done}; {level.new:,} new states so far"
    if shards.executors == 0:
        work += "; Spark has no executors, and waits for one"
    back = shards.looking_back
    if back is not None:
        work = f"A failure was found. Another search looks for its trace: level {back.level:,} of {back.last:,}"
    return (
        f"{work}. Since the beginning: {bytes_in_words(shards.sent_bytes)} sent to shards, "
        f"{bytes_in_words(shards.written_bytes)} written, {bytes_in_words(shards.disk_bytes)} on disk, "
        f"the largest shard {shards.shard_skew:.2f} times the mean, odds of a collision {_odds(now, shards)}."
    )


def shard_fields(
    now: Counters, shards: ShardProgress, before: Counters | None, scale: Scale, ahead: Sequence[str] = ()
) -> list[str]:
    """The fields of a search in shards for a terminal, the first things first; `ahead` is its outlook."""
    level, back = shards.level, shards.looking_back
    elapsed, done, *figures = live_fields(now, before, scale, ahead)
    disk = [f"{bytes_in_words(shards.disk_bytes)} on disk"]
    if back is not None:
        search = f"a failure was found; another search looks for its trace: level {back.level:,} of {back.last:,}"
        return [elapsed, search, f"{count_in_words(now.distinct)} distinct", *disk]
    work, files = f"{done} done", shards.files_in_work
    if files is not None:
        work += f", {files.title}: {files.done:,}/{files.tasks:,} tasks"
    if level is not None:
        skew = f" (skew {level.task_skew:.1f})" if level.task_skew is not None else ""
        tasks = f" {level.done:,}/{level.tasks:,} tasks{skew}" if level.tasks else ""
        where = {None: "", True: " as a job", False: " in the driver"}[shards.is_job]
        work = f"level {level.level}{where}: {level.phase}{tasks}, {count_in_words(level.new)} new"
    if shards.executors == 0:
        work += ", no executors"
    moved = [f"{bytes_in_words(shards.written_bytes)} written", f"{bytes_in_words(shards.sent_bytes)} sent"]
    return [elapsed, work, *figures, *disk, *moved, f"collision {_odds(now, shards)}"]


def _odds(now: Counters, shards: ShardProgress) -> str:
    states = now.distinct + (shards.level.new if shards.level is not None else 0)
    return odds_text(collision_bound(states, shards.fingerprint_bits))


def disk_warning(now: Counters) -> str | None:
    """Return advice for the time before the disk is full, if the next level or the next save probably fills it."""
    if now.lacking_bytes:
        return (
            f"Warning: The disk of the run lacks {bytes_in_words(now.lacking_bytes)} for a save of this search. "
            "Free space now: the search goes on meanwhile, but it is resumed from its last save, if there is one."
        )
    shards = now.shards
    need, free = (shards.next_level_bytes, shards.free_bytes) if shards is not None else (None, None)
    if need is None or free is None or need <= free:
        return None
    return (
        f"Warning: The next level probably takes {bytes_in_words(need)}, and the disk of the run has "
        f"{bytes_in_words(free)} left. Free space now: a full disk ends the run, which goes on from its last save."
    )


def compiling_text(titles: Sequence[str], seconds: float) -> str:
    """The parts being compiled, and for how long."""
    return f"Compiling {' and '.join(titles)}: {_whole_seconds(seconds)}"
