"""A standalone Spark cluster in processes of its own: a master and workers on 127.0.0.1, of one core each.

Invariant: nothing of it outlives the block, and nothing of it lies outside of its folder. Master and workers die with
the process that began them, even if that is killed; whatever else they started is in their sessions, and is killed too.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyspark

from kmc_spark.class_archive import archive_options
from kmc_spark.java import java_variables
from kmc_spark.session import archive_here

SPARK_HOME = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"
_ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Successfully registered with master"
_DAEMON_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false"
_START_SECONDS = 120.0
_PR_SET_PDEATHSIG = 1
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Process:
    """A process as the system lists it."""

    number: int
    parent: int
    session: int
    command: str


def processes() -> Iterator[Process]:
    """All that run now, without those that ended and were not waited for."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, _, session = (path / "stat").read_text().rpartition(")")[2].split()[:4]
            if state != "Z":
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield Process(int(path.name), int(parent), int(session), command)


def waited_for(ask: Callable[[], _Found | None], what: str) -> _Found:
    """What `ask` answers when it answers; an error names what did not come."""
    end = time.monotonic() + _START_SECONDS
    while (found := ask()) is None:
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


class Cluster:
    """A running cluster; `master` is its URL."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.master = ""
        self._begun: list[subprocess.Popen[bytes]] = []

    def begin(self, workers: int) -> None:
        """Start a master and workers, and wait until they have found each other."""
        self.begin_master(_command("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"))
        logs = [self._launch_worker(number, {}) for number in range(workers)]
        for log in logs:
            _registered(log)

    def begin_master(self, command: Sequence[str]) -> None:
        """Start a master by a command, and wait until it listens."""
        log = self._launch("master", command)
        self.master = waited_for(lambda: _first(_ADDRESS, log), "the master")

    def begin_worker(self, command: Sequence[str]) -> None:
        """Start a worker by a command, and wait until the master knows it."""
        _registered(self._launch("worker", command))

    def _launch_worker(self, number: int, variables: Mapping[str, str]) -> Path:
        # Hosts of their own: Spark makes a copy of a task on another host only.
        words = ["--host", f"127.0.0.{1 + number}", "--port", "0", "--webui-port", "0"]
        words += ["--work-dir", str(self.folder / "work"), "--cores", "1", "--memory", "1g"]
        return self._launch(f"worker{number}", _command("worker.Worker", *words, self.master), variables)

    @contextmanager
    def another_worker(self, variables: Mapping[str, str]) -> Iterator[None]:
        """A worker more during the block, whose executors have these environment variables."""
        log = self._launch_worker(len(self._begun), variables)
        begun = self._begun[-1]
        try:
            _registered(log)
            yield
        finally:
            self._begun.remove(begun)
            _kill(begun)

    def _launch(self, name: str, command: Sequence[str], variables: Mapping[str, str] | None = None) -> Path:
        log = self.folder / f"{name}.log"
        environment: Mapping[str, str] = {
            **os.environ,
            **(variables or {}),
            **java_variables(),
            "SPARK_HOME": str(SPARK_HOME),
            # Not that of an installation. A folder that is there would forbid the archive of classes.
            "SPARK_CONF_DIR": str(self.folder / "no_conf"),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{_DAEMON_JAVA} {archive_options(archive_here())}",
        }
        with log.open("wb") as output:
            self._begun.append(
                subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_die_with_parent,
                )
            )
        return log

    def members(self) -> list[Process]:
        """Its processes: master, workers, executors, and what runs Python for them."""
        sessions = {process.pid for process in self._begun}
        return [process for process in processes() if process.session in sessions]

    def end(self) -> None:
        """Kill all of it."""
        _kill(*self._begun)


def _command(kind: str, *words: str) -> list[str]:
    return [str(SPARK_HOME / "bin" / "spark-class"), f"{_DEPLOY}.{kind}", *words]


def _kill(*begun: subprocess.Popen[bytes]) -> None:
    """Kill processes, and all of their sessions."""
    sessions = {process.pid for process in begun}
    while members := [process for process in processes() if process.session in sessions]:
        for member in members:
            with suppress(ProcessLookupError):
                os.kill(member.number, signal.SIGKILL)
        for process in begun:
            process.wait()


def _registered(log: Path) -> None:
    waited_for(lambda: True if _REGISTERED in log.read_text() else None, f"a worker, see {log}")


def _first(pattern: re.Pattern[str], file: Path) -> str | None:
    found = pattern.search(file.read_text())
    return found and found[1]


_LIBC = ctypes.CDLL(None)


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster, with all its files in a folder."""
    cluster = Cluster(folder)
    try:
        cluster.begin(workers)
        yield cluster
    finally:
        cluster.end()
