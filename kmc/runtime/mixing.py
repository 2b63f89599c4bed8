"""The mixer behind every fingerprint: a 64-bit word under a salt, hashed to 64 bits.

Hash sums add mixed words, so differences `mix(a, s) - mix(b, s)` must not repeat for other words and salts. A product
of 128 bits, its upper half folded onto its lower, lets every bit of the word reach every bit of the hash. There are two
rounds, because after one round differences still repeat in one of 2**41 pairs. The salt enters both rounds, so that no
word under one salt behaves as another word under another. For one salt, `mix` is not a permutation: two words collide
as often as under a random function.

This file defines the mixer for Python integers, `kmc.compiler.ir.emit_llvm` for kernels; tests compare the two.
"""

from __future__ import annotations

WORD_MASK = (1 << 64) - 1

# Odd and without visible pattern: the first two are wyhash's, the others are the multipliers of splitmix64.
SALT_FACTOR = 0xA0761D6478BD642F
SALT_OFFSET = 0xE7037ED1A0B428DB
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB


def mix(word: int, salt: int) -> int:
    """The hash of `word` under `salt`, 0..2**64-1; both are reduced modulo 2**64."""
    key = (salt * SALT_FACTOR + SALT_OFFSET) & WORD_MASK
    mixed = folded((word & WORD_MASK ^ key) * FIRST_FACTOR)
    return folded((mixed ^ halves_swapped(key)) * SECOND_FACTOR)


def folded(product: int) -> int:
    """The exclusive or of the upper and the lower half of 128 bits."""
    return (product ^ product >> 64) & WORD_MASK


def halves_swapped(key: int) -> int:
    """The upper and the lower 32 bits of a word exchanged."""
    return (key << 32 | key >> 32) & WORD_MASK
