"""The states of a segment, unpacked: a block of rows in the format of `kmc.runtime`, with their fingerprints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.loops.compiled_loops import list_rows_loop
from kmc.engine.loops.list_rows import ListedRow, RowListing
from kmc.engine.native.memory import SLACK_WORDS, Memory
from kmc.runtime.blocks import RowBatch

_WORDS = 1 << 18
_ROWS = 1 << 15


class Listing:
    """Memory for the rows of one segment after another. The rows are valid until the listing is emptied."""

    def __init__(self) -> None:
        self._words, self._rows = Memory(_WORDS), Memory(_ROWS * ListedRow.WORDS)
        self._struct = RowListing.of(Memory(RowListing.WORDS))
        self._tell()

    def _tell(self) -> None:
        words, rows = self._struct.words, self._struct.rows
        # Without the slack behind the words: see `RowBatch`.
        words.address, words.words = self._words.address, self._words.words - SLACK_WORDS
        rows.address, rows.words = self._rows.address, self._rows.words

    def empty(self) -> None:
        """Forget all rows."""
        self._struct.words.used = self._struct.rows.used = 0

    def fill(self, shared: Shared, thread: Thread) -> int:
        """List the rows of the chunks of `shared`; return the result of `list_rows`, which is never NEED_OUT."""
        loop = list_rows_loop()
        while (status := loop(shared, thread, self._struct)) == f.NEED_OUT:
            words, rows = self._struct.words, self._struct.rows
            self._words = self._words.enlarged(0, words.used)
            self._rows = self._rows.enlarged(0, rows.used)
            self._tell()
        return status

    def __len__(self) -> int:
        return self._struct.rows.used // ListedRow.WORDS

    @property
    def _table(self) -> NDArray[np.int64]:
        return self._rows.array[: self._struct.rows.used].reshape(-1, ListedRow.WORDS)

    @property
    def rows(self) -> RowBatch:
        """The rows."""
        starts = np.zeros(len(self) + 1, np.int64)
        starts[1:] = self._table[:, ListedRow.end]
        return RowBatch(self._words.array[: self._struct.words.used + SLACK_WORDS], starts)

    @property
    def fingerprints(self) -> NDArray[np.uint64]:
        """The first word of the fingerprint of each row."""
        return self._table[:, ListedRow.fingerprint].astype(np.uint64)
