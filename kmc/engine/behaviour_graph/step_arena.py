"""The memory of the steps of a behaviour graph: all targets in a row, and all labels.

Invariant: the steps of a state follow those of the state before it. So nothing is copied when the graph is whole.
Addresses are reserved for more than the machine can hold; pages are allocated when they are first used.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.native.memory import Memory, no_memory, reserved
from kmc.engine.native.words import Address

_TARGET_BYTES = 4
_LABEL_BYTES = 2
_TARGETS_SHARE = 2
_LABELS_SHARE = 4


class StepArena:
    """Holds `used` steps, and room for more."""

    def __init__(self) -> None:
        self.used = 0
        self._targets, self._labels = Memory(1), Memory(1)

    def targets(self, steps: slice) -> NDArray[np.uint32]:
        """The targets of some steps."""
        return self._targets.array.view(np.uint32)[steps]

    def labels(self, steps: slice) -> NDArray[np.uint16]:
        """The labels of some steps."""
        return self._labels.array.view(np.uint16)[steps]

    def addresses(self, first: int, count: int) -> tuple[Address, Address]:
        """The addresses for the targets and the labels of steps from `first` on; there is room for `count`."""
        if self.used == 0 and self._targets.words == 1:
            self._targets = reserved(_words(count * _TARGET_BYTES), _TARGETS_SHARE)
            self._labels = reserved(_words(count * _LABEL_BYTES), _LABELS_SHARE)
        end = first + count
        if _words(end * _TARGET_BYTES) > self._targets.words or _words(end * _LABEL_BYTES) > self._labels.words:
            raise no_memory(end * (_TARGET_BYTES + _LABEL_BYTES))
        targets = Address(self._targets.address + first * _TARGET_BYTES)
        labels = Address(self._labels.address + first * _LABEL_BYTES)
        self._targets.take_pages(targets, count * _TARGET_BYTES)
        self._labels.take_pages(labels, count * _LABEL_BYTES)
        return targets, labels

    def keep(self, first: int, count: int) -> slice:
        """Let steps that were written from `first` on follow those that are held; which they are now."""
        begin = self.used
        if first != begin:
            for memory, size in ((self._targets, _TARGET_BYTES), (self._labels, _LABEL_BYTES)):
                ctypes.memmove(memory.address + begin * size, memory.address + first * size, count * size)
        self.used += count
        return slice(begin, self.used)

    def append(self, targets: NDArray[Any], labels: NDArray[Any]) -> slice:
        """Hold copies of some steps; which they are."""
        self.addresses(self.used, len(targets))
        steps = self.keep(self.used, len(targets))
        self.targets(steps)[:] = targets
        self.labels(steps)[:] = labels
        return steps


def _words(size: int) -> int:
    """The number of words that hold so many bytes."""
    return -(-size // 8)
