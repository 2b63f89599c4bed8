"""Processes of kmc that are forked from one that has imported it, so that each costs nothing but its own work.

A process has its own words, folder, environment, streams and signals. It begins at the entry point of the program, and
it ends as Python ends. Three kinds of tests start Python anew: those of what happens while kmc is imported, those of
memory, which forked processes share, and those of a standard stream that is closed from the beginning.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

_IMPORTED = (
    *("kmc.cli.program", "kmc.cli.commands.check", "kmc.checking.check", "kmc.checking.counterexample"),
    *("kmc.engine.check_model", "kmc.story.counterexample", "kmc.views.page.page"),
)
SECONDS_MAX = 600.0
"""A process that has not ended after this time hangs."""

_REQUEST_BYTES_MAX = 1 << 17
_PROGRAM = "import json, sys; sys.path[:], number = json.loads(sys.argv[1]); "
_PROGRAM += "from support.commands.forked_kmc import serve; serve(number)"


@dataclass(frozen=True, slots=True)
class ForkedProcess:
    """A process under way: its number, and the ends of its pipes."""

    pid: int
    stdout: IO[str]
    stderr: IO[str]
    connection: socket.socket

    def communicate(self, timeout: float = SECONDS_MAX) -> tuple[str, str]:
        """Read what it prints until it ends; kill it and raise AssertionError after `timeout` seconds."""
        with ThreadPoolExecutor(2) as readers, self.stdout, self.stderr:
            printed = [readers.submit(stream.read) for stream in (self.stdout, self.stderr)]
            if futures.wait(printed, timeout).not_done:
                self._kill(f"its output has not ended after {timeout} s")
        return printed[0].result(), printed[1].result()

    def wait(self, timeout: float = SECONDS_MAX) -> int:
        """Wait for its end and return its exit status, < 0 for a signal; kill it and raise AssertionError as above."""
        if not select.select([self.connection], [], [], timeout)[0]:
            self._kill(f"it has not ended after {timeout} s")
        return self._status()

    def _status(self) -> int:
        return int(json.loads(self.connection.recv(_REQUEST_BYTES_MAX))["status"])

    def _kill(self, why: str) -> NoReturn:
        """Kill its session, whose end also ends the readers of its pipes."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        # Else the next process would get it as its number.
        self._status()
        raise AssertionError(f"process {self.pid} of kmc was killed: {why}")


class ForkingProcess:
    """The process that has imported kmc. It forks one process at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def start(
        self, *words: str, cwd: Path, env: Mapping[str, str] = os.environ, stdout: int = -1, program: str = ""
    ) -> ForkedProcess:
        """Start `kmc` with these words, or a Python program, in a session of its own.

        `stdout` is a descriptor instead of a pipe. What the process before this one printed must have been read.
        """
        (out, out_written), (err, err_written) = os.pipe(), os.pipe()
        request = {"words": words, "cwd": str(cwd.absolute()), "env": dict(env), "program": program}
        given = [out_written if stdout < 0 else stdout, err_written]
        socket.send_fds(self._connection, [json.dumps(request).encode()], given)
        os.close(out_written)
        os.close(err_written)
        pid = int(json.loads(self._connection.recv(_REQUEST_BYTES_MAX))["pid"])
        return ForkedProcess(pid, open(out, encoding="utf-8"), open(err, encoding="utf-8"), self._connection)

    def run(self, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
        """Start a process as `start` does, and wait for its end."""
        process = self.start(*words, **given)
        stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(words, process.wait(), stdout, stderr)


@contextmanager
def forking_process() -> Iterator[ForkingProcess]:
    """A process that forks, until the block ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    words = json.dumps([[*map(str, sys.path)], theirs.fileno()])
    with ours, subprocess.Popen([sys.executable, "-P", "-c", _PROGRAM, words], pass_fds=[theirs.fileno()]) as server:
        theirs.close()
        yield ForkingProcess(ours)
        ours.close()
        server.wait()


def serve(number: int) -> None:
    """Fork a process for each request that comes through a descriptor; return in each at its end, and at the end."""
    for module in _IMPORTED:
        importlib.import_module(module)
    gc.freeze()
    with socket.socket(fileno=number) as connection:
        while True:
            data, given, *_ = socket.recv_fds(connection, _REQUEST_BYTES_MAX, 2)
            if not data:
                return
            pid = os.fork()
            if pid == 0:
                connection.close()
                _become(json.loads(data), given)
                return
            for descriptor in given:
                os.close(descriptor)
            connection.send(json.dumps({"pid": pid}).encode())
            connection.send(json.dumps({"status": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}).encode())


def _become(request: dict[str, Any], given: list[int]) -> None:
    """Be the process of a request."""
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for descriptor, standard in zip(given, (1, 2), strict=True):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    # As Python opens them.
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.argv[1:] = request["words"]
    if request["program"]:
        exec(request["program"], {"__name__": "__main__"})  # a test wrote it, as one for `python -c`
    else:
        from kmc.cli.main import main  # which the program of a request may change first

        main()
