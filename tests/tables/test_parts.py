"""How many rows of a segment are states: the bits that are set between two places of some words."""

from __future__ import annotations

import random

import numpy as np

from kmc.tables.parts import _ones


def test_the_bits_between_two_places_are_counted() -> None:
    rng = random.Random(1)
    bits = [rng.random() < 0.7 for _ in range(4 * 64)]
    words = np.packbits(bits, bitorder="little").view(np.int64)
    edges = sorted({place + more for place in range(0, len(bits) + 1, 64) for more in (-2, -1, 0, 1, 2)})
    places = [place for place in edges if 0 <= place <= len(bits)]
    for low in places:
        for high in places:
            if low <= high:
                assert _ones(words, low, high) == sum(bits[low:high]), (low, high)
