"""Values are numbered in the order in which they are first met, whatever their width and however many they are."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from kmc.engine.loops.compiled_loops import value_loop
from kmc.engine.loops.distinct_values import RowEntries
from kmc.engine.native.memory import Memory
from kmc.tables.interned import Interner


def _drawn(chance: Random, count: int, width: int) -> NDArray[np.uint64]:
    """Values of which many are equal, many differ in one word only, and some are all zeros or all ones."""
    words = [0, 1, 2, 1 << 32, 1 << 63, (1 << 64) - 1]
    return np.array([[chance.choice(words) for _ in range(width)] for _ in range(count)], np.uint64)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_equal_values_have_one_number(width: int) -> None:
    chance, interner = Random(width), Interner(width)
    known: dict[tuple[int, ...], int] = {}
    for count in (0, 1, 700, 3000):
        values = _drawn(chance, count, width)
        places = list(range(count))
        chance.shuffle(places)
        wanted = [known.setdefault(tuple(values[place].tolist()), len(known)) for place in places]
        found = interner.numbers_of(values.reshape(-1), np.array(places, np.int64) * width)
        assert found.tolist() == wanted
        keys = interner.keys.reshape(-1, width).tolist()
        assert [tuple(key) for key in keys] == list(known)


def test_more_values_than_slots_are_numbered() -> None:
    interner = Interner(1)
    values = np.arange(100_000, dtype=np.uint64) << np.uint64(20)
    for _ in range(2):
        assert (interner.numbers_of(values, np.arange(len(values))) == np.arange(len(values))).all()
    interner.clear()
    assert interner.numbers_of(values[::-1].copy(), np.arange(3)).tolist() == [0, 1, 2]


def test_the_entries_of_each_network_are_sorted() -> None:
    chance = Random(7)
    widths = np.array([1, 3], np.int64)
    rows, wanted = [], []
    for _ in range(50):
        networks = [_drawn(chance, chance.randrange(6), int(width)).tolist() for width in widths]
        head = [99, len(networks[0]), len(networks[1])]
        rows.append([*head, *(word for network in networks for entry in network for word in entry)])
        wanted.append([*head, *(word for network in networks for entry in sorted(network) for word in entry)])
    words = np.array([word for row in rows for word in row], np.uint64)
    ends = np.cumsum([len(row) for row in rows])
    told = RowEntries.of(Memory(RowEntries.WORDS))
    told.words, told.ends, told.rows = words.ctypes.data, ends.ctypes.data, len(rows)
    told.counts, told.networks, told.widths = 1, 2, widths.ctypes.data
    value_loop("sort_entries")(told, 0)
    assert words.tolist() == [word for row in wanted for word in row]
