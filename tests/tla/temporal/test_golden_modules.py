"""TLC's verdicts on tiny modules that each hold one trap: kmc gives them for the modules themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.specs.modules import result_of

_CASES = json.loads((Path(__file__).parents[2] / "data/golden/liveness/public.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in _CASES if case["kind"] == "d"}
EXIT_STATUS = {"d97_eqv": 0}
"""TLC does not read `<=>` between temporal formulas; kmc does."""


def least_length(case: dict[str, Any]) -> int | None:
    """The least number of states that refute the property; those of TLC where it reports a finite prefix."""
    if case["tlc"].get("ends") == "finite prefix":
        return int(case["tlc"]["states"])
    return case["min"]["states"] if case.get("min") else None


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_verdict_and_the_length_of_the_lasso_are_those_of_tlc(case: dict[str, Any], tmp_path: Path) -> None:
    result = result_of(tmp_path, case["module"], case["cfg"])
    assert result.exit_status() == EXIT_STATUS.get(case["id"], case["exit"])
    counters = result.counters
    if case["graph"] and case["id"] != "d80_false_init_only":  # there TLC stops before it has the whole graph
        graph = case["graph"]
        assert (counters.distinct, counters.generated) == (graph["distinct"], graph["generated"])
    if result.violation is not None:
        assert len(result.violation.trace) == least_length(case) or least_length(case) is None
