"""Lowering of stored sets whose elements have parts, records, sets, unions, sequences, or many possible values.

Such a set is a mask over the numbers of its elements, or a list of them if these are too many. A set that is written
in the spec becomes one only beside a stored set of the same elements, or where it is stored; elsewhere it is iterated
and never built.
"""

from __future__ import annotations

from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import is_collection, kind_of, typed_set
from kmc.compiler.values.code import Origin
from kmc.compiler.values.listed_sets import is_list
from kmc.compiler.values.value import EmptySet, Nothing, Packed, Stored, Value
from kmc.compiler.values.value_types import is_within
from kmc.lang.types import PairType, SetType, Type, UnionType
from kmc.runtime.state_layout import WORD, is_plain_key, key_count


def is_sure_of(low: Lowering, item: Value, declared: Type, node: Origin) -> bool:
    """Return whether a value surely lies in the domain of a type, so that its words need no check."""
    if isinstance(item, Nothing):
        return isinstance(declared, UnionType) and declared.optional
    if isinstance(item, EmptySet) and isinstance(declared, SetType):
        return True
    kind = kind_of(low, item, node)
    return kind is not None and is_within(kind, declared)


def are_masks(left: Value, right: Value) -> bool:
    """Return whether two sets are masks of the same numbers, or of numbers that a shift makes the same."""
    if not all(isinstance(value, Packed | Stored | EmptySet) for value in (left, right)):
        return False
    kinds = [value.type for value in (left, right) if isinstance(value, Packed | Stored)]
    elements = [kind.element for kind in kinds if isinstance(kind, SetType | PairType)]
    return len(set(elements)) <= 1 or all(map(is_plain_key, elements))


def share_words(left: Value, right: Value, declared: Type | None) -> bool:
    """Return whether two sets are in words that one operation takes: masks that `declared` holds, or lists of it."""
    if declared is None or not are_masks(left, right):
        return False
    listed = [value for value in (left, right) if is_list(value)]
    return all(value.type == declared for value in (left, right) if listed and isinstance(value, Packed | Stored))


def is_written_as_mask(element: Type) -> bool:
    """Return whether a set of these elements that is written in the spec is a mask only beside a stored one."""
    return not is_plain_key(element) or key_count(element) > WORD


def with_masks(low: Lowering, left: Value, right: Value, node: Origin) -> tuple[Value, Value]:
    """Two sets, both as masks if one is a stored set of values with parts, or of more values than a word has bits, and
    the other has only such values.
    """
    kinds = [value.type for value in (left, right) if isinstance(value, Packed | Stored)]
    stored = [kind for kind in kinds if isinstance(kind, SetType) and is_written_as_mask(kind.element)]
    if len(stored) != 1:
        return left, right
    declared = stored[0]

    def as_mask(value: Value) -> Value:
        if isinstance(value, Packed | Stored | EmptySet) or not is_collection(value):
            return value
        return typed_set(low, value, declared, node) if _all_within(low, value, declared, node) else value

    return as_mask(left), as_mask(right)


def _all_within(low: Lowering, whole: Value, declared: SetType, node: Origin) -> bool:
    """Return whether all elements of a collection surely lie in the domain of the elements of a type."""
    fit: list[bool] = []

    def look(item: Value) -> None:
        fit.append(is_sure_of(low, item, declared.element, node))

    low.code.trial(lambda: low.each(whole, look, node, once=False))
    return all(fit)
