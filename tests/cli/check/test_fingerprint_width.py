"""How many bits a fingerprint gets, and the odds of a collision in words."""

from __future__ import annotations

import pytest

from kmc.checking.collision_odds import WIDE_BYTES_PER_STATE, enough_bits, odds_text

MANY = 10**9
NEEDED = MANY * WIDE_BYTES_PER_STATE


@pytest.mark.parametrize(
    ("states", "free_bytes", "bits"),
    [
        (None, 10**15, 64),
        (10**6, 10**15, 64),
        (MANY, NEEDED, 128),
        (MANY, NEEDED - 1, 64),
    ],
)
def test_128_bits_are_taken_where_64_are_too_few_and_the_memory_is_there(
    states: int | None, free_bytes: int, bits: int
) -> None:
    assert enough_bits(states, free_bytes) == bits


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (3.0, "1 in 1"),
        (1.0, "1 in 1"),
        (0.006754, "1 in 148"),
        (1e-6, "1 in 1,000,000"),
        (0.9e-6, "9.0E-07"),
        (2.4e-18, "2.4E-18"),
        (0.0, "0"),
    ],
)
def test_odds_are_counted_down_to_one_in_a_million(bound: float, words: str) -> None:
    assert odds_text(bound) == words
