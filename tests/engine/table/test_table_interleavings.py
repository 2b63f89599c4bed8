"""The source of the insertions, interleaved in all ways: each fingerprint is new for one call, and is found afterwards.

Threads on a machine meet in the same slot by chance, and rarely with different fingerprints. Here every order of their
accesses is tried. `specs/fingerprint_table` is checked for more fingerprints, and for growth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from support.kernels.interleaved import Arguments, Interleaving, Memory, Part

from kmc.engine.layout import control_words as f
from kmc.engine.loops.fingerprint_table_64 import insert, ranked_slot
from kmc.engine.loops.fingerprint_table_128 import RANKED_WORDS, insert_wide, ranked_slot_wide

SLOTS = 2 * f.LINE_WORDS
LAST_HOME = (1 << 64) - 1
"""The home of the largest words is the last line."""

EMPTY: Memory = (0,) * SLOTS
RANKED_SLOTS = 3


def one_word(*words: int) -> tuple[Arguments, ...]:
    """Calls of `insert` for words whose home is the last line."""
    return tuple((0, SLOTS, LAST_HOME - word, 0) for word in words)


def two_words(*pairs: tuple[int, int]) -> tuple[Arguments, ...]:
    """Calls of `insert_wide` for first words whose home is the last line."""
    return tuple((0, SLOTS, LAST_HOME - first, second) for first, second in pairs)


def ranked(*words: int) -> tuple[Arguments, ...]:
    """Calls of `ranked_slot` for words whose home is the last slot."""
    return tuple((0, RANKED_SLOTS, LAST_HOME - word, 0) for word in words)


def ranked_wide(*pairs: tuple[int, int]) -> tuple[Arguments, ...]:
    """Calls of `ranked_slot_wide` for first words whose home is the last slot."""
    return tuple((0, RANKED_SLOTS, LAST_HOME - first, second) for first, second in pairs)


def filled(slots: int, wide: bool) -> Memory:
    """A table with so many slots of its last line taken by other fingerprints."""
    line = tuple(range(1, slots + 1)) + (0,) * (f.LINE_WORDS - slots)
    last = line + line if wide else line
    return (0,) * len(last) + last


def is_new(part: Part, answer: int) -> bool:
    """Whether an answer says that the fingerprint was new."""
    return answer < 0 if part in (ranked_slot, ranked_slot_wide) else answer == 1


def mistakes(case: Interleaving) -> Iterator[str]:
    """For each end at which a fingerprint was not new exactly once, or is not found afterwards, what happened."""
    calls = tuple(call for thread in case.calls for call in thread)
    for memory, answers in case.ends():
        given = [answer for thread in answers for answer in thread]
        new = Counter(call for call, answer in zip(calls, given, strict=True) if is_new(case.part, answer))
        if any(new[call] != 1 for call in calls):
            yield f"new so many times: {sorted(new[call] for call in set(calls))}"
        ((_, (again,)),) = Interleaving(case.part, (calls,), memory).ends()
        if any(is_new(case.part, answer) for answer in again):
            yield "a fingerprint is not found"


CASES = {
    "two_threads": Interleaving(insert, (one_word(1, 2), one_word(2, 1)), EMPTY),
    "three_threads": Interleaving(insert, (one_word(1), one_word(2, 1), one_word(1, 2)), EMPTY),
    "three_fingerprints": Interleaving(insert, (one_word(1), one_word(2), one_word(3, 1)), EMPTY),
    "next_line": Interleaving(insert, (one_word(1, 2), one_word(2), one_word(3, 1)), filled(7, wide=False)),
    "wide": Interleaving(insert_wide, (two_words((1, 5), (1, 6)), two_words((1, 6), (1, 5))), 2 * EMPTY),
    "wide_three_threads": Interleaving(
        insert_wide, (two_words((1, 5)), two_words((1, 6)), two_words((1, 5), (1, 6))), 2 * EMPTY
    ),
    "wide_first_words": Interleaving(
        insert_wide, (two_words((1, 5)), two_words((2, 5)), two_words((2, 5), (1, 5))), 2 * EMPTY
    ),
    "wide_next_line": Interleaving(
        insert_wide, (two_words((1, 5)), two_words((1, 6)), two_words((1, 6), (1, 5))), filled(7, wide=True)
    ),
    "ranked": Interleaving(ranked_slot, (ranked(1), ranked(2, 1), ranked(1, 2)), (0,) * 2 * RANKED_SLOTS),
    "ranked_wide": Interleaving(
        ranked_slot_wide,
        (ranked_wide((1, 5)), ranked_wide((1, 6)), ranked_wide((1, 6), (1, 5))),
        (0,) * RANKED_WORDS * RANKED_SLOTS,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_each_fingerprint_is_new_once_in_every_order_of_accesses(name: str) -> None:
    assert next(mistakes(CASES[name]), None) is None


def test_a_line_that_is_loaded_twice_gives_a_fingerprint_two_slots() -> None:
    case = Interleaving(insert, (one_word(1), one_word(1)), EMPTY, merged=False)
    assert set(mistakes(case)) == {"new so many times: [2]"}


def test_a_line_of_one_word_a_slot_may_be_loaded_in_parts() -> None:
    calls = (one_word(1, 2), one_word(2), one_word(2, 1))
    for slots in (0, 3, 7):
        assert next(mistakes(Interleaving(insert, calls, filled(slots, wide=False), parts=4)), None) is None


@pytest.mark.slow
def test_a_line_of_two_words_a_slot_may_be_loaded_in_parts() -> None:
    # The mutant `compares_behind_empty` of the spec: slot 3 is seen empty, and then slot 4 taken.
    table = filled(3, wide=True)
    equal = (two_words((1, 5)), two_words((1, 5)), two_words((1, 6)))
    assert next(mistakes(Interleaving(insert_wide, equal, table, parts=2)), None) is None
    different = (two_words((1, 5)), two_words((1, 5)), two_words((2, 5)))
    assert next(mistakes(Interleaving(insert_wide, different, table, parts=2)), None) is None


def test_an_insertion_that_does_not_end_is_noticed() -> None:
    case = Interleaving(insert, (one_word(1),), tuple(range(1, SLOTS + 1)))
    with pytest.raises(AssertionError, match="does not end"):
        next(case.ends())


def test_every_order_of_accesses_is_tried() -> None:
    # Whichever of two fingerprints comes first has the first slot.
    ends = {memory[f.LINE_WORDS :][:2] for memory, _ in CASES["two_threads"].ends()}
    assert ends == {(LAST_HOME - 1, LAST_HOME - 2), (LAST_HOME - 2, LAST_HOME - 1)}
