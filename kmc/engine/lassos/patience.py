"""Native loops over graphs that end soon on Ctrl-C and at a limit on time.

Invariant: the result of a loop that was stopped is never read; an exception is raised instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.memory import Memory
from kmc.engine.native.threads import WorkerPool

LARGE_STATES = 1 << 18
"""A loop over fewer states ends within a tenth of a second anyway."""


class _Patience:
    def __init__(self, poll: Callable[[], None]) -> None:
        self.word = Memory(1)
        self.poll = poll
        self.threads = WorkerPool(1, poll, self._stop)

    def _stop(self) -> None:
        self.word.array[0] = 1


_PATIENCE: ContextVar[_Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patience(poll: Callable[[], None]) -> Iterator[None]:
    """Meanwhile `poll` is called about 20 times a second while a loop runs over a large graph; it may raise."""
    token = _PATIENCE.set(_Patience(poll))
    try:
        yield
    finally:
        _PATIENCE.reset(token)


def poll_now() -> None:
    """Call the listener; it may raise."""
    if (listening := _PATIENCE.get()) is not None:
        listening.poll()


def run_loop(loop: NativeLoop, states: int, *words: int) -> int:
    """The answer of a loop over so many states. Raises what `poll` raised, and KeyboardInterrupt, when it has ended."""
    listening = _PATIENCE.get()
    if listening is None or states < LARGE_STATES:
        return loop(*words)
    return listening.threads.run(lambda _: loop(*words), 1)[0]


def stop_word() -> int:
    """The address of the word that makes a loop end when it is not 0."""
    listening = _PATIENCE.get()
    return (_idle() if listening is None else listening.word).address


@cache
def _idle() -> Memory:
    """A word that stays 0."""
    return Memory(1)
