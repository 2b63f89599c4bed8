"""Both engines give TLC's counts, per action, for every golden case of the shipped specs.

The interpreter runs cases of more than 50,000 distinct states with `make golden` only, which take it more than 20
seconds each, the native engine those of more than 800,000. `make test-fast` runs the smallest case of each spec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.specs.golden import SPECS, GoldenCase, all_golden_cases, outcome, smallest_case

from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.reference.search import Search
from kmc.result import Limits

SHIPPED = all_golden_cases()

# A violation has no count to expect: until these two the search meets 462,217 and 762,963 distinct states.
LARGE_VIOLATIONS = {"kip996-7", "draft-5"}
LARGE_INTERPRETED = 50_000
LARGE_NATIVE = 800_000

# Optimising takes longer than these searches do without it, so only the longest of each spec have optimised kernels.
OPTIMISED = {"kraft-9", "kip996-5", "kip996-7", "draft-2"}


def _is_large(case: GoldenCase) -> bool:
    return case.expect.get("distinct", 0) > LARGE_INTERPRETED or case.id in LARGE_VIOLATIONS


def _is_large_for_native(case: GoldenCase) -> bool:
    return bool(case.expect.get("distinct", 0) > LARGE_NATIVE)


def _parameters(is_large: Callable[[GoldenCase], bool]) -> list[Any]:
    fast = {smallest_case(case.spec) for case in SHIPPED}
    return [
        pytest.param(
            case,
            id=case.id,
            marks=pytest.mark.golden_large if is_large(case) else () if case.id in fast else pytest.mark.slow,
        )
        for case in SHIPPED
    ]


@pytest.mark.parametrize("case", _parameters(_is_large))
def test_the_interpreter_gives_the_counts_of_tlc(case: GoldenCase) -> None:
    result = Search(case.model(), view_order=fingerprint_order).run()
    assert outcome(result, case.expect) == case.expect


@pytest.mark.parametrize("case", _parameters(_is_large_for_native))
def test_the_native_engine_gives_the_counts_of_tlc(case: GoldenCase, request: pytest.FixtureRequest) -> None:
    """Most kernels are not optimised here; `make golden` optimises those of all cases that are large."""
    if case.id in OPTIMISED:
        request.getfixturevalue("optimised_kernels")
    result = check_native(case.model(), Limits(), threads=2)
    assert outcome(result, case.expect) == case.expect


@pytest.mark.parametrize("is_large", [_is_large, _is_large_for_native])
def test_one_case_of_each_spec_is_fast(is_large: Callable[[GoldenCase], bool]) -> None:
    assert [parameter.values[0].spec for parameter in _parameters(is_large) if parameter.marks == ()] == list(SPECS)
