"""What memory a search needs to come to its end: for the advice where its limit stopped it, and for a warning before.

The known states alone must be in memory: packed rows go to files once memory is short, where a run has a folder. So the
need is that of the fingerprints, and of what the process takes besides.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kmc.cli.console import bytes_in_words, count_in_words
from kmc.cli.level_trend import TABLE_BYTES, Guess, guess, memory_guess, states_guess_text, trend_text
from kmc.result import Bound, Result

_GIGABYTE = 1024**3
_MEGABYTE = 1024**2
_BESIDES = 256 * _MEGABYTE
"""What a process takes without its states: Python, compiled code, buffers."""

_GRAPH_STATE_BYTES = 64
_GRAPH_STEP_BYTES = 36
"""What the behaviour graph takes for each state and generated state, while it is made and searched for lassos."""

_VALUE_BYTES = 4_000
_MEASURED_STATES_MIN = 10_000
"""So many states of the interpreter, or more, tell what one takes; before, it is taken for `_VALUE_BYTES`."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """What a search that its limit of memory stopped needs: `bytes` for all states, as far as their number is known.

    `states` is the number that the manifest expects, or None; then `guessed` is what the levels point to, None where
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


def memory_need(
    result: Result,
    limit: int | None,
    expected: int | None,
    max_depth: int | None,
    *,
    has_files: bool,
    has_graph: bool = False,
) -> MemoryNeed | None:
    """What a search needs that its `limit` stopped; None for any other.

    `has_files`: packed rows may go to files. `has_graph`: it checks temporal properties.
    """
    if result.bound is not Bound.MEMORY or limit is None:
        return None
    found, used = result.counters.distinct, result.counters.memory_bytes
    is_native = result.fingerprint_bits > 0
    known = max(expected, found) if expected is not None else None
    guessed = guess(result.levels, max_depth) if known is None else None
    if guessed is not None and result.counters.growing:
        guessed = replace(guessed, high=None)
    per_state, besides = _VALUE_BYTES, _BESIDES
    if is_native:
        per_state = TABLE_BYTES * (1 + (result.fingerprint_bits == 128))
        if has_graph:
            steps = result.counters.generated / max(1, found)
            per_state += _GRAPH_STATE_BYTES + math.ceil(_GRAPH_STEP_BYTES * steps)
        else:
            besides = max(_BESIDES, used - result.table_bytes)
    elif found >= _MEASURED_STATES_MIN:
        per_state = math.ceil(max(1, used - _BESIDES) / found)
    widest = max((*result.levels, guessed.widest if guessed is not None else 0))
    rows = 0 if has_files or not is_native else round(2 * widest * result.rows_bytes / max(1, found))
    most = known if known is not None else guessed.high if guessed is not None else None
    needed = 2 * limit if most is None else max(most, found) * per_state + besides + rows
    room = max(found, (needed - besides - rows) // per_state)
    return MemoryNeed(needed, per_state, room, known, guessed, is_native)


def size_word(count: int) -> str:
    """A size for `--memory` that is not smaller, and easy to type: `350M`, `2.5G`, `11G`."""
    if count <= 950 * _MEGABYTE:
        return f"{50 * max(1, math.ceil(count / (50 * _MEGABYTE)))}M"
    halves = math.ceil(2 * count / _GIGABYTE)
    return f"{halves / 2:g}G" if halves < 20 else f"{math.ceil(count / _GIGABYTE)}G"


def need_lines(need: MemoryNeed, levels: Sequence[int], machine_bytes: int, check: Sequence[str]) -> Iterator[str]:
    """What is needed, and how it is known; where this machine has less, the command that keeps the states on disk.

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
    """That the states that the manifest expects do not fit into memory, so that the search will not come to its end."""
    if expected is None or limit is None or fingerprint_bits == 0:
        return None
    needed = memory_guess(expected, 0, 0.0, wide=fingerprint_bits == 128) + _BESIDES
    if needed <= limit:
        return None
    return (
        f"Warning: The {count_in_words(expected)} states that the manifest expects take about {bytes_in_words(needed)} "
        f"of memory, more than the {bytes_in_words(limit)} there are: the search will stop before its end. "
        f"--shards 16 keeps its states on disk."
    )
