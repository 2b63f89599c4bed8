"""The CPU time of a result is that of all processes of the search."""

from __future__ import annotations

import os
import time

from kmc.shards.level.tasks import Effort, clocks, this_process


def test_an_effort_is_what_its_thread_used_and_says_where() -> None:
    began = clocks()
    while time.thread_time() < began[0] + 0.01:
        pass
    found, ended = Effort.since(began), clocks()
    # Two clocks that are each read before, within and after.
    assert 0.01 <= found.cpu_seconds <= ended[0] - began[0]
    assert 0.01 <= found.seconds <= ended[1] - began[1]
    assert found.process == this_process()
    assert found.process[1] == os.getpid()
