"""The interpreter gives TLC's counts, per action, for every golden case of the shipped specs.

Cases of more than 100,000 distinct states run with `make golden`.
"""

from __future__ import annotations

from typing import Any

import pytest

from golden_cases import GoldenCase, golden_cases
from kmc.reference.search import Search
from kmc.result import Result

LARGE = 100_000


def _parameters(cases: list[GoldenCase]) -> list[Any]:
    return [
        pytest.param(case, id=case.id, marks=pytest.mark.golden_large if case.expect.get("distinct", 0) > LARGE else ())
        for case in cases
    ]


def _outcome(result: Result, expect: dict[str, Any]) -> dict[str, Any]:
    """What the result says under the keys of `expect`."""
    found: dict[str, Any] = {
        "result": result.verdict.value,
        "generated": result.counters.generated,
        "distinct": result.counters.distinct,
        "depth": result.counters.depth,
        "initial": result.initial,
        "generated_by_action": result.generated_by_action,
    }
    if result.violation is not None:
        found |= {"invariant": result.violation.name, "trace_length": len(result.violation.trace)}
    return {key: found.get(key) for key in expect}


@pytest.mark.parametrize("case", _parameters(golden_cases("kraft")))
def test_the_interpreter_gives_the_counts_of_tlc(case: GoldenCase) -> None:
    result = Search(case.model()).run()
    assert _outcome(result, case.expect) == case.expect
