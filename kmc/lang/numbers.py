"""`max` and `min` of a spec, for numbers only.

Python's versions also accept a key, or partially ordered values such as sets. Then there can be several greatest
values, and the one that is returned depends on the order of a set in memory.
"""

from __future__ import annotations

from typing import Any

from kmc.errors import EvaluationError
from kmc.lang.kinds import kind_in_words


def greatest(*values: Any, **options: Any) -> Any:
    """`max(a, b)`, `max(numbers)` or `max(numbers, default=0)`; EvaluationError unless the result is a number."""
    return _number("max", max(*values, **options), options)


def least(*values: Any, **options: Any) -> Any:
    """`min(a, b)`, `min(numbers)` or `min(numbers, default=0)`; EvaluationError unless the result is a number."""
    return _number("min", min(*values, **options), options)


def _number(name: str, result: Any, options: dict[str, Any]) -> Any:
    if type(result) is int or ("default" in options and result is options["default"]):
        return result
    raise EvaluationError(
        "KMC255", f"{name} takes numbers, not {kind_in_words(result)}", help="compare numbers, or write a quantifier"
    )
