"""Copies of what tasks sent: whole, apart from each other, and in memory that is used again."""

from __future__ import annotations

import numpy as np

from kmc.shards.executors.executor import _SENT_WORDS, SentWords


def test_copies_do_not_share_words() -> None:
    kept = SentWords()
    sizes = [0, 1, _SENT_WORDS - 2, 1, 1, 3 * _SENT_WORDS, 5, _SENT_WORDS, 0, 7]
    given = [np.arange(size, dtype=np.int64) + 10**9 * number for number, size in enumerate(sizes)]
    copies = [kept.copy_of(words) for words in given]
    for words in given:
        words += 1
    for number, copied in enumerate(copies):
        assert copied.tolist() == list(range(10**9 * number, 10**9 * number + sizes[number]))


def test_memory_is_used_again() -> None:
    kept = SentWords()
    first = kept.copy_of(np.arange(9))
    kept.copy_of(np.arange(2 * _SENT_WORDS))
    kept.empty()
    second = kept.copy_of(np.arange(4) + 50)
    assert np.shares_memory(first, second)
    assert second.tolist() == [50, 51, 52, 53]
    assert kept.copy_of(np.arange(_SENT_WORDS)).tolist() == list(range(_SENT_WORDS))
    assert second.tolist() == [50, 51, 52, 53]
