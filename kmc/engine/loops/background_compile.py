"""Compile a loop in another process while this one compiles the spec, so that a first run has both sooner.

Invariant: nothing depends on it. The other process sends code with the key that it is for. Whatever else happens to it
(it is killed, there is no interpreter, it finds another kmc), the loop is compiled here. It ends with the block that
started it, however that ends; if this process is killed, it ends within seconds. It writes no files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module

from kmc.budget import require_budget, seconds_left
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.specialization import Specialization
from kmc.errors import SystemFault
from kmc.process import usable_cpus
from kmc.runtime.container import container_of, parts_of

_SECONDS_MAX = 60
# With the paths of this process, whatever the folder and the environment would add.
# It makes little garbage, and ends soon.
_PROGRAM = "import gc, json, sys; gc.disable(); sys.path[:], *loop = json.loads(sys.argv[1]); "
_PROGRAM += "from kmc.engine.loops.background_compile import send; send(*loop)"


@contextmanager
def compiled_in_background(loop: NativeLoop, *instead: NativeLoop) -> Iterator[None]:
    """Compile a loop in another process during the block, unless that saves no time or it is compiled already.

    The loop receives the code when it is loaded; the process ends with the block. The block may need one of `instead`
    and not this loop. If one of them is compiled already, it is the likelier one, and nothing is started.
    """
    ready = any(each.is_ready() for each in (loop, *instead))
    useful = usable_cpus() > 1 and loop.prefetched_code is None and not ready
    child = _started(loop) if useful else None
    if child is None:
        yield
        return
    loop.prefetched_code = partial(_received, child, loop.key)
    try:
        yield
    finally:
        loop.prefetched_code = None
        child.kill()
        child.communicate()


def _started(loop: NativeLoop) -> subprocess.Popen[bytes] | None:
    """A process that compiles the loop, or None where there can be none."""
    # An entry of sys.path need not be text, and an embedded Python may not know its executable.
    paths = [*map(str, sys.path)]
    request = json.dumps([paths, loop.function.__module__, loop.function.__qualname__, asdict(loop.specialization)])
    try:
        return subprocess.Popen(
            [sys.executable or "", "-P", "-c", _PROGRAM, request],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return None


def _received(child: subprocess.Popen[bytes], key: str) -> bytes | None:
    """The code that a process sends, or None if it sends no code for this key. TimeSpent when time runs out."""
    try:
        left = seconds_left()
        data, _ = child.communicate(timeout=_SECONDS_MAX if left is None else min(max(left, 0.0), _SECONDS_MAX))
        sent, code = parts_of(data)
    except subprocess.TimeoutExpired:
        require_budget()
        return None
    except (SystemFault, ValueError):
        return None
    return code if sent == key.encode() else None


def send(module: str, name: str, specialization: dict[str, bool]) -> None:
    """The work of the other process: compile a function of a module, and write code with its key to its stdout."""
    function: Callable[..., int] = getattr(import_module(module), name)
    loop = NativeLoop(function, Specialization(**specialization))
    sys.stdout.buffer.write(container_of([loop.key.encode(), loop.compiled()]))
