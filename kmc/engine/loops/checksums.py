"""Checksums of words, and the control words of the native loops of `kmc.engine.loops.storage`."""

from __future__ import annotations

from kmc.engine.loops import storage as s
from kmc.engine.loops.compiled_loops import storing_loop
from kmc.engine.native.memory import Memory

WORD_MASK = (1 << 64) - 1


def run_storing(name: str, **words: int) -> int:
    """Run such a loop with these control words; its RESULT."""
    control = Memory(s.CONTROL_WORDS)
    for word, value in words.items():
        control.array[getattr(s, word)] = value
    storing_loop(name)(control.address, 0)
    return int(control.array[s.RESULT])


def checksum(address: int, words: int, place: int) -> int:
    """The checksum of `words` words at `address` that stand from `place` on in their file."""
    return run_storing("total", FIRST=address, COUNT=words, PLACE=place) & WORD_MASK if words else 0
