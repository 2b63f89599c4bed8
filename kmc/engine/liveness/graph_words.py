"""The levels of a behaviour graph as words of a file, one level after another.

A level adds its states, and the steps of the level before it. First stand three words: how many states, sources and
steps. Then come the arrays of `AddedLevel`, each from a new word on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout.control_words import WORD_BYTES
from kmc.engine.native.memory import Words


@dataclass(frozen=True, slots=True)
class AddedLevel:
    """`fingerprints` and `state_bits` have a row a state; `counts` a number a source; the others a row a step."""

    fingerprints: NDArray[np.int64]
    state_bits: NDArray[Any]
    counts: NDArray[np.uint32]
    targets: NDArray[np.uint32]
    labels: NDArray[np.uint16]
    step_bits: NDArray[Any]

    def as_words(self) -> Words:
        """Its words."""
        head = np.array([len(self.fingerprints), len(self.counts), len(self.targets)], np.int64)
        return np.concatenate([head, *(_words_of(getattr(self, field.name)) for field in fields(self))])

    def next_in(self, words: Words, place: int) -> tuple[AddedLevel, int]:
        """The level that begins at a word, of arrays with the types of these; where the next one begins."""
        states, sources, steps = words[place : place + 3].tolist()
        place += 3
        found = []
        for count, like in zip((states, states, sources, steps, steps, steps), _arrays(self), strict=True):
            width = like[:0].dtype.itemsize * (like.shape[1] if like.ndim > 1 else 1)
            end = place + -(-count * width // WORD_BYTES)
            part = words[place:end].tobytes()[: count * width]
            found.append(np.frombuffer(part, like.dtype).reshape(count, *like.shape[1:]))
            place = end
        return AddedLevel(*found), place


def _arrays(level: AddedLevel) -> Sequence[NDArray[Any]]:
    return [getattr(level, field.name) for field in fields(level)]


def _words_of(array: NDArray[Any]) -> Words:
    data = np.ascontiguousarray(array).tobytes()
    return np.frombuffer(data + bytes(-len(data) % WORD_BYTES), np.int64)
