r"""Values as text, as TLC prints them, and as the neutral trees of `kmc.lang.tla`, from which all formats are made."""

from __future__ import annotations

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.tla.values.kinds import FunctionValue, TlaBoolean, TlaModelValue, Value
from kmc.tla.values.order import items_in_order, ordered, written


def text_of(value: Value) -> str:
    """Return a value in one line, as TLC prints it, with the elements of sets in order."""
    return written(value)


def tree_of(value: Value, quoted: bool = False) -> Tla:
    """Return a value as a neutral tree. A string becomes its characters or, `quoted`, its TLA+ text."""
    if isinstance(value, TlaBoolean):
        return value.holds
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return text_of(value) if quoted else value
    if isinstance(value, TlaModelValue):
        return value.name
    if isinstance(value, frozenset):
        return TlaSet(tuple(tree_of(element, quoted) for element in ordered(value)))
    if isinstance(value, tuple):
        return TlaSeq(tuple(tree_of(element, quoted) for element in value))
    if isinstance(value, FunctionValue):
        return _tree_of_function(value, quoted)
    return TlaSet(tuple(tree_of(element, quoted) for element in value.elements()))


def _tree_of_function(value: FunctionValue, quoted: bool) -> Tla:
    if value.domain.are_strings:
        return TlaRecord(tuple((str(name), tree_of(field, quoted)) for name, field in items_in_order(value)))
    return TlaMap(tuple((tree_of(key, quoted), tree_of(image, quoted)) for key, image in items_in_order(value)))
