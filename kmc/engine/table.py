"""The fingerprint table as Python owns it: its memory, its size, when it grows.

Invariant: it is never fuller than `LOAD_MAX`, counting what pending batches may add, so a probe ends. It grows by
half (small ones fourfold): at 8 bytes a slot and between 47 and 70 percent full it takes 11 to 17 bytes a state, 14
on average. While it grows the old array is there too.
"""

from __future__ import annotations

from collections.abc import Collection

from kmc.engine import fields as f
from kmc.engine.crew import Crew
from kmc.engine.frontier import signed
from kmc.engine.memory import BlockPool, Memory
from kmc.engine.native import move_loop

LOAD_MAX = 0.7
_SMALL_SLOTS = 1 << 18


class FingerprintTable:
    """A set of fingerprints; with `ranked`, each with the least rank of its states."""

    def __init__(self, slots: int, *, ranked: bool = False) -> None:
        self._ranked = ranked
        self._width = 2 if ranked else 1
        self.slots = max(2, slots)
        self._memory = Memory(self.slots * self._width)

    @property
    def address(self) -> int:
        """Where the slots lie."""
        return self._memory.address

    @property
    def limit(self) -> int:
        """How many fingerprints it may hold before it must grow."""
        return min(int(self.slots * LOAD_MAX), self.slots - 1)

    @property
    def bytes(self) -> int:
        """The memory of the slots."""
        return self.slots * self._width * f.WORD_BYTES

    def grow(self, count: int, shared: Memory, crew: Crew, pool: BlockPool) -> bool:
        """Make room for `count` fingerprints, with all threads; False if PAUSE cut it short, and nothing changed.

        The old array, whose pages have been touched, becomes blocks of the next frontier.
        """
        slots = self.slots
        while min(int(slots * LOAD_MAX), slots - 1) < count:
            slots = slots * 4 if slots < _SMALL_SLOTS else slots + slots // 2
        if slots == self.slots:
            return True
        larger = Memory(slots * self._width)
        cursor = Memory(1)
        move = move_loop(self._ranked)

        def run(_: int) -> bool:
            old = self._memory.address, self.slots
            return move(shared.address, *old, larger.address, slots, cursor.address) == f.DONE

        threads = crew.size if self.slots >= _SMALL_SLOTS else 1
        if not all(crew.run(run, threads)):
            return False
        pool.donate(self._memory)
        self._memory, self.slots = larger, slots
        return True


def target_table(fingerprints: Collection[int]) -> Memory:
    """A table of a few fingerprints that is at most half full, to be read only."""
    table = Memory(2 * len(fingerprints) + 2)
    slots = table.array
    for fingerprint in fingerprints:
        slot = fingerprint * table.words >> 64
        while slots[slot] != 0:
            slot = (slot + 1) % table.words
        slots[slot] = signed(fingerprint)
    return table
