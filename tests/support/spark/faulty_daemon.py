"""Python workers of executors that fail where a test says: `spark.python.daemon.module` names this module.

A test writes a `Fault` to the file that `KMC_TEST_FAULT` names, and may change it between two runs of one application.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any

FILE_VARIABLE = "KMC_TEST_FAULT"
VERSION_VARIABLE = "KMC_TEST_VERSION"
"""In the environment of a worker of the cluster: the version of kmc that its executors seem to have."""

_FILE_BYTES_MAX = 4096
_WAIT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at a point: to the first `times` of the tasks that come there, counting each `every`-th.

    A point is a step on a file, as for `KMC_FAILPOINT`, or "before expand", "after expand", "before merge" or "after
    merge". With `first_attempts`, tasks that are repeated come through. Kinds: "die" (this Python worker), "executor"
    """

    point: str
    kind: str
    times: int = 1
    every: int = 1
    first_attempts: bool = False
    driver: int = 0
    folder: str = ""
    prefix: str = ""

    def plant(self, file: Path) -> None:
        """Let it happen from now on."""
        for mark in (*file.parent.glob(f"{file.name}.*"), *file.parent.glob("again-*")):
            mark.unlink()
        file.write_text(json.dumps(asdict(self)))


def happened(file: Path) -> int:
    """How many tasks came to the point of the fault in this file."""
    return len(list(file.parent.glob(f"{file.name}.*")))


def repeated(file: Path) -> int:
    """How many repeated tasks or copies of tasks came through."""
    return len(list(file.parent.glob("again-*")))


def fail_at(point: str, answer: str = "") -> None:
    """Do what the fault of this process wants at a point, if it wants something; `answer` is what the task answers."""
    from pyspark import TaskContext

    file = Path(os.environ[FILE_VARIABLE])
    if not file.exists():
        return
    fault, context = Fault(**json.loads(file.read_text())), TaskContext.get()
    if fault.point != point:
        return
    if fault.first_attempts and context is not None and context.attemptNumber():
        file.with_name(f"again-{context.taskAttemptId()}").touch()
        return
    number = _number(file)
    if number % fault.every == 0 and number // fault.every <= fault.times:
        _act(fault, answer)


def _number(file: Path) -> int:
    """One more than what was given to whoever came before, in any process."""
    number = 1
    while True:
        try:
            os.close(os.open(f"{file}.{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            number += 1
        else:
            return number


def _act(fault: Fault, answer: str) -> None:
    match fault.kind:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "executor":
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
            os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)
        case "driver":
            os.kill(fault.driver, signal.SIGKILL)
        case "interrupt":
            os.kill(fault.driver, signal.SIGINT)
        case "terminate":
            os.kill(fault.driver, signal.SIGTERM)
        case "full":
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES_MAX, resource.RLIM_INFINITY))
        case "wait":
            time.sleep(_WAIT_SECONDS)
            raise TimeoutError
        case "cut" | "flip":
            files = [path for path in Path(fault.folder).glob(f"{fault.prefix}-*") if path.name in answer]
            _damage(max(files, key=lambda path: path.stat().st_mtime_ns), cut=fault.kind == "cut")
        case other:
            raise ValueError(other)


def _damage(file: Path, *, cut: bool) -> None:
    """Take the last word, or change one bit of the first."""
    data = bytearray(file.read_bytes())
    if cut:
        del data[-8:]
    else:
        data[3] ^= 16
    file.write_bytes(data)


def _surrounded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        fail_at(f"before {name}")
        found = method(*arguments, **named)
        fail_at(f"after {name}", repr(found))
        return found

    return wrapped


def _another_version(version: str) -> None:
    from kmc_spark import facts

    required = facts.Facts.require_here

    def noted(wanted: facts.Facts) -> None:
        Path(os.environ[FILE_VARIABLE]).with_name("compared").touch()
        required(wanted)

    facts.__version__ = version  # type: ignore[attr-defined]  # the name that facts reads
    facts.Facts.require_here = noted  # type: ignore[method-assign, assignment]  # for this process


if __name__ == "__main__":
    from kmc_spark.worker_daemon import prepare

    prepare()
    from pyspark import daemon

    from kmc import failpoints
    from kmc.shards.executors.travel import ShardWorker

    failpoints.reach = fail_at
    for method in ("expand", "merge"):
        setattr(ShardWorker, method, _surrounded(method, getattr(ShardWorker, method)))
    if VERSION_VARIABLE in os.environ:
        _another_version(os.environ[VERSION_VARIABLE])
    daemon.manager()
