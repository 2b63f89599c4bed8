"""The dictionary gives every word one code, and a code one word, whatever threads ask."""

from __future__ import annotations

import numpy as np
import pytest

from kmc.engine.layout.frontier import signed
from kmc.engine.layout.word_dictionary import ESCAPE, Dictionary, code_of
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import load, store
from kmc.engine.native.memory import Memory
from kmc.engine.native.threads import WorkerPool

_UNSCATTER = pow(-7046029254386353131, -1, 1 << 64)
PROBES = 8


@NativeLoop
def find_all(dictionary: int, words: int, codes: int, count: int) -> int:
    """Write the codes of some words, which are added now if they are new."""
    for index in range(count):
        store(codes, index, code_of(dictionary, load(words, index)))
    return 0


def word_at(home: int, number: int) -> int:
    """One of the words whose first place is `home`."""
    return signed((home << 48 | number) * _UNSCATTER % (1 << 64))


def codes_in(dictionary: Dictionary, words: list[int]) -> list[int]:
    """The codes of some words."""
    given, codes = Memory(len(words)), Memory(len(words))
    given.array[:] = words
    find_all(dictionary.address, given.address, codes.address, len(words))
    found: list[int] = codes.array.tolist()
    return found


def test_zero_has_the_code_zero_and_is_never_added() -> None:
    dictionary = Dictionary(0)
    assert codes_in(dictionary, [0, 0]) == [0, 0]
    assert not dictionary.words.any()


@pytest.mark.parametrize("home", [1, 2, 1000, ESCAPE - PROBES])
def test_words_of_one_home_get_the_places_from_there_on_until_they_are_taken(home: int) -> None:
    dictionary = Dictionary(0)
    words = [word_at(home, number) for number in range(12)]
    codes = [*range(home, home + PROBES), *[ESCAPE] * 4]
    assert codes_in(dictionary, words) == codes
    assert codes_in(dictionary, words[::-1]) == codes[::-1]
    assert dictionary.words[home : home + PROBES].tolist() == words[:PROBES]
    assert np.count_nonzero(dictionary.words) == PROBES


def test_a_word_whose_home_is_that_of_zero_goes_to_the_next_place() -> None:
    dictionary = Dictionary(0)
    # The look at the place of 0 is one of the eight.
    words = [word_at(0, number) for number in range(1, 10)]
    assert codes_in(dictionary, words) == [*range(1, PROBES), ESCAPE, ESCAPE]
    assert codes_in(dictionary, [0]) == [0]


@pytest.mark.parametrize("home", [ESCAPE - PROBES + 1, ESCAPE - 1, ESCAPE])
def test_no_word_gets_the_code_that_stands_for_none(home: int) -> None:
    words = [word_at(home, number) for number in range(9)]
    assert codes_in(Dictionary(0), words) == [*range(ESCAPE - PROBES, ESCAPE), ESCAPE]


def test_words_of_neighbouring_homes_share_places() -> None:
    dictionary = Dictionary(0)
    words = [word_at(home, 5) for home in (30, 29, 28, 28)] + [word_at(28, 6), word_at(29, 6)]
    assert codes_in(dictionary, words) == [30, 29, 28, 28, 31, 32]


def test_threads_give_different_words_different_codes() -> None:
    # All threads go through the same homes in the same order, so that they meet at the same places.
    threads, homes = 4, range(1, ESCAPE - PROBES, PROBES)
    pool = WorkerPool(threads, lambda: None, lambda: None)
    given, codes = ([Memory(len(homes)) for _ in range(threads)] for _ in range(2))
    for number, memory in enumerate(given):
        memory.array[:] = [word_at(home, number) for home in homes]
    for _ in range(10):
        dictionary = Dictionary(0)

        def find(number: int, dictionary: Dictionary = dictionary) -> int:
            return find_all(dictionary.address, given[number].address, codes[number].address, len(homes))

        pool.run(find)
        for words, found in zip(given, codes, strict=True):
            assert (dictionary.words[found.array] == words.array).all()
        assert np.count_nonzero(dictionary.words) == threads * len(homes)
