"""Tuples of numbers and functions to numbers are sorted at once, in the order in which they are compared."""

from __future__ import annotations

import random
from functools import cmp_to_key

import pytest

from kmc.tla.values.functions import function_of
from kmc.tla.values.kinds import TRUE, TlaModelValue, Value
from kmc.tla.values.order import compare, sorted_values

NIL = TlaModelValue("Nil")


def _drawn(kind: str, source: random.Random) -> frozenset[Value]:
    found: list[Value] = []
    for _ in range(40):
        numbers: list[Value] = [source.randrange(-3, 12) for _ in range(3)]
        match kind:
            case "tuples":
                found.append(tuple(numbers[: source.randrange(4)]))
            case "records":
                found.append(function_of(dict(zip(("n10", "n2", "a"), numbers, strict=True))))
            case "functions":
                found.append(function_of(dict(zip((NIL, 7, 3) if found else (3, NIL, 7), numbers, strict=True))))
            case "of two domains":
                keys = source.choice([(0, 5), (0, 2, 5)])
                found.append(function_of(dict(zip(keys, numbers[: len(keys)], strict=True))))
            case "with a sequence":
                found.append(function_of({0: numbers[0], 1: numbers[1]}) if found else (4, 5))
            case _:
                found.append((numbers[0], source.choice([TRUE, TRUE]), numbers[1]))
    return frozenset(found)


@pytest.mark.parametrize(
    "kind", ["tuples", "records", "functions", "of two domains", "with a sequence", "with a truth value"]
)
def test_values_of_numbers_are_in_the_order_of_their_comparison(kind: str) -> None:
    for seed in range(20):
        values = _drawn(kind, random.Random(seed))
        assert sorted_values(values) == tuple(sorted(values, key=cmp_to_key(compare)))
