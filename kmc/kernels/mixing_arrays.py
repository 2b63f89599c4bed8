"""The mixer of `kmc.kernels.mixing` on numpy arrays; numba compiles the same function for single words.

Apart from the other file so that compiling a spec does not import numpy.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmc.kernels import mixing

Words: TypeAlias = NDArray[np.uint64]

_SALT_FACTOR = np.uint64(mixing.SALT_FACTOR)
_SALT_OFFSET = np.uint64(mixing.SALT_OFFSET)
_FIRST_FACTOR = np.uint64(mixing.FIRST_FACTOR)
_SECOND_FACTOR = np.uint64(mixing.SECOND_FACTOR)
_BEFORE, _BETWEEN, _AFTER = (np.uint64(shift) for shift in mixing.SHIFTS)
_HALF = np.uint64(32)


def mix_words(words: Words, salts: Words) -> Words:
    """The hash of each word under the salt at its place; the shapes broadcast.

    Under `numba.njit` it also takes two uint64 scalars; numpy's own scalars would warn of the intended wraparound.
    """
    keys = salts * _SALT_FACTOR + _SALT_OFFSET
    mixed = words ^ keys
    mixed = mixed ^ (mixed >> _BEFORE)
    mixed = mixed * _FIRST_FACTOR
    mixed = mixed ^ ((keys << _HALF) | (keys >> _HALF))
    mixed = mixed ^ (mixed >> _BETWEEN)
    mixed = mixed * _SECOND_FACTOR
    hashes: Words = mixed ^ (mixed >> _AFTER)
    return hashes
