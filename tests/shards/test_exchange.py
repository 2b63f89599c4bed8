"""What tasks send to shards in files arrives as it was sent, or there is an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.runs.shards import store_in

from kmc.errors import SystemFault
from kmc.shards.executors.exchange import names_of, read_sent, write_sent

BOXES = [np.arange(3, dtype=np.int64), np.zeros(0, np.int64), np.arange(100, 105, dtype=np.int64)]
OTHERS = [np.zeros(0, np.int64), np.arange(7, dtype=np.int64), np.arange(200, 202, dtype=np.int64)]
NOTHING = [np.zeros(0, np.int64)] * 3


def test_each_shard_reads_what_every_task_sent_to_it(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    tasks = [BOXES, NOTHING, OTHERS]
    sent = [write_sent(store, 4, task, boxes) for task, boxes in enumerate(tasks)]
    for shard in range(3):
        found = [entries.tolist() for entries in read_sent(store, sent, shard)]
        assert found == [boxes[shard].tolist() for boxes in tasks]
    assert sent[1] is None
    assert sorted(names_of(sent)) == sorted(store.names())
    assert len(store.names()) == 2


def test_damage_is_noticed_by_the_shard_that_it_concerns(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    sent = [write_sent(store, 4, 0, BOXES)]
    path = tmp_path / next(names_of(sent))
    whole = path.read_bytes()
    # Eight words say where the four ranges begin, the entries follow.
    for word, damaged in ((1, 0), (8, 0), (10, 0), (11, 2), (15, 2), (5, 2)):
        data = bytearray(whole)
        data[8 * word] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises(SystemFault, match="its checksum is wrong") as caught:
            read_sent(store, sent, damaged)
        assert caught.value.code == "KMC551"
        assert read_sent(store, sent, 2 - damaged)[0].tolist() == BOXES[2 - damaged].tolist()


def test_the_entries_of_another_task_are_noticed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    sent = [write_sent(store, 4, task, BOXES) for task in range(2)]
    with pytest.raises(SystemFault, match="its checksum is wrong"):
        read_sent(store, sent[::-1], 0)
