"""How large a search becomes, estimated from the levels of its beginning.

The levels of a bounded protocol grow by a ratio that falls nearly evenly from level to level, past 1 at the widest one.
So the ratios of the last levels, fitted by a line and carried on, say how many states are still to come. Several
numbers of last levels give several answers, and how far they lie apart tells how much they are worth. It is an estimate
from a sample: on the whole graphs in `results/` of over a million states, 0.4 to 1.4 of the truth from three million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_WINDOWS = (6, 8, 12)
_LEVELS_MIN = 5
_STATES_MAX = 1e18
_MORE_LEVELS_MAX = 20_000
"""A line that is nearly flat says nothing of where the levels end."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Between how many states and levels a search may have, and the largest level. `states_high` None: no end in sight.

    `is_exact`: the sample was the whole search.
    """

    states_low: int
    states_high: int | None
    levels_low: int
    levels_high: int | None
    widest: int
    is_exact: bool = False


def forecast(levels: Sequence[int], max_depth: int | None, *, ended: bool) -> Forecast:
    """What the levels of a sample say of the whole; `max_depth` bounds the search, `ended`: there are no more."""
    known = [float(size) for size in levels[:max_depth]]
    if ended or len(known) == max_depth:
        states = round(sum(known))
        return Forecast(states, states, len(known), len(known), round(max(known)), is_exact=True)
    carried = [_carried(known, window, max_depth) for window in (*_WINDOWS, len(known) // 2)]
    whole = [found for found in carried if found is not None]
    widest = max(max(found) for found in (whole or [known]))
    low = min(whole, key=sum, default=known)
    endless = len(whole) < len(carried)
    return Forecast(
        states_low=round(sum(low)),
        states_high=None if endless else round(max(map(sum, whole))),
        levels_low=len(low),
        levels_high=None if endless else max(map(len, whole)),
        widest=round(widest),
    )


def _carried(levels: Sequence[float], window: int, max_depth: int | None) -> list[float] | None:
    """All levels, those to come by the line through the last `window` ratios; None if they do not end."""
    if len(levels) <= max(_LEVELS_MIN, window):
        return None
    last = np.array(levels[-window - 1 :], np.float64)
    ratios, places = np.diff(np.log(last)), np.arange(len(levels) - window, len(levels))
    # Large levels have steadier ratios.
    slope, start = np.polyfit(places, ratios, 1, w=np.sqrt(last[1:]))
    found, states = list(levels), sum(levels)
    while found[-1] >= 1 and (max_depth is None or len(found) < max_depth):
        ratio = start + slope * len(found)
        if slope >= 0 and ratio >= 0 and max_depth is None:
            return None
        found.append(found[-1] * float(np.exp(min(ratio, 30.0))))
        states += found[-1]
        if states > _STATES_MAX or len(found) > len(levels) + _MORE_LEVELS_MAX:
            return None
    return found
