"""`max` and `min` of a spec: of several numbers, of one collection, and what they return or refuse besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmc.errors import EvaluationError
from kmc.lang.numbers import greatest, least


def test_the_greatest_and_the_least_of_several_numbers() -> None:
    assert (greatest(2, 3), least(2, 3)) == (3, 2)


def test_the_greatest_and_the_least_of_one_collection() -> None:
    assert (greatest(frozenset({4, 9})), least(frozenset({4, 9}))) == (9, 4)


@pytest.mark.parametrize("function", [greatest, least])
@pytest.mark.parametrize("default", [0, None])
def test_an_empty_collection_has_the_default_even_if_that_is_not_a_number(
    function: Callable[..., Any], default: int | None
) -> None:
    assert function(frozenset(), default=default) == default


@pytest.mark.parametrize("function", [greatest, least])
def test_a_default_does_not_admit_other_values(function: Callable[..., Any]) -> None:
    with pytest.raises(EvaluationError, match="takes numbers, not"):
        function(frozenset({frozenset()}), default=0)


@pytest.mark.parametrize(("function", "name"), [(greatest, "max"), (least, "min")])
def test_an_error_names_the_function_of_the_spec(function: Callable[..., Any], name: str) -> None:
    with pytest.raises(EvaluationError, match=f"{name} takes numbers, not"):
        function(True, False)
