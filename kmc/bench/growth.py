"""The size of a search, estimated from the levels of its beginning.

The levels of a bounded protocol grow by a ratio that falls nearly evenly from level to level, past 1 at the widest one.
So the ratios of the last levels, fitted by a line and extrapolated, predict how many states are still to come. Several
numbers of last levels give several predictions, of which the median is used.

It is an estimate from a sample, with an interval around it. The width of the interval was fitted to the whole graphs in
`results/`: it grows with the distance of the extrapolation. For nine of ten graphs above a million states there, the
true size lies in the interval from a sample of three million states (a test counts them).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_WINDOWS = (6, 8, 12)
_LEVELS_MIN = 5
_STATES_MAX = 1e18
_MORE_LEVELS_MAX = 20_000
"""A line that is nearly flat says nothing of where the levels end."""


_FAR = 3.0
"""An estimate of e^3 times the sample or more is usually too large, so the lower bound is then the sample itself."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A range for the number of states and levels of a search, and the largest level. `states_high` None: no end in
    sight.

    `states` is the likeliest number, between `states_low` and `states_high`. `is_exact`: the sample was the whole
    search.
    """

    states: int
    states_low: int
    states_high: int | None
    levels_low: int
    levels_high: int | None
    widest: int
    is_exact: bool = False


def forecast(levels: Sequence[int], max_depth: int | None, *, ended: bool) -> Forecast:
    """Forecast the whole search from the levels of a sample; `max_depth` bounds the search, `ended`: there are no
    more.
    """
    known = [float(size) for size in levels[:max_depth]]
    if ended or len(known) == max_depth:
        states = round(sum(known))
        return Forecast(states, states, states, len(known), len(known), round(max(known)), is_exact=True)
    carried = [_carried(known, window, max_depth) for window in (*_WINDOWS, len(known) // 2)]
    whole = [total for total in carried if total is not None]
    if not whole:
        total = round(sum(known))
        return Forecast(total, total, None, len(known), None, round(max(known)))
    endless = len(whole) < len(carried)
    likely, depth = float(np.exp(np.median(np.log([sum(total) for total in whole])))), _middle(map(len, whole))
    far = float(np.log(likely / sum(known)))
    below, above = _margins(far, is_bounded=max_depth is not None)
    deepest = min(1.22 * depth, max_depth or np.inf)
    return Forecast(
        states=round(likely),
        states_low=round(sum(known) if far >= _FAR else max(sum(known), likely * float(np.exp(-below)))),
        states_high=None if endless else round(likely * float(np.exp(above))),
        levels_low=max_depth
        if max_depth == depth
        else min(round(deepest), max(len(known) + 1, int(depth * max(0.3, 0.82 - 0.1 * far)))),
        levels_high=None if endless else int(np.ceil(deepest)),
        widest=round(_middle(map(max, whole))),
    )


def _margins(far: float, *, is_bounded: bool) -> tuple[float, float]:
    """The margins below and above an estimate, as natural logarithms of a factor; the estimate is e^far samples."""
    if is_bounded:
        return 0.05 + 0.25 * far, 0.05 + 0.25 * far
    return 0.15 + 0.45 * far, 0.25 + 0.4 * far


def _middle(figures: Iterable[float]) -> float:
    return float(np.median(list(figures)))


def _carried(levels: Sequence[float], window: int, max_depth: int | None) -> list[float] | None:
    """All levels, those to come by the line through the last `window` ratios; None if they do not end."""
    if len(levels) <= max(_LEVELS_MIN, window):
        return None
    last = np.array(levels[-window - 1 :], np.float64)
    ratios, depths = np.diff(np.log(last)), np.arange(len(levels) - window, len(levels))
    # Large levels have steadier ratios.
    slope, start = np.polyfit(depths, ratios, 1, w=np.sqrt(last[1:]))
    carried, states = list(levels), sum(levels)
    while carried[-1] >= 1 and (max_depth is None or len(carried) < max_depth):
        ratio = start + slope * len(carried)
        if slope >= 0 and ratio >= 0 and max_depth is None:
            return None
        carried.append(carried[-1] * float(np.exp(min(ratio, 30.0))))
        states += carried[-1]
        if states > _STATES_MAX or len(carried) > len(levels) + _MORE_LEVELS_MAX:
            return None
    return carried
