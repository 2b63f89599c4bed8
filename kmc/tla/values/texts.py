r"""Values as text, as TLC prints them, and as the neutral trees of `kmc.lang.tla`, from which all formats are made."""

from __future__ import annotations

from typing import assert_never

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText
from kmc.tla.values.functions import function_of
from kmc.tla.values.kinds import FunctionValue, TlaBoolean, TlaModelValue, Value, truth
from kmc.tla.values.order import shown_items, shown_order, written


def text_of(value: Value) -> str:
    """Return a value in one line, as TLC prints it, with the elements of sets in order."""
    return written(value)


def tree_of(value: Value) -> Tla:
    """Return a value as a neutral tree. An infinite set, which only a constant can be, is its text."""
    if isinstance(value, TlaBoolean):
        return value.holds
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return TlaText(value)
    if isinstance(value, TlaModelValue):
        return value.name
    if isinstance(value, frozenset):
        return TlaSet(tuple(map(tree_of, shown_order(value))))
    if isinstance(value, tuple):
        return TlaSeq(tuple(map(tree_of, value)))
    if isinstance(value, FunctionValue):
        return _tree_of_function(value)
    return TlaSet(tuple(map(tree_of, value.elements()))) if value.is_finite else written(value)


def _tree_of_function(value: FunctionValue) -> Tla:
    if value.domain.are_strings:
        return TlaRecord(tuple((str(name), tree_of(field)) for name, field in shown_items(value)))
    return TlaMap(tuple((tree_of(key), tree_of(image)) for key, image in shown_items(value)))


def value_of_tree(tree: Tla) -> Value:
    """Return the value that a tree is. A name is a string unless it is that of a model value."""
    match tree:
        case bool():
            return truth(tree)
        case int():
            return tree
        case TlaText():
            return str(tree)
        case str():
            return TlaModelValue(tree) if TlaModelValue.is_known(tree) else tree
        case TlaSet(elements):
            return frozenset(map(value_of_tree, elements))
        case TlaSeq(elements):
            return tuple(map(value_of_tree, elements))
        case TlaMap(pairs):
            return function_of({value_of_tree(key): value_of_tree(value) for key, value in pairs})
        case TlaRecord(fields):
            return function_of({name: value_of_tree(value) for name, value in fields})
        case _:
            assert_never(tree)
