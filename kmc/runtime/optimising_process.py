"""Kernels that another process optimises, while this one searches with kernels that are not optimised.

Invariant: a search never waits for the other process. A search looks whether the code is there; if the process failed,
for whatever reason, this process optimises, so that a mistake of LLVM is the same error as ever. The process gets the
LLVM IR and sends the code in files without a name, and nothing of it remains if this process is killed; it ends within
seconds then. It ignores Ctrl-C, which a terminal sends to it too: this process decides when it ends.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO

from kmc.errors import SystemFault
from kmc.runtime.container import container_of, parts_of
from kmc.runtime.native_module import Target
from kmc.runtime.object_cache import KernelCache, cache_key, kept_object
from kmc.runtime.object_code import emit_object

# With the paths of this process, whatever the folder and the environment would add.
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_PROGRAM += "from kmc.runtime.optimising_process import send; send()"


class OptimisingProcess:
    """The optimised code of one LLVM IR text for one target; it is made from the call of `start` on."""

    def __init__(self, text: str, target: Target, cache: KernelCache | None = None) -> None:
        self._text, self._target = text, target
        self._cache = cache or KernelCache.of_environment()
        self._files = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None

    def start(self) -> None:
        """Start the process; where there can be none, `code` optimises."""
        target = self._target
        request = [target.triple.encode(), target.cpu.encode(), target.features.encode(), self._text.encode()]
        try:
            given, self._output = (self._files.enter_context(TemporaryFile()) for _ in range(2))  # noqa: SIM115  # it is
            given.write(container_of(request))
            given.seek(0)
            self._process = subprocess.Popen(
                # An entry of sys.path need not be text, and an embedded Python may not know its executable.
                [sys.executable or "", "-P", "-c", _PROGRAM, json.dumps([*map(str, sys.path)])],
                stdin=given,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):
            self._process = None

    @property
    def is_running(self) -> bool:
        """Return whether the process is at work."""
        return self._process is not None and self._process.poll() is None

    def code(self) -> bytes:
        """The code, when the process does not run any more; InternalError KMC917 when LLVM refuses the text."""
        received = self._received()
        self._end()
        if received is not None:
            return received
        return kept_object(self._text, self._target, self._cache, optimised=True)

    def _received(self) -> bytes | None:
        """The code that the process has sent, which is kept in the cache; None if it has sent none."""
        if self._output is None or self._process is None or self._process.poll() != 0:
            return None
        self._output.seek(0)
        try:
            sent, code = parts_of(self._output.read())
        except (OSError, SystemFault, ValueError):
            return None
        key = cache_key(self._text, self._target)
        if sent != key.encode():
            return None
        self._cache.write(key, code)
        return code

    def close(self) -> None:
        """End the process. Code that it has sent already is kept in the cache."""
        self._received()
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
        self._files.close()


def send() -> None:
    """The work of the other process: read a target and LLVM IR from stdin, write the code and its key to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    triple, cpu, features, text = (part.decode() for part in parts_of(sys.stdin.buffer.read()))
    target = Target(triple, cpu, features)
    sys.stdout.buffer.write(container_of([cache_key(text, target).encode(), emit_object(text, target)]))
