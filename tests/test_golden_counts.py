"""The interpreter gives TLC's counts, per action, for every golden case of the shipped specs.

Cases of more than 100,000 distinct states run with `make golden`.
"""

from __future__ import annotations

from typing import Any

import pytest

from golden_cases import GoldenCase, golden_cases, outcome
from kmc.reference.search import Search

LARGE = 100_000


def _parameters(cases: list[GoldenCase]) -> list[Any]:
    return [
        pytest.param(case, id=case.id, marks=pytest.mark.golden_large if case.expect.get("distinct", 0) > LARGE else ())
        for case in cases
    ]


@pytest.mark.parametrize("case", _parameters(golden_cases("kraft")))
def test_the_interpreter_gives_the_counts_of_tlc(case: GoldenCase) -> None:
    result = Search(case.model()).run()
    assert outcome(result, case.expect) == case.expect
