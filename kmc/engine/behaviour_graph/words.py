"""The levels of a behaviour graph as words of a file, one level after another.

A level adds its states, and the steps of the level before it, part by part. The words begin with the numbers of states
and parts, then fingerprints and bits; then for each part the numbers of its sources and steps, and its arrays. Each
array begins at a word, so most of the data is written from where it lies, without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.recorded_levels import StepPart
from kmc.engine.layout.control_words import WORD_BYTES
from kmc.engine.native.memory import Words


def words_of_level(
    fingerprints: NDArray[np.int64], state_bits: NDArray[Any], parts: Sequence[StepPart]
) -> Iterator[Words]:
    """The words of a level, in pieces."""
    yield np.array([len(fingerprints), len(parts)], np.int64)
    yield from map(_words_of, (fingerprints, state_bits))
    for part in parts:
        yield np.array([len(part.counts), len(part.targets)], np.int64)
        yield from map(_words_of, (part.counts, part.targets, part.labels, part.bits))


class LevelReader:
    """Reads levels one after another. Arrays are like the empty ones that are given."""

    def __init__(
        self, words: Words, fingerprints: NDArray[np.int64], state_bits: NDArray[Any], step_bits: NDArray[Any]
    ) -> None:
        self._words, self._place = words, 0
        self._of_states = fingerprints, state_bits
        self._of_steps = np.zeros(0, np.uint32), np.zeros(0, np.uint16), step_bits

    def states(self) -> tuple[NDArray[np.int64], NDArray[Any], int]:
        """The fingerprints and bits of the next level, and the number of parts that follow."""
        count, parts = self._numbers()
        fingerprints, bits = (self._array(count, like) for like in self._of_states)
        return fingerprints, bits, parts

    def part(self, first: int) -> StepPart:
        """The next part, of states from `first` on."""
        sources, steps = self._numbers()
        counts = self._array(sources, np.zeros(0, np.uint32))
        targets, labels, bits = (self._array(steps, like) for like in self._of_steps)
        return StepPart(first, counts, targets, labels, bits)

    def _numbers(self) -> tuple[int, int]:
        one, other = self._words[self._place : self._place + 2].tolist()
        self._place += 2
        return one, other

    def _array(self, count: int, like: NDArray[Any]) -> NDArray[Any]:
        size = count * like.dtype.itemsize * (like.shape[1] if like.ndim > 1 else 1)
        end = self._place + -(-size // WORD_BYTES)
        flat = np.frombuffer(self._words[self._place : end].tobytes(), like.dtype, size // like.dtype.itemsize)
        self._place = end
        return flat.reshape(count, *like.shape[1:])


def _words_of(array: NDArray[Any]) -> Words:
    """The bytes of an array as words, with as few copies as possible."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    missing = -len(flat) % WORD_BYTES
    return (np.concatenate((flat, np.zeros(missing, np.uint8))) if missing else flat).view(np.int64)
