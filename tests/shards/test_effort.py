"""The CPU time of a result is that of all processes of the search."""

from __future__ import annotations

import os
import time

from kmc.shards.level.tasks import Effort, clocks, this_process


def test_an_effort_is_what_its_thread_used_and_says_where() -> None:
    began = clocks()
    while time.thread_time() < began[0] + 0.01:
        pass
    found = Effort.since(began)
    assert 0.01 <= found.cpu_seconds < 1
    assert found.seconds >= 0.01
    assert found.process == this_process()
    assert found.process[1] == os.getpid()
