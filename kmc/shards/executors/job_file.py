"""A job for processes that are being started, in a file without a name instead of the pipe to each of them.

Python writes the data of a new process into a pipe whose other end Python holds itself meanwhile. If the process dies
before it has read the data, the writer waits for ever, as soon as the data is larger than a pipe's buffer: 64 KiB.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable
from multiprocessing import reduction
from typing import Any, cast

from kmc.shards.executors.travel import ShardJob


class JobFile:
    """Holds a job for processes that start with `argument` among their arguments."""

    def __init__(self, job: ShardJob) -> None:
        data = pickle.dumps(job)
        self._size = len(data)
        self._descriptor, path = tempfile.mkstemp(prefix="kmc-job-")
        os.unlink(path)
        with os.fdopen(self._descriptor, "wb", closefd=False) as file:
            file.write(data)

    @property
    def argument(self) -> ShardJob:
        """The argument from which a new process gets the job."""
        return cast("ShardJob", self)

    def __reduce__(self) -> tuple[Callable[[Any, int], ShardJob], tuple[Any, int]]:
        return _job_in, (reduction.DupFd(self._descriptor), self._size)

    def close(self) -> None:
        """Let the file go; processes that have the job do not need it."""
        os.close(self._descriptor)


def _job_in(duplicate: Any, size: int) -> ShardJob:
    """The job, in the new process. All processes share the place where a file is read, so it is given here."""
    descriptor = duplicate.detach()
    try:
        data = bytearray()
        while len(data) < size:
            data += os.pread(descriptor, size - len(data), len(data))
    finally:
        os.close(descriptor)
    job: ShardJob = pickle.loads(data)
    return job
