r"""The order of values, equality with TLC's refusals, and text.

One module has all three: a refused comparison shows its values, and the text of a set is in order.

The order is TLC's: numbers ascend, FALSE is before TRUE, sets and functions are ordered by size, then by their elements
(functions by arguments, then by results), and a model value is before every value of another kind. TLC orders strings,
names of fields and model values by the numbers that it gives to names while it reads the files (`number_names`). Text
has the names in the order in which people expect them (`n2` before `n10`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, cmp_to_key
from itertools import chain
from typing import TypeAlias

from kmc.budget import polled
from kmc.errors import EvaluationError
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue, Value

_REMEMBERED_MAX = 200_000
_SHORT = 100


Names: TypeAlias = Callable[[], Mapping[str, int]]
"""The numbers of names, made when two names are compared for the first time."""


@cache
def _name_key(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return the key of a name in which runs of digits count as numbers."""
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name))


class _Order:
    """An order of values, in which names are ordered as people order them. Orders of sets are remembered."""

    def __init__(self) -> None:
        self._remembered: dict[frozenset[Value], tuple[Value, ...]] = {}
        self._key = cmp_to_key(self.compare)

    def name_sign(self, first: str, second: str) -> int:
        """Return a number below, at or above 0 as a name is before, equal to or after another."""
        mine, other = _name_key(first), _name_key(second)
        return (mine > other) - (mine < other)

    def compare(self, first: Value, second: Value) -> int:
        """Return a number below, at or above 0 as `first` is before, equal to or after `second`."""
        if first is second:
            return 0
        if isinstance(first, int) and isinstance(second, int):
            return first - second
        if isinstance(first, str) and isinstance(second, str):
            return self.name_sign(first, second)
        if isinstance(first, tuple) and isinstance(second, tuple):
            return self._compare_tuples(first, second)
        return self._compare_others(first, second)

    def _compare_tuples(self, first: tuple[Value, ...], second: tuple[Value, ...]) -> int:
        if len(first) != len(second):
            return len(first) - len(second)
        for mine, other in zip(first, second, strict=True):
            if mine is not other and (sign := self.compare(mine, other)):
                return sign
        return 0

    def _compare_others(self, first: Value, second: Value) -> int:
        if isinstance(first, TlaModelValue) or isinstance(second, TlaModelValue):
            return self.compare_model_values(first, second)
        if isinstance(first, TlaBoolean) and isinstance(second, TlaBoolean):
            return int(first.holds) - int(second.holds)
        if isinstance(first, (frozenset, SymbolicSet)) and isinstance(second, (frozenset, SymbolicSet)):
            return self._compare_tuples(self.ordered(first), self.ordered(second))
        if isinstance(first, (tuple, FunctionValue)) and isinstance(second, (tuple, FunctionValue)):
            mine, other = self.keys(first), self.keys(second)
            if len(mine) != len(other):
                return len(mine) - len(other)
            return self._compare_tuples(mine, other) or self._compare_tuples(self.images(first), self.images(second))
        raise incomparable(first, second)

    def compare_model_values(self, first: Value, second: Value) -> int:
        """Compare two values of which one is a model value."""
        if isinstance(first, TlaModelValue) and isinstance(second, TlaModelValue):
            if first.type_letter and second.type_letter and first.type_letter != second.type_letter:
                raise incomparable(first, second)
            return self.name_sign(first.name, second.name)
        model_value, other_first = (first, False) if isinstance(first, TlaModelValue) else (second, True)
        if isinstance(model_value, TlaModelValue) and model_value.type_letter:
            raise incomparable(first, second)
        return 1 if other_first else -1

    def keys(self, function: tuple[Value, ...] | FunctionValue) -> tuple[Value, ...]:
        """Return the arguments of a function in order."""
        if isinstance(function, FunctionValue):
            return self.ordered(function.domain.key_set)
        return tuple(range(1, len(function) + 1))

    def images(self, function: tuple[Value, ...] | FunctionValue) -> tuple[Value, ...]:
        """Return the values of a function in the order of their arguments."""
        if isinstance(function, FunctionValue):
            return tuple(image for _, image in self.items_in_order(function))
        return function

    def items_in_order(self, function: FunctionValue) -> list[tuple[Value, Value]]:
        """Return the pairs of a key and its value, the keys in order."""
        index, values = function.domain.index, function.values
        return [(key, values[index[key]]) for key in self.ordered(function.domain.key_set)]

    def sorted_values(self, values: frozenset[Value]) -> tuple[Value, ...]:
        """Return the elements in order, without remembering them."""
        if len(values) < 2:
            return tuple(values)
        if set(map(type, values)) == {int}:
            return tuple(sorted([number for number in values if isinstance(number, int)]))
        return self._of_numbers(values) or tuple(sorted(values, key=self._key))

    def _of_numbers(self, values: frozenset[Value]) -> tuple[Value, ...] | None:
        """Return tuples of numbers, or functions on one domain to numbers, in order; None for other values."""
        tuples = [value for value in values if isinstance(value, tuple)]
        functions = [value for value in values if isinstance(value, FunctionValue)]
        items = tuples or [function.values for function in functions]
        if max(len(tuples), len(functions)) < len(values) or not set(map(type, chain.from_iterable(items))) <= {int}:
            return None
        if tuples:
            return tuple(sorted(tuples, key=lambda value: (len(value), value)))
        domain = functions[0].domain
        if any(function.domain is not domain for function in functions):
            return None
        places = [domain.index[key] for key in self.ordered(domain.key_set)]
        return tuple(sorted(functions, key=lambda function: [function.values[place] for place in places]))

    def ordered(self, values: frozenset[Value] | SymbolicSet) -> tuple[Value, ...]:
        """Return the elements of a set in order; EvaluationError KMC257 if TLC cannot compare two of them."""
        if isinstance(values, SymbolicSet):
            return tuple(polled(values.elements()))
        found = self._remembered.get(values)
        if found is None:
            found = self.sorted_values(values)
            if len(self._remembered) >= _REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[values] = found
        return found


class _TlcOrder(_Order):
    """The order of TLC: names by their numbers, those without a number last."""

    def __init__(self) -> None:
        super().__init__()
        self._names: Names = dict
        self._numbers: Mapping[str, int] | None = None

    def number(self, names: Names) -> None:
        """Take the numbers of another module."""
        if names is not self._names:
            self._names, self._numbers = names, None
            self._remembered.clear()

    def name_sign(self, first: str, second: str) -> int:
        """Return a number below, at or above 0 as a name is before, equal to or after another."""
        if self._numbers is None:
            self._numbers = self._names()
        mine, other = self._numbers.get(first), self._numbers.get(second)
        if mine is None or other is None:
            return super().name_sign(first, second) if mine is other else (mine is None) - (other is None)
        return mine - other


_TLC, _PEOPLE = _TlcOrder(), _Order()
number_names = _TLC.number
compare, ordered, sorted_values, items_in_order = _TLC.compare, _TLC.ordered, _TLC.sorted_values, _TLC.items_in_order
shown_order, shown_items, sorted_for_people = _PEOPLE.ordered, _PEOPLE.items_in_order, _PEOPLE.sorted_values


def equal(first: Value, second: Value) -> bool:
    """Return whether two values are equal; EvaluationError KMC257 where TLC refuses the comparison."""
    if first is second:
        return True
    kind = type(first)
    if kind is type(second):
        if kind is int or kind is str:
            return first == second
        if kind is TlaBoolean:
            return False
        if (
            isinstance(first, (frozenset, tuple))
            and isinstance(second, (frozenset, tuple))
            and len(first) != len(second)
        ):
            return False
        if first == second and not isinstance(first, SymbolicSet):
            return True
    return _equal_others(first, second)


def _equal_others(first: Value, second: Value) -> bool:
    """Compare values that Python finds different or that are sets without a list."""
    if isinstance(first, TlaModelValue) or isinstance(second, TlaModelValue):
        return _TLC.compare_model_values(first, second) == 0
    if isinstance(first, TlaBoolean) and isinstance(second, TlaBoolean):
        return False
    if isinstance(first, (frozenset, SymbolicSet)) and isinstance(second, (frozenset, SymbolicSet)):
        return _equal_sets(first, second)
    if isinstance(first, (tuple, FunctionValue)) and isinstance(second, (tuple, FunctionValue)):
        return _equal_functions(first, second)
    raise incomparable(first, second)


def _equal_sets(first: frozenset[Value] | SymbolicSet, second: frozenset[Value] | SymbolicSet) -> bool:
    mine, other = ordered(first), ordered(second)
    if len(mine) != len(other):
        return False
    return all(equal(element, opposite) for element, opposite in zip(mine, other, strict=True))


def _equal_functions(first: tuple[Value, ...] | FunctionValue, second: tuple[Value, ...] | FunctionValue) -> bool:
    if isinstance(first, FunctionValue) and isinstance(second, FunctionValue) and first.domain is second.domain:
        return all(equal(image, opposite) for image, opposite in zip(first.values, second.values, strict=True))
    mine, other = _TLC.keys(first), _TLC.keys(second)
    if len(mine) != len(other) or not all(equal(key, opposite) for key, opposite in zip(mine, other, strict=True)):
        return False
    return all(equal(image, opposite) for image, opposite in zip(_TLC.images(first), _TLC.images(second), strict=True))


# Text


def written(value: Value) -> str:
    """Return a value in one line, as TLC prints it, with the elements of sets in order."""
    if isinstance(value, (int, TlaBoolean, TlaModelValue)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, frozenset):
        return "{" + ", ".join(map(written, shown_order(value))) + "}"
    if isinstance(value, tuple):
        return "<<" + ", ".join(map(written, value)) + ">>"
    if isinstance(value, SymbolicSet):
        return value.text()
    if value.domain.are_strings:
        return "[" + ", ".join(f"{name} |-> {written(field)}" for name, field in shown_items(value)) + "]"
    return "(" + " @@ ".join(f"{written(key)} :> {written(image)}" for key, image in shown_items(value)) + ")"


def short_text(value: Value) -> str:
    """Return the text of a value, cut to a line of an error."""
    text = written(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 4] + " ..."


_KINDS = {int: "the number", str: "the string", TlaBoolean: "the Boolean", TlaModelValue: "the model value"}


def described(value: Value) -> str:
    """Return the kind and the text of a value: `the number 3`."""
    kind = _KINDS.get(type(value))
    if kind is None:
        if isinstance(value, (frozenset, SymbolicSet)):
            kind = "the set"
        elif isinstance(value, FunctionValue):
            kind = "the record" if value.domain.are_strings else "the function"
        else:
            kind = "the sequence"
    return f"{kind} {short_text(value)}"


def incomparable(first: Value, second: Value) -> EvaluationError:
    """Return the error of a comparison that TLC refuses."""
    return EvaluationError(
        "KMC257",
        f"{described(first)} is compared with {described(second)}",
        help="values of different kinds are neither equal nor different in TLC; compare values of one kind",
    )
