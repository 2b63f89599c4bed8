"""What tasks send to shards in files arrives as it was sent, or there is an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.runs.shards import store_in

from kmc.errors import SystemFault
from kmc.shards.executors.exchange import read_sent, write_sent

BOXES = [np.arange(3, dtype=np.int64), np.zeros(0, np.int64), np.arange(100, 105, dtype=np.int64)]


def test_each_shard_reads_what_was_sent_to_it(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    parts = write_sent(store, 4, 2, BOXES)
    assert [read_sent(store, part).tolist() for part in parts] == [box.tolist() for box in BOXES]


def test_damage_is_noticed_by_the_shard_that_it_concerns(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    parts = write_sent(store, 4, 2, BOXES)
    path = tmp_path / parts[0].name
    whole = path.read_bytes()
    for word, damaged in ((0, 0), (2, 0), (3, 2), (7, 2)):
        data = bytearray(whole)
        data[8 * word] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises(SystemFault, match="its checksum is wrong") as caught:
            read_sent(store, parts[damaged])
        assert caught.value.code == "KMC551"
        assert read_sent(store, parts[2 - damaged]).tolist() == BOXES[2 - damaged].tolist()
