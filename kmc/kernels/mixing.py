"""The mixer behind every fingerprint: a 64-bit word under a salt, hashed to 64 bits.

For every salt it is a permutation of the 64-bit words. Hash sums add mixed words, so what matters is that differences
`mix(a, s) - mix(b, s)` do not repeat for other words and salts: two multiplications with a shift before, between and
after them, and the salt enters twice, so that no word under one salt behaves as another word under another. (With one
shift less, words that differ in their top bit give the same difference in 4 of 10 million pairs, which costs states.)

This file states the mixer on Python integers; `kmc.kernels.mixing_arrays` states it for numpy and numba, and
`kmc.compiler.emit_llvm` for kernels. Tests hold the three together.
"""

from __future__ import annotations

WORD_MASK = (1 << 64) - 1

# Odd and without visible pattern: the first two are wyhash's, the others are the multipliers of splitmix64.
SALT_FACTOR = 0xA0761D6478BD642F
SALT_OFFSET = 0xE7037ED1A0B428DB
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB

SHIFTS = (32, 29, 32)
"""How far the word is shifted onto itself before, between and after the multiplications."""


def mix(word: int, salt: int) -> int:
    """The hash of `word` under `salt`, 0..2**64-1; both are taken modulo 2**64."""
    key = (salt * SALT_FACTOR + SALT_OFFSET) & WORD_MASK
    mixed = (word & WORD_MASK) ^ key
    mixed ^= mixed >> SHIFTS[0]
    mixed = mixed * FIRST_FACTOR & WORD_MASK
    mixed ^= halves_swapped(key)
    mixed ^= mixed >> SHIFTS[1]
    mixed = mixed * SECOND_FACTOR & WORD_MASK
    return mixed ^ mixed >> SHIFTS[2]


def halves_swapped(key: int) -> int:
    """The upper and the lower 32 bits of a word exchanged."""
    return (key << 32 | key >> 32) & WORD_MASK
