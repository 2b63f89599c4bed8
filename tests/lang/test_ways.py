"""The ways in which a guard holds, as TLC counts them: sums for a disjunction, products for a conjunction."""

from __future__ import annotations

import pytest

from kmc.lang import count, product, ways


@pytest.mark.parametrize(
    ("conditions", "rounds"), [((), 0), ((False, False), 0), ((True, False), 1), ((True, True, True), 3)]
)
def test_a_disjunction_holds_once_per_true_side(conditions: tuple[bool, ...], rounds: int) -> None:
    assert len(ways(*conditions)) == rounds


def test_count_is_the_number_of_witnesses() -> None:
    assert count(n > 2 for n in (1, 2, 3, 4)) == 2


@pytest.mark.parametrize(("numbers", "expected"), [((), 1), ((2, 3), 6), ((2, 0, 3), 0)])
def test_a_conjunction_holds_as_often_as_its_members_together(numbers: tuple[int, ...], expected: int) -> None:
    assert product(numbers) == expected
