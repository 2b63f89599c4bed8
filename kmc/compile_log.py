"""The compilations of this process: the parts in work, those that ended, and why the cache was not written.

Compiling happens in layers that know nothing of a screen, in threads too, and some of it only when a search first needs
it. So it is recorded in this log, one for the process, which the progress display polls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kmc.budget import require_budget


@dataclass(frozen=True, slots=True)
class CacheFault:
    """Why compiled code was not kept: where it belongs, None if there is no such place, and the system's error."""

    folder: str | None
    reason: str

    @property
    def text(self) -> str:
        """The warning that every run compiles again, and the remedy."""
        where = self.folder or "a home directory"
        return (
            f"Compiled code cannot be kept in {where} ({self.reason}), so each run compiles it again. "
            f"Name a folder that can be written: export KMC_CACHE_DIR=/path/to/folder"
        )


class CompileLog:
    """The compilations so far. Code that comes from the cache is not compiled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_work: dict[int, tuple[str, float]] = {}
        self._begun = 0
        self.ended = 0
        self._first_fault: CacheFault | None = None
        self._last_fault: CacheFault | None = None
        self._faults = 0
        self._is_told = False
        self._warnings: list[str] = []

    @contextmanager
    def compiling(self, title: str) -> Iterator[None]:
        """A part, in words, is compiled during the block; it does not begin without a budget (`require_budget`)."""
        require_budget()
        with self._lock:
            self._begun += 1
            ordinal = self._begun
            self._in_work[ordinal] = title, time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._in_work[ordinal]
                self.ended += 1

    @property
    def in_work(self) -> tuple[str, ...]:
        """The parts that are compiled now, each once, the oldest first."""
        with self._lock:
            return tuple(dict.fromkeys(title for title, _ in self._in_work.values()))

    @property
    def seconds(self) -> float:
        """The seconds since the oldest part in work began to compile; 0.0 if there is none."""
        with self._lock:
            begun = [begun for _, begun in self._in_work.values()]
        return time.monotonic() - min(begun) if begun else 0.0

    def not_kept(self, fault: CacheFault) -> None:
        """Record that compiled code could not be written to the cache."""
        with self._lock:
            self._first_fault = self._first_fault or fault
            self._last_fault = fault
            self._faults += 1

    @property
    def faults(self) -> int:
        """How often compiled code could not be written to the cache."""
        with self._lock:
            return self._faults

    def fault_since(self, faults: int) -> CacheFault | None:
        """The last reason why compiled code could not be cached, if there were more than so many; else None."""
        with self._lock:
            return self._last_fault if self._faults > faults else None

    def fault_to_tell(self) -> CacheFault | None:
        """The first reason why compiled code could not be kept, once; None afterwards, and where it could."""
        with self._lock:
            if self._first_fault is None or self._is_told:
                return None
            self._is_told = True
            return self._first_fault

    def warn(self, text: str) -> None:
        """Record a warning about compiled code that a person should read."""
        with self._lock:
            self._warnings.append(text)

    def warnings_to_show(self) -> list[str]:
        """The warnings that were not shown yet: each is returned once, that about code that is not kept too."""
        fault = self.fault_to_tell()
        with self._lock:
            texts, self._warnings = self._warnings, []
        return texts if fault is None else [fault.text, *texts]


LOG = CompileLog()
"""The one of this process."""
