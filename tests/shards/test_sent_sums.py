"""Sums that agree only if every shard received from every task what that task sent it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmc.engine.native.memory import Words
from kmc.shards.level.sent_sums import received_sum, sent_sum

TABLE = np.array([[3, 0, 5], [1, 1, 1], [0, 7, 2], [9, 0, 0]])
"""The entries of four tasks for three shards."""


def sums_of(sent: Words, received: Words) -> tuple[int, int]:
    """The sums over all tasks, and over all shards."""
    return (
        sum(sent_sum(row, task) for task, row in enumerate(sent)) % (1 << 64),
        sum(received_sum(column, shard) for shard, column in enumerate(received.T)) % (1 << 64),
    )


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 1000))
def test_the_sums_agree_if_all_arrived(tasks: int, shards: int, seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 1 << 40, (tasks, shards))
    sent, received = sums_of(table, table)
    assert sent == received


@pytest.mark.parametrize("task", range(4))
@pytest.mark.parametrize("shard", range(3))
def test_a_lost_entry_of_any_pair_is_noticed(task: int, shard: int) -> None:
    received = TABLE.copy()
    received[task, shard] += 1
    sent_all, received_all = sums_of(TABLE, received)
    assert sent_all != received_all


def test_entries_at_another_shard_or_of_another_task_are_noticed() -> None:
    for change in (TABLE[:, ::-1], TABLE[::-1], np.roll(TABLE, 1, axis=0), np.roll(TABLE, 1, axis=1)):
        assert change.sum() == TABLE.sum()
        sent, received = sums_of(TABLE, change)
        assert sent != received
