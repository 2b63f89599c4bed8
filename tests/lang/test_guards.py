"""Conditions are Bools and operands are numbers, as in TLA+; another value is refused, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kmc.errors import EvaluationError
from kmc.lang import count, require, ways
from kmc.lang.guards import number, truth, truths


def helper() -> Iterator[None]:
    yield None


NOT_BOOLS: list[tuple[Any, str]] = [
    (None, "is None"),
    (0, "x > 0"),
    (1, "x > 0"),
    (helper, "call it"),
    (helper(), "yield from"),
    (frozenset(), "len(s) > 0"),
    ("yes", "len(s) > 0"),
]
TAKING: list[Callable[[Any], object]] = [
    truth,
    require,
    ways,
    lambda value: count([True, value]),
    lambda value: list(truths([True, value])),
]


@pytest.mark.parametrize(("value", "advice"), NOT_BOOLS, ids=lambda given: str(type(given).__name__))
def test_a_condition_that_is_not_a_bool_is_refused(value: Any, advice: str) -> None:
    for take in TAKING:
        with pytest.raises(EvaluationError, match="not a Bool") as caught:
            take(value)
        assert caught.value.code == "KMC249"
        assert advice in (caught.value.help or "")


@pytest.mark.parametrize("value", [True, False])
def test_a_bool_is_a_condition_and_not_an_operand(value: bool) -> None:
    assert truth(value) is value
    assert list(truths([value])) == [value]
    with pytest.raises(EvaluationError, match=f"this operand is {value}, not a number") as caught:
        number(value)
    assert caught.value.code == "KMC250"


@pytest.mark.parametrize("value", [0, 1, -7])
def test_a_number_is_an_operand(value: int) -> None:
    assert number(value) is value
