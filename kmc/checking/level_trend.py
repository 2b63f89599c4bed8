"""A forecast from the levels of a search: their trend, and an estimate of states, memory and time.

The guess is the forecast of `kmc plan`, from the levels that the search itself has made. It is labelled as a guess
wherever it is shown: from few levels it may be far off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmc.amounts import count_in_words
from kmc.lang.assumed_range import INT_MAX
from kmc.result import GrowingVariable

_RATIOS = 4
"""So many last ratios make the trend: one alone alternates where steps come in pairs."""

_FLAT = 0.02
_GUESSED_LEVELS_MIN = 8
_GUESSED_STATES_MIN = 10_000

TABLE_BYTES = 16
"""The memory of a state in the fingerprint table just after the table has grown; see
`kmc.engine.stores.fingerprint_table`.
"""


@dataclass(frozen=True, slots=True)
class Guess:
    """An estimate of a whole search: from `low` to `high` states (`high` is None if no end is in sight) and the size of
    its widest level.

    `likely` is the number of states to reckon with.
    """

    likely: int
    low: int
    high: int | None
    widest: int


def trend_text(levels: Sequence[int]) -> str:
    """Return the trend of the last levels, as `levels growing by 1.3`; "" for fewer than three levels."""
    if len(levels) < 3:
        return ""
    widest = max(levels)
    peak = len(levels) - levels[::-1].index(widest)
    # One smaller level is not a trend: sizes may alternate.
    if peak < len(levels) - 1 and max(levels[-2:]) < (1 - _FLAT) * widest:
        return f"levels shrinking since level {peak + 1}"
    last = levels[-_RATIOS - 1 :]
    ratio = (last[-1] / last[0]) ** (1 / (len(last) - 1))
    if abs(ratio - 1) <= _FLAT:
        return f"levels of about {count_in_words(levels[-1])} states"
    factor = max(ratio, 1 / ratio)
    return f"levels {'growing' if ratio > 1 else 'shrinking'} by {factor:.{1 if factor >= 1.1 else 2}f}"


def guess(levels: Sequence[int], max_depth: int | None = None) -> Guess | None:
    """Estimate the size of the whole search; None while there are too few levels or states for an estimate."""
    if len(levels) < _GUESSED_LEVELS_MIN or sum(levels) < _GUESSED_STATES_MIN:
        return None
    # Imported here, because numpy takes a tenth of a second.
    from kmc.bench.growth import forecast

    told = forecast(levels, max_depth, ended=False)
    return Guess(told.states, told.states_low, told.states_high, told.widest)


def memory_guess(states: int, widest: int, row_bytes: float, *, wide: bool = False) -> int:
    """The memory that a search in memory needs for so many states: its table, and two levels of packed rows."""
    return round(states * TABLE_BYTES * (1 + wide) + 2 * widest * row_bytes)


def rounded(count: int) -> int:
    """A guess, by its first two digits."""
    return round(count, 2 - len(str(count))) if count else 0


def states_guess_text(guess: Guess) -> str:
    """Return the estimate of states as text: `31 M states`, `31 to 45 M states`, `no end in sight`."""
    if guess.high is None:
        return "no end in sight"
    low, high = count_in_words(rounded(guess.low)), count_in_words(rounded(guess.high))
    if low == high:
        return f"{high} states"
    same_unit = low.split()[1:] == high.split()[1:]
    return f"{low.split()[0] if same_unit else low} to {high} states"


def growing_fields(growing: Sequence[GrowingVariable]) -> list[str]:
    """Warn of an endless search: `does not look finite: clock rises, 299 at level 300`, `its type allows 999`."""
    if not growing:
        return []
    first = max(growing, key=lambda variable: variable.bound)
    more = f" (and {len(growing) - 1} more)" if len(growing) > 1 else ""
    return [
        f"does not look finite: {first.name}{more} rises, {first.value:,} at level {first.level:,}",
        f"its type allows {first.bound:,}" if first.bound < INT_MAX else "its type has no bound",
    ]
