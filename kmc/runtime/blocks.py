"""Blocks of packed rows, and the successors of a block: arrays of words, no object for a state.

Invariant: behind the last row of a block lie `SLACK_WORDS` more words, which a kernel may read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]

SLACK_WORDS = 64

# A record, as `expand` writes it: [length of the row | action << 32 | times - 1 << 48][fingerprint][row ...].
RECORD_HEAD_WORDS = 2
RECORD_LENGTH_BITS = 32
ACTION_SHIFT = 32
ACTION_MASK = (1 << 16) - 1
TIMES_SHIFT = 48
TIMES_MASK = (1 << 15) - 1

# For each record: [position in the out buffer][row of the block][choice].
CHOICE_WORDS = 3

# Answers of kernels over blocks, besides those of `expand`.
NEED_RECORDS = -2
NO_CHOICE = -3


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows one after another in `words`, row k from `starts[k]` to `starts[k + 1]`."""

    words: Words
    starts: Words

    @classmethod
    def of(cls, rows: Sequence[Words]) -> RowBatch:
        """The block of these rows."""
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        return cls(np.concatenate([*rows, np.zeros(SLACK_WORDS, np.int64)]).astype(np.int64, copy=False), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> Words:
        return self.words[self.starts[index] : self.starts[index + 1]]

    def __iter__(self) -> Iterator[Words]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True, slots=True)
class Successors:
    """The steps of a block, in the order of their sources; entry k of every array is about step k.

    `parents` are rows of the block. `choices` number the steps of one row and are valid for that row only: the same
    state packed in another order has its steps in another order. `times` is how often TLC counts the step.
    `failed` are the rows whose expansion stopped at an error; they have no steps here. `errors` are the error numbers.
    """

    fingerprints: NDArray[np.uint64]
    parents: Words
    actions: Words
    choices: Words
    times: Words
    rows: RowBatch
    failed: Words
    errors: Words

    def __len__(self) -> int:
        return len(self.parents)


def rows_of_records(out: Words, used: int, offsets: Words) -> RowBatch:
    """The rows of the records at `offsets`, which fill the first `used` words, in order and without gaps."""
    kept = np.ones(used + SLACK_WORDS, np.bool_)
    for head in range(RECORD_HEAD_WORDS):
        kept[offsets + head] = False
    starts = np.empty(len(offsets) + 1, np.int64)
    starts[:-1] = offsets - RECORD_HEAD_WORDS * np.arange(len(offsets))
    starts[-1] = used - RECORD_HEAD_WORDS * len(offsets)
    return RowBatch(out[: used + SLACK_WORDS][kept], starts)
