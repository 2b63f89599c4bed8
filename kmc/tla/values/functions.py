r"""Functions, in the one form that each has: a tuple over 1..n, a `FunctionValue` over any other domain."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakValueDictionary

from kmc.budget import polled
from kmc.tla.values.failures import outside_domain, wrong_kind
from kmc.tla.values.kinds import Domain, FunctionValue, SymbolicSet, Value
from kmc.tla.values.order import described

_domains: WeakValueDictionary[frozenset[Value], Domain] = WeakValueDictionary()


def domain_of_keys(keys: frozenset[Value]) -> Domain:
    """Return the one domain of a set of keys."""
    domain = _domains.get(keys)
    if domain is None:
        domain = _domains.setdefault(keys, Domain(keys))
    return domain


def function_of(pairs: Mapping[Value, Value]) -> tuple[Value, ...] | FunctionValue:
    """Return the function with these pairs of an argument and its result."""
    domain = domain_of_keys(frozenset(pairs))
    images = tuple([pairs[key] for key in domain.keys])
    return images if domain.are_positions else FunctionValue(domain, images)


def pairs_of(function: Value, operator: str) -> list[tuple[Value, Value]]:
    """Return the pairs of an argument and its result; EvaluationError KMC258 for any other value."""
    if isinstance(function, tuple):
        return [(position, image) for position, image in enumerate(function, 1)]
    if isinstance(function, FunctionValue):
        return list(function.items())
    raise wrong_kind(operator, "a function", function)


def applied(function: Value, argument: Value) -> Value:
    """Return the result of a function; EvaluationError KMC259 outside of its domain."""
    if type(function) is FunctionValue:
        position = function.domain.index.get(argument) if not isinstance(argument, SymbolicSet) else None
        if position is None:
            position = function.domain.index.get(stored(argument))
        if position is not None:
            return function.values[position]
    elif type(function) is tuple:
        if type(argument) is int and 0 < argument <= len(function):
            return function[argument - 1]
    else:
        raise wrong_kind("f[x]", "a function or a sequence", function)
    raise outside_domain(described(function), argument)


def stored(value: Value) -> Value:
    """Return the value as it is stored: a set as the list of its elements."""
    return frozenset(polled(value.elements())) if isinstance(value, SymbolicSet) else value


def has_argument(function: Value, argument: Value) -> bool:
    """Return whether an argument is in the domain of a function."""
    if isinstance(function, tuple):
        return type(argument) is int and 0 < argument <= len(function)
    if isinstance(function, FunctionValue):
        return argument in function.domain.index
    raise wrong_kind("EXCEPT", "a function or a sequence", function)


def replaced(function: Value, argument: Value, image: Value) -> Value:
    """Return the function with another result for an argument that is in its domain."""
    if isinstance(function, tuple) and isinstance(argument, int):
        return (*function[: argument - 1], image, *function[argument:])
    if isinstance(function, FunctionValue):
        position = function.domain.index[argument]
        values = function.values
        return FunctionValue(function.domain, (*values[:position], image, *values[position + 1 :]))
    raise wrong_kind("EXCEPT", "a function or a sequence", function)


def merged(first: Value, second: Value) -> Value:
    """Return `first @@ second`: on the arguments of both, `first` decides."""
    return function_of(dict(pairs_of(second, "@@")) | dict(pairs_of(first, "@@")))
