"""Arrow arrays from numpy's: values where they are, with a bitmap for those that are null."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kmc.tables.cells import Bits, Indices, Mask


def _bitmap(valid: Mask | None) -> pa.Buffer | None:
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _nulls(valid: Mask | None) -> int:
    return 0 if valid is None else len(valid) - int(np.count_nonzero(valid))


def numbers(values: NDArray[np.integer], kind: pa.DataType, valid: Mask | None) -> pa.Array:
    """Numbers of the width of `kind`."""
    return pa.Array.from_buffers(kind, len(values), [_bitmap(valid), pa.py_buffer(values)], _nulls(valid))


def truths(bits: Bits, valid: Mask | None) -> pa.Array:
    """Booleans: True for bits that are not 0."""
    packed = pa.py_buffer(np.packbits(bits != 0, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(bits), [_bitmap(valid), packed], _nulls(valid))


def words_of(bits: Bits, kind: pa.DataType, titles: pa.Array, valid: Mask | None) -> pa.Array:
    """Members of a dictionary, by number. A null has a number of the dictionary too: readers may look it up."""
    indices = bits.astype(kind.index_type.to_pandas_dtype())
    if valid is not None:
        indices[~valid] = 0
    return pa.DictionaryArray.from_arrays(numbers(indices, kind.index_type, valid), titles, safe=False)


def lists(lengths: Indices, values: pa.Array, kind: pa.DataType, valid: Mask | None) -> pa.Array:
    """Lists, or maps with structs of key and value, whose elements lie one behind another in `values`."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [_bitmap(valid), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(kind, len(lengths), buffers, _nulls(valid), children=[values])


def structs(length: int, children: Sequence[pa.Array], kind: pa.DataType, valid: Mask | None) -> pa.Array:
    """Records of these fields."""
    return pa.Array.from_buffers(kind, length, [_bitmap(valid)], _nulls(valid), children=list(children))
