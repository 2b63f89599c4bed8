"""The mixer of `kmc.runtime.mixing` on numpy arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmc.runtime import mixing

Words: TypeAlias = NDArray[np.uint64]

_SALT_FACTOR = np.uint64(mixing.SALT_FACTOR)
_SALT_OFFSET = np.uint64(mixing.SALT_OFFSET)
_HALF = np.uint64(32)
_LOWER = np.uint64((1 << 32) - 1)


def mix_words(words: Words, salts: Words) -> Words:
    """The hash of each word under the salt at its place; the shapes broadcast."""
    keys = salts * _SALT_FACTOR + _SALT_OFFSET
    return mixed_again(mixed_once(words, salts), keys)


def mixed_once(words: Words, salts: Words) -> Words:
    """The first half of the mixer."""
    return folded_product(words ^ (salts * _SALT_FACTOR + _SALT_OFFSET), mixing.FIRST_FACTOR)


def mixed_again(mixed: Words, keys: Words) -> Words:
    """The second half of the mixer."""
    return folded_product(mixed ^ ((keys << _HALF) | (keys >> _HALF)), mixing.SECOND_FACTOR)


def folded_product(words: Words, factor: int) -> Words:
    """The upper half of each product of 128 bits on its lower half."""
    low, high = words & _LOWER, words >> _HALF
    factor_low, factor_high = np.uint64(factor & int(_LOWER)), np.uint64(factor >> 32)
    middle = high * factor_low + (low * factor_low >> _HALF)
    other = low * factor_high + (middle & _LOWER)
    upper = high * factor_high + (middle >> _HALF) + (other >> _HALF)
    product: Words = upper ^ words * np.uint64(factor)
    return product
