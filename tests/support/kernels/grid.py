"""Hand-written kernels for tests of the engine: walks on a grid whose counts can be worked out on paper.

A state of the grid is a point; every step adds 1 to one coordinate, up to `size` - 1. So there are size ** dims
states, the point with coordinate sum s lies at level s + 1, and a state has one step for each coordinate below its
bound. The row carries the parameters, `pad` filler words make it long, a few more or less from point to point, and
options plant what the engine must find. Some filler words are those of most points, some of a few, some of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmc.engine.layout.frontier import UNSIGNED, PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import inlined, load, store
from kmc.engine.native.words import NULL, Address

POINT, DIMS, SIZE, PAD, SUM, WALL, ERROR, FORGETS, FAN, GATE, DELAY, JUMP = range(12)
HEAD = 12
NOWHERE = -1
ERROR_NUMBER = 7


@inlined
def scrambled(word: int) -> int:
    """A one-to-one map of words that never gives 0 for a small one."""
    return (word + 1) * -7046029254386353131 ^ 6148914691236517205


@inlined
def total(point: int) -> int:
    """The sum of a point's coordinates, a byte each."""
    found = 0
    while point != 0:
        found += point & 255
        point >>= 8
    return found


@inlined
def seen(row: int, point: int) -> int:
    """What a view keeps of a point: with FORGETS, the sum of the first two coordinates instead of both."""
    if load(row, FORGETS) == 0:
        return point
    return (point >> 16 << 16) + (point & 255) + (point >> 8 & 255)


@inlined
def words_of(row: int, point: int) -> int:
    """The length of the row of a point, of which `row` is one of another."""
    return HEAD + load(row, PAD) + (point + (point >> 8)) % 4


@inlined
def filler(point: int, index: int) -> int:
    """The filler word at `index`: one that most points have, or a few, or this one alone."""
    kind = (index + point) % 5
    if kind < 2:
        return index
    return point * 31 + index if kind == 2 else index + (point >> 8 & 3)


@inlined
def write(row: int, out: int, used: int, point: int, action: int) -> int:
    """Write the record of a successor; the words used then."""
    words = words_of(row, point)
    record = out + used * 8
    store(record, 0, words | action << 32)
    store(record, 1, scrambled(seen(row, point)))
    store(record, 2, point)
    for index in range(1, HEAD):
        store(record, 2 + index, load(row, index))
    for index in range(HEAD, words):
        store(record, 2 + index, filler(point, index))
    return used + 2 + words


@inlined
def wasted(rounds: int) -> int:
    """1, after some time."""
    word = 1
    for _ in range(rounds):
        word = scrambled(word)
    return 1 if word != 0 else 2


@NativeLoop
def expand(row: int, out: int, out_words: int) -> int:
    """All steps from a point, by the last action from the origin to JUMP and FAN points too; an error at ERROR."""
    point = load(row, POINT)
    dims = load(row, DIMS)
    if point == load(row, ERROR):
        return -16 - ERROR_NUMBER
    found = 0
    used = wasted(scrambled(point) & load(row, DELAY)) - 1
    words = HEAD + load(row, PAD) + 3 + 2
    for index in range(HEAD, words_of(row, point)):
        if point != 0 and load(row, index) != filler(point, index):
            return -16 - 99
    for dim in range(dims):
        if (point >> 8 * dim & 255) + 1 < load(row, SIZE):
            if used + words > out_words:
                return -1
            used = write(row, out, used, point + (1 << 8 * dim), dim)
            found += 1
    if point == 0 and load(row, JUMP) != NOWHERE:
        used = write(row, out, used, load(row, JUMP), dims)
        found += 1
    for number in range(load(row, FAN) if point == 0 else 0):
        if used + words > out_words:
            return -1
        used = write(row, out, used, (number + 1) << 32 | 255, dims)
        found += 1
    return found


@NativeLoop
def check(row: int) -> int:
    """Invariant 0: the sum is not SUM. Invariant 1: not so, or the first coordinate is not 0."""
    point = load(row, POINT)
    if total(point) != load(row, SUM):
        return 0
    return 1 if point & 255 != 0 else 3


@NativeLoop
def reachable(row: int, wanted: int) -> int:
    """Property 0: the sum is 3. Property 1: it is 200."""
    found = total(load(row, POINT))
    return ((1 if found == 3 else 0) | (2 if found == 200 else 0)) & wanted


@NativeLoop
def outside(row: int) -> int:
    """Constraint 0: the first coordinate is not WALL."""
    return 1 if load(row, POINT) & 255 == load(row, WALL) else 0


@NativeLoop
def step_outside(source: int, row: int) -> int:
    """Action constraint 0: no step changes the second coordinate where the first is GATE."""
    first, second = load(source, POINT), load(row, POINT)
    return 1 if first & 255 == load(row, GATE) and first >> 8 & 255 != second >> 8 & 255 else 0


@NativeLoop
def step(source: int, row: int) -> int:
    """The first coordinate does not grow to SUM."""
    return 1 if load(source, POINT) & 255 != load(row, POINT) & 255 == load(row, SUM) else 0


@NativeLoop
def rank(row: int) -> int:
    """The order of points of one view: neither the order of discovery nor the reverse."""
    return scrambled(load(row, POINT))


def address(kernel: Any) -> Address:
    """Where a compiled kernel lies."""
    return Address(int(kernel.address))


@dataclass(frozen=True)
class Grid:
    """A model: see the module, and `expand`, `check`, `outside`, `step_outside` for the options."""

    dims: int = 3
    size: int = 6
    pad: int = 0
    sum: int = NOWHERE
    wall: int = NOWHERE
    gate: int = NOWHERE
    error: int = NOWHERE
    forgets: bool = False
    fan: int = 0
    delay: int = 0
    jump: int = NOWHERE
    steps: bool = False

    @property
    def kernels(self) -> KernelTable:
        """The kernels that this model needs."""
        return KernelTable(
            expand=address(expand),
            action_count=self.dims + 1,
            check=address(check),
            reachable=address(reachable),
            outside=address(outside) if self.wall != NOWHERE else NULL,
            step_outside=address(step_outside) if self.gate != NOWHERE else NULL,
            step=address(step) if self.steps else NULL,
            rank=address(rank) if self.forgets else NULL,
            check_count=2,
            reachable_count=2,
            step_count=1,
        )

    @property
    def initial(self) -> list[PackedState]:
        """The origin."""
        head = [
            0,
            self.dims,
            self.size,
            self.pad,
            self.sum,
            self.wall,
            self.error,
            self.forgets,
            self.fan,
            self.gate,
            self.delay,
            self.jump,
        ]
        return [PackedState(fingerprint(0), 0, np.array(head + [0] * self.pad, np.int64))]


def fingerprint(point: int) -> int:
    """The fingerprint of a point."""
    return ((point + 1) * -7046029254386353131 ^ 6148914691236517205) & UNSIGNED


def point_of(record: PackedState) -> int:
    """The point of a record."""
    return int(record.row[POINT])


def level_sizes(dims: int, size: int) -> tuple[int, ...]:
    """How many points have each coordinate sum."""
    sizes = np.array([1], dtype=object)
    for _ in range(dims):
        sizes = np.convolve(sizes, np.ones(size, dtype=object))
    return tuple(int(count) for count in sizes)
