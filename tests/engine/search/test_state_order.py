"""New states in the order of their fingerprints, against the obvious sort."""

from __future__ import annotations

import numpy as np
import pytest

from kmc.engine.behaviour_graph.state_order import ATOMS_MAX, StateOrder, packed
from kmc.engine.native.threads import WorkerPool
from kmc.liveness.behaviour_graph import bit_of


def pool(threads: int) -> WorkerPool:
    """Threads that nothing interrupts."""
    return WorkerPool(threads, lambda: None, lambda: None)


@pytest.mark.parametrize("atoms", [0, 3, 13, 30, 62, 100])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("states", "threads"), [(0, 1), (1, 2), (700, 1), (20_000, 3)])
def test_states_are_in_the_order_of_their_fingerprints(states: int, threads: int, wide: bool, atoms: int) -> None:
    random = np.random.default_rng(atoms)
    masks, width = -(-atoms // ATOMS_MAX), 1 + wide
    rows = random.integers(-(1 << 63), 1 << 63, (states, width + masks), np.int64)
    # Some first words are the same, and half of all are in one of a thousand ranges.
    rows[::3, 0] >>= 10
    if wide:
        rows[1::5, 0] = rows[0, 0] if states else 0
    rows[:, width:] &= (1 << min(atoms, ATOMS_MAX)) - 1
    cut = states // 3
    noted = [rows[:cut].reshape(-1), rows[cut:].reshape(-1)]
    fingerprints, bits = StateOrder(wide=wide, atoms=atoms, atom_words=masks).ordered(noted, pool(threads))
    keys = [rows[:, column].view(np.uint64) for column in range(width)]
    right = rows[np.lexsort(keys[::-1])]
    assert np.array_equal(fingerprints, right[:, :width])
    expected = packed(right[:, width:], atoms)
    assert bits.dtype == expected.dtype
    assert np.array_equal(bits, expected)


@pytest.mark.parametrize(
    "atoms", [1, 8, 9, 16, 17, 32, 33, 62, 63, 64, 65, 124, 125, 126, 128, 129, 186, 187, 192, 200]
)
def test_each_predicate_has_its_bit(atoms: int) -> None:
    random = np.random.default_rng(atoms)
    held = random.random((50, atoms)) < 0.5
    masks = np.zeros((50, -(-atoms // ATOMS_MAX)), np.int64)
    for atom in range(atoms):
        masks[:, atom // ATOMS_MAX] |= held[:, atom].astype(np.int64) << (atom % ATOMS_MAX)
    rows = packed(masks, atoms)
    assert 8 * rows.dtype.itemsize * rows.shape[1] < atoms + 64
    for atom in range(atoms):
        assert np.array_equal(bit_of(rows, atom), held[:, atom]), atom
