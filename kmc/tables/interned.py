"""Columns of values that repeat: each distinct value is decoded once, and found again by its words.

Rows have few different messages and records. To number them and to pick from the decoded ones needs a third of the time
of decoding them all.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kmc.engine.layout import control_words as f
from kmc.engine.loops.compiled_loops import value_loop
from kmc.engine.loops.distinct_values import DistinctValues
from kmc.engine.native.memory import Memory
from kmc.tables.cells import Cells, Indices, Mask, Narrow, Wide
from kmc.tables.columns import Column

_SLOTS = 1 << 10
_KEPT_MAX = 1 << 18
_SAMPLE = 1 << 16


class Interner:
    """Numbers for values of `width` words, in the order in which they are first met."""

    def __init__(self, width: int) -> None:
        self._struct = DistinctValues.of(Memory(DistinctValues.WORDS))
        self._struct.width = width
        self._empty(_SLOTS)

    def _empty(self, slots: int) -> None:
        self._table, self._keys = Memory(slots), Memory(slots // 2 * self._struct.width)
        values = self._struct
        values.table, values.slots, values.keys, values.used = self._table.address, slots, self._keys.address, 0

    def clear(self) -> None:
        """Forget all values."""
        self._empty(_SLOTS)

    def __len__(self) -> int:
        return self._struct.used

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The words of all values, by number."""
        return self._keys.array[: self._struct.used * self._struct.width].view(np.uint64)

    def numbers_of(self, words: NDArray[np.uint64], first: Indices) -> Indices:
        """The numbers of the values at these places."""
        values = self._struct
        indices = np.empty(len(first), np.int64)
        starts = np.ascontiguousarray(first, np.int64)
        values.words, values.first, values.numbers = words.ctypes.data, starts.ctypes.data, indices.ctypes.data
        values.count, values.done = len(first), 0
        while value_loop("number_values")(values, 0) == f.NEED_TABLE:
            self._grow()
        return indices

    def _grow(self) -> None:
        values = self._struct
        before, used, width = self._keys, values.used, values.width
        asked = values.words, values.first, values.numbers, values.count, values.done
        self._empty(4 * values.slots)
        starts, indices = np.arange(used) * width, np.empty(used, np.int64)
        values.words, values.first, values.numbers = before.address, starts.ctypes.data, indices.ctypes.data
        values.count, values.done = used, 0
        value_loop("number_values")(values, 0)
        values.words, values.first, values.numbers, values.count, values.done = asked


class InternedColumn:
    """A column whose values are decoded once each, unless they turn out to differ almost everywhere."""

    def __init__(self, column: Column, width: int) -> None:
        self._column, self._width = column, width
        self._interner = Interner(width)
        self._decoded: pa.Array | None = None
        self._met = 0
        self._repeats = True
        self.kind = column.kind

    def decode(self, cells: Cells, valid: Mask | None) -> pa.Array:
        """See `Column`."""
        if valid is not None or not self._repeats:
            return self._column.decode(cells, valid)
        if len(self._interner) > _KEPT_MAX:
            self._interner.clear()
            self._decoded = None
        before = len(self._interner)
        if isinstance(cells, Narrow):
            indices = self._interner.numbers_of(cells.bits, np.arange(len(cells)))
        else:
            indices = self._interner.numbers_of(cells.words, cells.first)
        self._met += len(cells)
        self._repeats = self._met < _SAMPLE or 4 * len(self._interner) < self._met
        dictionary = self._with_new(before, is_narrow=isinstance(cells, Narrow))
        return dictionary.take(pa.array(indices))

    def _with_new(self, before: int, *, is_narrow: bool) -> pa.Array:
        """All distinct values, of which those from number `before` on are to be decoded."""
        keys, new = self._interner.keys, len(self._interner) - before
        if self._decoded is not None and not new:
            return self._decoded
        first = (before + np.arange(new)) * self._width
        cells: Cells = Narrow(keys[before:]) if is_narrow else Wide(keys, first)
        more = self._column.decode(cells, None)
        self._decoded = more if self._decoded is None else pa.concat_arrays([self._decoded, more])
        return self._decoded
