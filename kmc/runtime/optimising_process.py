"""Kernels that another process optimises, while this one searches with kernels that are not optimised.

Invariant: a search never waits for the other process, and never ends because of it. A search looks whether the code is
there. If the process was killed or had no memory, optimising here would end this process in the same way: `lost` says
so, and there is no code. If it failed for another reason, this process optimises, and a mistake of LLVM is reported
here. The process gets the LLVM IR and sends the code in files without a name, and nothing of it remains if
this process is killed; it ends within seconds then. It ignores Ctrl-C, which a terminal sends to it too: this process
decides when it ends.
"""

from __future__ import annotations

import errno
import json
import os
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

_OF_MEMORY = (errno.ENOMEM, errno.EAGAIN)
_NO_MEMORY_STATUS = 12
_NO_MEMORY = "the system gave it no memory"


class OptimisingProcess:
    """The optimised code of one LLVM IR text for one target; it is made from the call of `start` on."""

    def __init__(self, text: str, target: Target, cache: KernelCache | None = None) -> None:
        self._text, self._target = text, target
        self._cache = cache or KernelCache.of_environment()
        self._files = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._not_started: str | None = None

    def start(self) -> None:
        """Start the process; where there can be none, `code` optimises, unless it is for want of memory."""
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
        except (OSError, ValueError) as error:
            self._process = None
            if isinstance(error, OSError) and error.errno in _OF_MEMORY:
                self._not_started = _NO_MEMORY

    @property
    def lost(self) -> str | None:
        """The reason why the code is not to be made at all, when the process does not run any more; None if it is."""
        status = self._process.poll() if self._process is not None else None
        if status is None:
            return self._not_started
        if status == _NO_MEMORY_STATUS:
            return _NO_MEMORY
        return f"it was killed by signal {-status}" if status < 0 else None

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
    try:
        code = emit_object(text, target)
    except MemoryError:
        # Python's own end would need memory too.
        os._exit(_NO_MEMORY_STATUS)
    sys.stdout.buffer.write(container_of([cache_key(text, target).encode(), code]))
