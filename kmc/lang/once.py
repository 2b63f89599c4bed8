"""Functions that are computed once: those without parameters inside of another function, which give a value a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def once(function: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function whose calls all give the value of the first one: specs are pure, so it is the same value."""
    found: list[Any] = []

    @wraps(function)
    def call() -> Any:
        if not found:
            found.append(function())
        return found[0]

    return call
