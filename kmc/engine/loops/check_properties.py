"""What native loops ask of a state: is it inside of the constraints, which properties fail, which goals does it reach.

Findings are appended to the log of the thread that met them.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.packed_rows import row_of
from kmc.engine.native.intrinsics import call_one, call_two, inlined, load, store
from kmc.engine.native.specialization import RANKED


@inlined
def count(mine: int, counters: int, index: int, amount: int) -> None:
    """Add to a counter that belongs to this thread."""
    address = load(mine, counters)
    store(address, index, load(address, index) + amount)


@inlined
def note(mine: int, kind: int, value: int, fingerprint: int, rank: int) -> None:
    """Append a finding about the current source to the log; the caller has made sure that there is room."""
    used = load(mine, f.LOG_USED)
    entry = load(mine, f.LOG) + used * f.WORD_BYTES
    source = load(mine, f.SOURCE)
    store(entry, f.ENTRY_KIND, kind)
    store(entry, f.ENTRY_VALUE, value)
    store(entry, f.ENTRY_FINGERPRINT, fingerprint)
    store(entry, f.ENTRY_RANK, rank)
    store(entry, f.ENTRY_SOURCE, load(source, 1) if source != 0 else 0)
    store(mine, f.LOG_USED, used + f.ENTRY_WORDS)


@inlined
def rank_of(shared: int, row: int) -> int:
    """The order of a row among those of its view; -1 would read as "no rank yet"."""
    rank = call_one(load(shared, f.RANK), row)
    return rank if rank != -1 else -2


@inlined
def rank_if_any(shared: int, successor: int) -> int:
    """The rank of a successor; 0 for a model without ranks."""
    return rank_of(shared, row_of(successor)) if RANKED != 0 else 0


@inlined
def judge(shared: int, mine: int, successor: int, rank: int, stored: int) -> None:
    """Evaluate the invariants of a state, and the goals that are asked for."""
    judge_touched(shared, mine, successor, rank, stored, f.TOUCHED_ALL)


@inlined
def touched_by_step(shared: int, mine: int, successor: int) -> int:
    """Which properties have to be asked of a new state: not those that say what they said of its source.

    All of them once anything was found, for then some source may break an invariant.
    """
    if load(shared, f.TOUCHED) == 0 or load(shared, f.LOGGING) == 0 or load(mine, f.SOURCE) == 0:
        return f.TOUCHED_ALL
    return call_two(load(shared, f.TOUCHED), row_of(load(mine, f.SOURCE)), row_of(successor))


@inlined
def judge_touched(shared: int, mine: int, successor: int, rank: int, stored: int, touched: int) -> None:
    """`judge` for the properties that `touched_by_step` tells."""
    wanted = load(shared, f.ASKED) & touched >> f.TOUCHED_GOALS_SHIFT
    if wanted != 0:
        reached = call_two(load(shared, f.REACH), row_of(successor), wanted)
        if reached < 0:
            note(mine, f.CHECK_ERROR, reached, load(successor, 1), rank)
            return
        store(mine, f.GOALS, load(mine, f.GOALS) | reached)
    if load(shared, f.CHECK) == 0 or touched & f.TOUCHED_INVARIANTS == 0:
        return
    failed = call_one(load(shared, f.CHECK), row_of(successor))
    if failed == 0:
        return
    if failed < 0:
        note(mine, f.CHECK_ERROR, failed, load(successor, 1), rank)
    elif stored == 0:
        note(mine, f.UNSTORED_INVARIANT, failed, load(successor, 1), rank)
    else:
        tally(mine, failed, 0, 1)
        if load(shared, f.LOGGING) != 0 or load(shared, f.REPEATED) != 0:
            note(mine, f.INVARIANT, failed, load(successor, 1), rank)


@inlined
def tally(mine: int, failed: int, first: int, times: int) -> None:
    """Count every property whose bit is set, from counter `first` on."""
    index = first
    while failed != 0:
        if failed & 1:
            count(mine, f.FAILED, index, times)
        failed >>= 1
        index += 1


@inlined
def judge_step(shared: int, mine: int, successor: int, times: int) -> None:
    """Evaluate the transition invariants of a step; initial states have none."""
    if load(mine, f.SOURCE) == 0:
        return
    failed = call_two(load(shared, f.STEP), row_of(load(mine, f.SOURCE)), row_of(successor))
    if failed < 0:
        note(mine, f.EXPAND_ERROR, failed, load(load(mine, f.SOURCE), 1), 0)
    elif failed != 0:
        tally(mine, failed, load(shared, f.INVARIANTS), times)
        if load(shared, f.LOGGING) != 0:
            note(mine, f.STEP_INVARIANT, failed, load(successor, 1), rank_if_any(shared, successor))


@inlined
def outside_mask(shared: int, mine: int, successor: int) -> int:
    """Which constraints a state breaks, or else which action constraints the step to it; < 0 for an error."""
    mask = 0
    if load(shared, f.OUTSIDE) != 0:
        mask = call_one(load(shared, f.OUTSIDE), row_of(successor))
    if mask == 0 and load(mine, f.SOURCE) != 0 and load(shared, f.STEP_OUTSIDE) != 0:
        mask = call_two(load(shared, f.STEP_OUTSIDE), row_of(load(mine, f.SOURCE)), row_of(successor))
    return mask


@inlined
def is_inside(shared: int, mine: int, successor: int) -> int:
    """1 if the constraints hold, 0 if one does not, -1 if that failed to evaluate (noted)."""
    mask = outside_mask(shared, mine, successor)
    if mask < 0:
        source = load(mine, f.SOURCE)
        note(mine, f.EXPAND_ERROR, mask, load(source if source != 0 else successor, 1), 0)
        return -1
    return 1 if mask == 0 else 0
