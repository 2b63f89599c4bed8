r"""The order of values, equality with TLC's refusals, and text.

One module has all three: a refused comparison shows its values, and the text of a set is in order.

The order is TLC's: numbers ascend, FALSE is before TRUE, sets and functions are ordered by size, then by their elements
(functions by arguments, then by results), and a model value is before every value of another kind. TLC orders strings
and model values by its internal numbering, which depends on everything it has read; here they are ordered as people
order names (`n2` before `n10`), so a CHOOSE that depends on it may differ from TLC's.
"""

from __future__ import annotations

import json
import re
from functools import cache, cmp_to_key
from itertools import chain

from kmc.budget import polled
from kmc.errors import EvaluationError
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue, Value

_REMEMBERED_MAX = 200_000
_SHORT = 100
_remembered: dict[frozenset[Value], tuple[Value, ...]] = {}


@cache
def _name_key(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return the key of a name in which runs of digits count as numbers."""
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name))


def _name_sign(first: str, second: str) -> int:
    mine, other = _name_key(first), _name_key(second)
    return (mine > other) - (mine < other)


def compare(first: Value, second: Value) -> int:
    """Return a number below, at or above 0 as `first` is before, equal to or after `second`."""
    if first is second:
        return 0
    if isinstance(first, int) and isinstance(second, int):
        return first - second
    if isinstance(first, str) and isinstance(second, str):
        return _name_sign(first, second)
    if isinstance(first, tuple) and isinstance(second, tuple):
        return _compare_tuples(first, second)
    return _compare_others(first, second)


def _compare_tuples(first: tuple[Value, ...], second: tuple[Value, ...]) -> int:
    if len(first) != len(second):
        return len(first) - len(second)
    for mine, other in zip(first, second, strict=True):
        if mine is not other and (sign := compare(mine, other)):
            return sign
    return 0


def _compare_others(first: Value, second: Value) -> int:
    if isinstance(first, TlaModelValue) or isinstance(second, TlaModelValue):
        return _compare_model_values(first, second)
    if isinstance(first, TlaBoolean) and isinstance(second, TlaBoolean):
        return int(first.holds) - int(second.holds)
    if isinstance(first, (frozenset, SymbolicSet)) and isinstance(second, (frozenset, SymbolicSet)):
        return _compare_tuples(ordered(first), ordered(second))
    if isinstance(first, (tuple, FunctionValue)) and isinstance(second, (tuple, FunctionValue)):
        if len(_keys(first)) != len(_keys(second)):
            return len(_keys(first)) - len(_keys(second))
        return _compare_tuples(_keys(first), _keys(second)) or _compare_tuples(_images(first), _images(second))
    raise incomparable(first, second)


def _compare_model_values(first: Value, second: Value) -> int:
    if isinstance(first, TlaModelValue) and isinstance(second, TlaModelValue):
        if first.type_letter and second.type_letter and first.type_letter != second.type_letter:
            raise incomparable(first, second)
        return _name_sign(first.name, second.name)
    model_value, other_first = (first, False) if isinstance(first, TlaModelValue) else (second, True)
    if isinstance(model_value, TlaModelValue) and model_value.type_letter:
        raise incomparable(first, second)
    return 1 if other_first else -1


def _keys(function: tuple[Value, ...] | FunctionValue) -> tuple[Value, ...]:
    if isinstance(function, FunctionValue):
        return ordered(function.domain.key_set)
    return tuple(range(1, len(function) + 1))


def _images(function: tuple[Value, ...] | FunctionValue) -> tuple[Value, ...]:
    return tuple(image for _, image in items_in_order(function)) if isinstance(function, FunctionValue) else function


def items_in_order(function: FunctionValue) -> list[tuple[Value, Value]]:
    """Return the pairs of a key and its value, the keys in order."""
    index, values = function.domain.index, function.values
    return [(key, values[index[key]]) for key in ordered(function.domain.key_set)]


_KEY = cmp_to_key(compare)


def sorted_values(values: frozenset[Value]) -> tuple[Value, ...]:
    """Return the elements in order, without remembering them."""
    if len(values) < 2:
        return tuple(values)
    if set(map(type, values)) == {int}:
        return tuple(sorted([number for number in values if isinstance(number, int)]))
    return _of_numbers(values) or tuple(sorted(values, key=_KEY))


def _of_numbers(values: frozenset[Value]) -> tuple[Value, ...] | None:
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
    places = [domain.index[key] for key in ordered(domain.key_set)]
    return tuple(sorted(functions, key=lambda function: [function.values[place] for place in places]))


def ordered(values: frozenset[Value] | SymbolicSet) -> tuple[Value, ...]:
    """Return the elements of a set in order; EvaluationError KMC257 if TLC cannot compare two of them."""
    if isinstance(values, SymbolicSet):
        return tuple(polled(values.elements()))
    found = _remembered.get(values)
    if found is None:
        found = sorted_values(values)
        if len(_remembered) >= _REMEMBERED_MAX:
            _remembered.clear()
        _remembered[values] = found
    return found


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
        return _compare_model_values(first, second) == 0
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
    mine, other = _keys(first), _keys(second)
    if len(mine) != len(other) or not all(equal(key, opposite) for key, opposite in zip(mine, other, strict=True)):
        return False
    return all(equal(image, opposite) for image, opposite in zip(_images(first), _images(second), strict=True))


# Text


def written(value: Value) -> str:
    """Return a value in one line, as TLC prints it, with the elements of sets in order."""
    if isinstance(value, (int, TlaBoolean, TlaModelValue)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, frozenset):
        return "{" + ", ".join(map(written, ordered(value))) + "}"
    if isinstance(value, tuple):
        return "<<" + ", ".join(map(written, value)) + ">>"
    if isinstance(value, SymbolicSet):
        return value.text()
    if value.domain.are_strings:
        return "[" + ", ".join(f"{name} |-> {written(field)}" for name, field in items_in_order(value)) + "]"
    return "(" + " @@ ".join(f"{written(key)} :> {written(image)}" for key, image in items_in_order(value)) + ")"


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
