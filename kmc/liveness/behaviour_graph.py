"""The behaviour graph: all states and steps of a model as arrays, made by a search and read by the search for lassos.

Invariant: numbers of states, and the order of steps, do not depend on threads or shards. States are numbered level by
level, and within a level in the order of their fingerprints; the steps of a state are in the order (target, label).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

OUTSIDE = np.uint32(0xFFFF_FFFF)
"""The target of a step that is not part of the graph: a constraint drops it. The step enables its action, and is never
taken.
"""


def bit_of(rows: Array, position: int) -> NDArray[np.bool_]:
    """Bit `position` of each row of unsigned integers; the lowest bit of the first word is bit 0."""
    word, bit = divmod(position, 8 * rows.dtype.itemsize)
    bits: NDArray[np.bool_] = rows[:, word] >> rows.dtype.type(bit) & rows.dtype.type(1) != 0
    return bits


@dataclass(frozen=True, slots=True)
class BehaviourGraph:
    """`expanded` states, those of the lowest numbers, have all their steps; the others have none, and are on no cycle.

    `level_starts` (int64): the number of the first state of each level, and the number of states at the end.
    `offsets` (int64, one more than states): where the steps of each state begin.
    `targets` (uint32) and `labels` (uint16): a step each; labels count action instances as
    `kmc.actions.action.instances_of` does. Equal (target, label) pairs of a state are stored once. A step to
    the state itself is stored: it enables nothing but ENABLED A. A step of an action that is not part of Next is stored
    as one to OUTSIDE, except where Next has the same pair, which then has its label too.
    `state_bits` (unsigned integers, a row of as many words as are needed per state; `bit_of` reads them): bit n is
    state predicate n. `step_bits` (the same per step; no column without step predicates): bit n is step predicate n.
    """

    level_starts: Array
    expanded: int
    offsets: Array
    targets: Array
    labels: Array
    state_bits: Array
    step_bits: Array

    @property
    def states(self) -> int:
        """The number of states."""
        return int(self.level_starts[-1])

    @property
    def initial(self) -> int:
        """The number of initial states, which have the lowest numbers."""
        return int(self.level_starts[1])


class BehaviourSource(Protocol):
    """A search that has explored a model and recorded its steps."""

    def graph(self) -> BehaviourGraph:
        """The graph of the explored states; call this once."""

    def fingerprint(self, number: int, /) -> tuple[int, ...]:
        """The words of the fingerprint of a state."""
