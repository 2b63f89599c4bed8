"""The memory of the fingerprint table, and when it grows. Its layout is in `kmc.engine.loops.fingerprint_table_64`.

Invariant: the table is never fuller than `LOAD_MAX`, counting the entries that pending batches may add, so every probe
ends.

It grows in place, by a quarter (a small one fourfold), or by two quarters at once if its level will need them. At 8
bytes a slot and at most 62.5 percent full it needs 13 to 16 bytes a state at the end of a level, and no more while it
grows; within a level up to 20; twice that with 128-bit fingerprints. In a fuller table more lines are full, and a
lookup then waits for a second line. Addresses for half of the machine's memory are reserved; pages are allocated when
they are first used.
"""

from __future__ import annotations

from collections.abc import Collection

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared, TableMove
from kmc.engine.layout.frontier import signed
from kmc.engine.loops.compiled_loops import NativeLoop, move_loop, settle_loop
from kmc.engine.native.memory import Memory, Words, reserved
from kmc.engine.native.threads import WorkerPool
from kmc.engine.native.words import Address, Slot
from kmc.errors import SystemFault

LOAD_MAX = 5 / 8
_SMALL_SLOTS = 1 << 20
"""A smaller table grows to four times its size: most searches need no more than the 2 MiB that one begins with."""

_MOVED_BY_ONE_THREAD_SLOTS = 1 << 18
_LAST_RANGE_SLOTS = 1 << 12


class FingerprintTable:
    """A set of fingerprints, of two words if `wide`; with `ranked`, each with the least rank of its states.

    `growths`: for each growth, the number of fingerprints that needed it, and the bytes afterwards.
    """

    def __init__(self, slots: int, *, ranked: bool = False, wide: bool = False) -> None:
        self._ranked, self._wide = ranked, wide
        self._width = 1 + ranked + wide
        self.slots = _whole_lines(slots)
        self._memory = reserved(self.slots * self._width, 2, huge=True)
        self.growths: list[tuple[int, int]] = []

    @property
    def address(self) -> Address:
        """The address of the slots."""
        return self._memory.address

    @property
    def limit(self) -> int:
        """The number of fingerprints it may hold before it must grow."""
        return _limit(self.slots)

    @property
    def bytes(self) -> int:
        """The bytes of the slots."""
        return self.slots * self._width * f.WORD_BYTES

    @property
    def entry_words(self) -> int:
        """The number of words in a fingerprint."""
        return 1 + self._wide

    def entries(self, low: int, high: int) -> Words:
        """The fingerprints in a range of slots, a row each. The range is whole cache lines, the table not ranked."""
        assert not self._ranked, "a ranked table is that of one level"
        lines = self._memory.array[low * self._width : high * self._width].reshape(-1, self._width, f.LINE_WORDS)
        slots = lines.transpose(0, 2, 1).reshape(-1, self._width)
        used: Words = slots[(slots != 0).all(axis=1)]
        return used

    def empty(self, slots: int) -> None:
        """Forget all fingerprints, and go on with so many slots."""
        self._memory.array[: self.slots * self._width] = 0
        self.slots = _whole_lines(slots)

    def growth_bytes(self, count: int) -> int:
        """The bytes that `grow` would add."""
        return (slots_for(count, self.slots) - self.slots) * self._width * f.WORD_BYTES

    def can_hold(self, count: int) -> bool:
        """Return whether the addresses that are reserved suffice for `count` fingerprints."""
        return slots_for(count, self.slots) * self._width <= self._memory.words

    def grow(self, count: int, pool: WorkerPool, expected: int = 0) -> None:
        """Make room for `count` fingerprints, and for `expected` if these are more, on all threads. SystemFault if they
        do not fit into memory.

        After an exception the table cannot be used any more. A search that is stopped meanwhile stops after the growth.
        """
        most = max(count, expected)
        if not self.can_hold(most):
            raise SystemFault(
                "KMC531", f"no memory for {count:,} fingerprints", help="see --max-depth and --max-states"
            )
        slots = slots_for(most, self.slots)
        if slots != self.slots:
            self._move(slots, pool)
            self.slots = slots
            self.growths.append((count, self.bytes))

    def _move(self, slots: int, pool: WorkerPool) -> None:
        # Nearly nothing is put aside, but all fingerprints could be; pages that are not used cost nothing.
        aside = Memory(self.slots * self._width)
        shared, plan = Shared.of(Memory(Shared.WORDS)), TableMove.of(Memory(TableMove.WORDS))
        plan.table, plan.slots, plan.aside = self.address, slots, aside.address
        plan.slots_before = high = self.slots
        while high > 0:
            low = _whole_lines(-(-high * self.slots // slots)) if high > _LAST_RANGE_SLOTS else 0
            plan.high, plan.cursor = Slot(high), low
            self._run(
                move_loop(self._ranked, self._wide),
                shared,
                plan,
                pool,
                pool.size if high - low > _MOVED_BY_ONE_THREAD_SLOTS else 0,
            )
            high = low
        self._run(settle_loop(self._ranked, self._wide), shared, plan, pool, 0)

    def _run(self, loop: NativeLoop, shared: Shared, plan: TableMove, pool: WorkerPool, threads: int) -> None:
        pool.run(lambda _: loop(shared, plan), threads)


def slots_for(count: int, slots: int) -> int:
    """The slots of a table with room for `count` fingerprints that has, or began with, `slots`."""
    while _limit(slots) < count:
        slots = slots * 4 if slots < _SMALL_SLOTS else slots + slots // 4
    return _whole_lines(slots)


def _whole_lines(slots: int) -> int:
    """The number of slots, rounded up to whole cache lines."""
    return max(f.LINE_WORDS, -(-slots // f.LINE_WORDS) * f.LINE_WORDS)


def _limit(slots: int) -> int:
    return min(int(slots * LOAD_MAX), slots - 1)


def target_table(fingerprints: Collection[int]) -> Memory:
    """A read-only table of a few fingerprints, at most half full."""
    table = Memory(_whole_lines(2 * len(fingerprints) + 2))
    slots, lines = table.array, table.words // f.LINE_WORDS
    for fingerprint in fingerprints:
        slot = (fingerprint * lines >> 64) * f.LINE_WORDS
        while slots[slot] != 0:
            slot = (slot + 1) % table.words
        slots[slot] = signed(fingerprint)
    return table
