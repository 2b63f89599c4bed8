"""Retries of a storage without real pauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmc.shards.storage.retries import Retries


class Pauses:
    """Retries whose clock moves only when they wait; `slept` is called then."""

    def __init__(self, draw: float = 1.0, slept: Callable[[], object] = lambda: None, **given: Any) -> None:
        self.waited: list[float] = []
        self._now = 0.0
        self._slept = slept
        self.retries = Retries(sleep=self._sleep, clock=lambda: self._now, draw=lambda: draw, **given)

    def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self._now += seconds
        self._slept()
