"""Values of a module as the trees that trace files and views know, and an order of all values."""

from __future__ import annotations

from typing import Any

from kmc.lang.order import SortKey
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue, Value


def tree_of(value: Value) -> Tla:
    """Return the tree of a value. A set that is only described, such as Nat, is its text."""
    match value:
        case TlaBoolean():
            return value.holds
        case TlaModelValue():
            return value.name
        case int():
            return value
        case str():
            return TlaText(value)
        case frozenset():
            return TlaSet(tuple(map(tree_of, sorted(value, key=value_key))))
        case tuple():
            return TlaSeq(tuple(map(tree_of, value)))
        case FunctionValue() if value.domain.are_strings:
            return TlaRecord(tuple((str(key), tree_of(item)) for key, item in value.items()))
        case FunctionValue():
            return TlaMap(tuple((tree_of(key), tree_of(item)) for key, item in value.items()))
        case SymbolicSet():
            return value.text()
    raise TypeError(f"{value!r} is not a value of TLA+")


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
