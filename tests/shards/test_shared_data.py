"""A value that many tasks share is unpickled once in a process, however many tasks bring it."""

from __future__ import annotations

import pickle

from kmc.shards.executors.shared_data import SharedData


def test_tasks_that_come_one_after_another_have_one_object() -> None:
    shared = SharedData.of(("names", list(range(100))))
    messages = [pickle.dumps((shared, number)) for number in range(3)]
    arrived = [pickle.loads(message) for message in messages]
    assert [number for _, number in arrived] == [0, 1, 2]
    assert all(one.value == shared.value for one, _ in arrived)
    assert len({id(one.value) for one, _ in arrived}) == 1
    assert arrived[0][0].value is not shared.value


def test_another_value_replaces_the_one_before() -> None:
    first, second = SharedData.of([1]), SharedData.of([2])
    there = [pickle.loads(pickle.dumps(one)).value for one in (first, second, first)]
    assert there == [[1], [2], [1]]
