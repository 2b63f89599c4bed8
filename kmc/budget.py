"""The budget of work that may not end: until when it may go on, and how much memory the process may have meanwhile.

Loading, translating, compiling and evaluating happen in layers that know no limits of a check. So the budget belongs to
the context that runs them, and they call `require_budget` wherever their work may grow: between parts and passes, and
within loops whose length depends on a model. Invariant: what `require_budget` raises ends the whole work, and no part
of it is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from kmc.process import memory_bytes

_LOOK_SECONDS = 0.02
"""The time between two measurements of memory, each of which takes some 10 microseconds."""

_Item = TypeVar("_Item")


class BudgetSpent(BaseException):
    """The work may not go on. No error of a spec or a module: what reports those lets it pass, as it does Ctrl-C."""


class TimeSpent(BudgetSpent):
    """The time for the work has run out."""


class MemorySpent(BudgetSpent):
    """The process has reached the memory that it may have."""


@dataclass(slots=True)
class _Budget:
    """A deadline and a limit on resident memory; infinite where there is none."""

    end: float
    memory_bytes: float
    look: float = 0.0

    def require(self, more_bytes: int = 0) -> None:
        now = time.monotonic()
        if now >= self.end:
            raise TimeSpent
        if (now >= self.look or more_bytes) and self.memory_bytes < math.inf:
            self.look = now + _LOOK_SECONDS
            if memory_bytes() + more_bytes >= self.memory_bytes:
                raise MemorySpent


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def within_budget(seconds: float | None, limit_bytes: int | None = None) -> Iterator[None]:
    """Meanwhile `require_budget` raises BudgetSpent after so many seconds, and in a larger process; None sets no limit.

    A budget around this one keeps its limits. A pass of LLVM cannot be interrupted, so compiling may end a few seconds
    late.
    """
    around = _BUDGET.get()
    end = math.inf if seconds is None else time.monotonic() + seconds
    memory = math.inf if limit_bytes is None else limit_bytes
    if around is not None:
        end, memory = min(end, around.end), min(memory, around.memory_bytes)
    token = _BUDGET.set(_Budget(end, memory))
    try:
        yield
    except MemoryError:
        raise MemorySpent from None
    finally:
        _BUDGET.reset(token)


def require_budget(more_bytes: int = 0) -> None:
    """Raise BudgetSpent if the budget has been spent, or does not have room for so many bytes more."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.require(more_bytes)


def polled(items: Iterable[_Item]) -> Iterable[_Item]:
    """Return items that require the budget now and then, if there is one."""
    return items if _BUDGET.get() is None else _polled(items)


def _polled(items: Iterable[_Item]) -> Iterator[_Item]:
    for number, item in enumerate(items):
        if not number & 255:
            require_budget()
        yield item


def seconds_left() -> float | None:
    """The seconds that the budget still has; None without a limit on time."""
    budget = _BUDGET.get()
    return None if budget is None or budget.end == math.inf else budget.end - time.monotonic()
