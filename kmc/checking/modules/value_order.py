"""An order of all values of TLA+, also of those that TLC does not compare; it depends on the values only."""

from __future__ import annotations

from typing import Any

from kmc.lang.order import SortKey
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue


def value_key(value: Any) -> SortKey:
    """Return a key for an order of all values of TLA+ that depends on the values only."""
    match value:
        case int():
            return (0, value)
        case str():
            return (1, value)
        case TlaBoolean():
            return (2, value.holds)
        case TlaModelValue():
            return (3, value.name)
        case frozenset():
            return (4, len(value), tuple(sorted(map(value_key, value))))
        case tuple():
            return (5, len(value), tuple(map(value_key, value)))
        case FunctionValue():
            return (6, tuple(sorted((value_key(key), value_key(item)) for key, item in value.items())))
        case SymbolicSet():
            return (7, value.text())
    raise TypeError(f"{value!r} is not a value of TLA+")
