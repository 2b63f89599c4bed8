"""The memory that a search needs to finish: for advice after the memory limit stopped it, and for a warning before it
starts.

Only the known states must be in memory: if memory is short and the run has a folder, packed rows go to files. So the
need is the sum of the fingerprint table, which grows in steps, of the other memory of this process, and of the reserve
below every limit (`kmc.memory_limit`).
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kmc.amounts import bytes_in_words, count_in_words
from kmc.checking.level_trend import Guess, guess, states_guess_text, trend_text
from kmc.memory_limit import limit_for, size_word
from kmc.result import Bound, Result

_MEGABYTE = 1024**2
BESIDES_BYTES = 110 * _MEGABYTE
"""The least memory of a process without its states: Python, compiled code, buffers."""

_WORKER_BYTES = 4 * _MEGABYTE
_SPARE_SHARE = 0.01
"""A table grows when the entries that its threads hold could fill it, so a little before it is full."""

_GRAPH_STATE_BYTES = 64
_GRAPH_STEP_BYTES = 36
"""The memory of the behaviour graph for each state and for each generated state, while it is built and searched."""

_VALUE_BYTES = 4_000
_MEASURED_STATES_MIN = 10_000
"""The number of interpreter states from which the bytes per state are measured; below it, `_VALUE_BYTES` is assumed."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """The memory needed by a search that its memory limit stopped: `bytes` for all states, as far as their number is
    known.

    `states` is the number that the manifest expects, or None; then `guessed` is the estimate from the levels, None if
    they are too few. Without an end in sight `bytes` is twice the limit, which holds `room` states.
    """

    bytes: int
    bytes_per_state: int
    room: int
    states: int | None
    guessed: Guess | None
    is_native: bool = True

    @property
    def size(self) -> str:
        """The value of `--memory` that suffices."""
        return size_word(self.bytes)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The memory of a search as a function of its states: `each` bytes per state beside its slot in the table, plus
    `fixed` bytes.

    `entry_bytes` are those of a slot of the table of fingerprints, 0 where states are compared by value.
    """

    entry_bytes: int
    each: int
    fixed: int
    threads: int

    def limit(self, states: int) -> int:
        """The limit of memory below which a search can find so many states."""
        table = table_bytes(math.ceil(states * (1 + _SPARE_SHARE)), self.entry_bytes)
        return limit_for(self.fixed + table + states * self.each, self.threads)

    def room(self, limit: int) -> int:
        """Return the number of states that a search can find below a limit; the table grows in steps."""
        low, high = 0, 1
        while self.limit(high) <= limit:
            low, high = high, 2 * high
        while high - low > max(1, low >> 7):
            middle = (low + high) // 2
            low, high = (middle, high) if self.limit(middle) <= limit else (low, middle)
        return low


def table_bytes(states: int, entry_bytes: int) -> int:
    """The size of a table of fingerprints that has grown to hold so many states."""
    if not entry_bytes:
        return 0
    # Imported here, because numpy takes a tenth of a second.
    from kmc.engine.layout.search_outcome import Settings
    from kmc.engine.stores.fingerprint_table import slots_for

    return slots_for(states, Settings().table_slots) * entry_bytes


def memory_need(
    result: Result,
    limit: int | None,
    expected: int | None,
    max_depth: int | None,
    *,
    threads: int,
    has_files: bool,
    has_graph: bool = False,
) -> MemoryNeed | None:
    """The memory that a search on `threads` threads needs if its `limit` stopped it; None for any other search.

    `has_files`: packed rows may go to files. `has_graph`: it checks temporal properties.
    """
    if result.bound is not Bound.MEMORY or limit is None:
        return None
    distinct = result.counters.distinct
    known = max(expected, distinct) if expected is not None else None
    guessed = guess(result.levels, max_depth) if known is None else None
    if guessed is not None and result.counters.growing:
        guessed = replace(guessed, high=None)
    shape = _shape(result, threads, has_graph=has_graph)
    is_native = shape.entry_bytes > 0
    if is_native:
        widest = max((*result.levels, guessed.widest if guessed is not None else 0))
        rows = 0 if has_files else round(2 * widest * result.rows_bytes / max(1, distinct))
        shape = replace(shape, fixed=shape.fixed + rows)
    most = known if known is not None else guessed.high if guessed is not None else None
    needed = 2 * limit if most is None else shape.limit(max(most, distinct))
    room = max(distinct, shape.room(needed) if most is None else most)
    per_state = shape.each + math.ceil(table_bytes(room, shape.entry_bytes) / max(1, room))
    return MemoryNeed(needed, per_state, room, known, guessed, is_native)


def _shape(result: Result, threads: int, *, has_graph: bool) -> _Shape:
    """Estimate the growth of memory from the memory in use when the search was stopped."""
    distinct, used = result.counters.distinct, result.counters.memory_bytes
    if not result.fingerprint_bits:
        is_measured = distinct >= _MEASURED_STATES_MIN
        return _Shape(
            0, math.ceil(max(1, used - BESIDES_BYTES) / distinct) if is_measured else _VALUE_BYTES, BESIDES_BYTES, 1
        )
    each = 0
    if has_graph:
        each = _GRAPH_STATE_BYTES + math.ceil(_GRAPH_STEP_BYTES * result.counters.generated / max(1, distinct))
    besides = max(BESIDES_BYTES, used - result.table_bytes - distinct * each)
    return _Shape(result.fingerprint_bits // 8, each, besides + threads * _WORKER_BYTES, threads)


def need_lines(need: MemoryNeed, levels: Sequence[int], machine_bytes: int, check: Sequence[str]) -> Iterator[str]:
    """The lines that say how much memory is needed and how kmc knows; if this machine has less, also the command that
    keeps states on disk.

    `check` are the words that begin the check anew, after `kmc`.
    """
    each, needed = f"{need.bytes_per_state:,} bytes a state", bytes_in_words(need.bytes)
    if need.states is not None:
        counted = f"the {count_in_words(need.states)} states that the manifest expects"
        yield f"Needed: about {needed} of memory, for {counted} at {each}."
    elif need.guessed is not None and need.guessed.high is not None:
        counted = f"{states_guess_text(need.guessed)} at {each}"
        yield f"Needed: about {needed} of memory, for {counted}: a guess from the size of its levels."
    else:
        trend = trend_text(levels)
        why = (
            f"{trend}, with no end in sight"
            if need.guessed is not None and trend
            else "there are too few levels to tell"
        )
        room = f"{size_word(need.bytes)} hold about {count_in_words(need.room)} states"
        yield f"Needed: unknown: {why}. Twice the memory: {room} at {each}."
    if need.bytes > machine_bytes and need.is_native:
        disk = shlex.join(["kmc", *check, "--shards", "16"])
        free = bytes_in_words(machine_bytes)
        yield f"This machine has {free} of memory for it. Anew, with the states on disk: {disk}"


def memory_warning(expected: int | None, limit: int | None, fingerprint_bits: int) -> str | None:
    """The warning that the states that the manifest expects do not fit into memory; None if they fit."""
    if expected is None or limit is None or fingerprint_bits == 0:
        return None
    needed = limit_for(table_bytes(expected, fingerprint_bits // 8) + BESIDES_BYTES, 1)
    if needed <= limit:
        return None
    return (
        f"Warning: The {count_in_words(expected)} states that the manifest expects take about {bytes_in_words(needed)} "
        f"of memory, more than the {bytes_in_words(limit)} there are: the search will stop before its end. "
        f"--shards 16 keeps its states on disk."
    )
