"""What this process compiles: the parts in work, those that ended, and why the cache of compiled code was not written.

Compiling happens in layers that know nothing of a screen, in threads too, and some of it only when a search first needs
it. So it is noted here, once for the process, and whoever shows progress looks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheFault:
    """Why compiled code was not kept: where it belongs, None if there is no such place, and what the system said."""

    folder: str | None
    reason: str


class CompileLog:
    """What was compiled so far. Code that comes from the cache is not compiled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_work: dict[int, tuple[str, float]] = {}
        self._begun = 0
        self.ended = 0
        self._cache_fault: CacheFault | None = None
        self._is_told = False

    @contextmanager
    def compiling(self, part: str) -> Iterator[None]:
        """A part, in words, is compiled during the block."""
        with self._lock:
            self._begun += 1
            number = self._begun
            self._in_work[number] = part, time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._in_work[number]
                self.ended += 1

    @property
    def in_work(self) -> tuple[str, ...]:
        """The parts that are compiled now, each once, the oldest first."""
        with self._lock:
            return tuple(dict.fromkeys(part for part, _ in self._in_work.values()))

    @property
    def seconds(self) -> float:
        """How long the oldest part in work has been compiled; 0.0 where nothing is."""
        with self._lock:
            begun = [begun for _, begun in self._in_work.values()]
        return time.monotonic() - min(begun) if begun else 0.0

    def not_kept(self, fault: CacheFault) -> None:
        """Compiled code could not be written to the cache; the first reason is the one that is told."""
        with self._lock:
            self._cache_fault = self._cache_fault or fault

    @property
    def cache_fault(self) -> CacheFault | None:
        """Why compiled code could not be kept, told or not; None where it could."""
        with self._lock:
            return self._cache_fault

    def fault_to_tell(self) -> CacheFault | None:
        """Why compiled code could not be kept, once; None afterwards, and where it could."""
        with self._lock:
            if self._cache_fault is None or self._is_told:
                return None
            self._is_told = True
            return self._cache_fault


LOG = CompileLog()
"""The one of this process."""
