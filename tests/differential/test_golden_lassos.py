"""TLC's golden verdicts on temporal properties: exit status, graph and length of the lasso, on both engines.

A lasso is never longer than TLC's. In the tiny cases it is as short as any that refutes the property.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.specs.temporal import STOPPED_EARLY, LivenessCase, liveness_cases, reductions

EXIT_STATUS = {"d97_eqv": 0}
"""Where TLC has no verdict: it refuses an equivalence of temporal formulas, which holds."""

LARGE_INTERPRETED = 150
"""The interpreter takes half a second for more states of KIP-996: `make golden` runs these, but for some."""

INTERPRETED_YET = {"a_new_safe_quiet3_SSome_CatchUp", "a_new_shrink_LivenessSpec_ReconfigurationNotStuck"}

COMPILED_YET = {
    "a_new_live_quiet3_SSome_FetchEnds",
    "a_draft_live_con1_2_LivenessSpec_EventuallyLeaderElected",
    "b_2s1v1e0r_SNoFetch_AskedIsAcked",
    "b_2s1v1e0r_LivenessSpec_Quiet",
    "b_2s1v2e0r_SAll_SomeLeader",
}
"""A case of a shipped spec takes seconds to compile: `make golden` runs the others.

Of kind c it runs all but the first of each spec.
"""

FAST = {"d57_nested_scc", "d78_long_stem"}
"""`make test-fast` runs these on the native engine too."""


def _when_interpreted(case: LivenessCase) -> Any:
    if case.answer["kind"] in ("c", "d"):
        return pytest.mark.golden_large if case.id == "c14_rw_3" else ()
    late = case.graph.get("distinct", 0) > LARGE_INTERPRETED and case.id not in INTERPRETED_YET
    # KRaft.tla's graphs of some thousand states are quick.
    is_large = late and (case.root.name != "kraft" or case.graph["distinct"] > 5_000)
    return pytest.mark.golden_large if is_large else pytest.mark.slow


def _when_compiled(case: LivenessCase) -> Any:
    if case.id in FAST:
        return ()
    compiled = case.answer["kind"] == "d" or case.id in COMPILED_YET | _first_of_each_example()
    return pytest.mark.slow if compiled else pytest.mark.golden_large


@cache
def _first_of_each_example() -> frozenset[str]:
    found: dict[Path, str] = {}
    for case in liveness_cases():
        if case.answer["kind"] == "c":
            found.setdefault(case.root, case.id)
    return frozenset(found.values())


def _least(case: LivenessCase) -> int | None:
    """The least length of what refutes the property, where it is known.

    What TLC calls a finite prefix is one here. A lasso can be shorter: it goes through the same states again.
    """
    if case.answer["tlc"].get("ends") == "finite prefix":
        return int(case.answer["tlc"]["states"])
    return case.answer["min"]["states"] if case.answer.get("min") else None


def _asked(case: LivenessCase, engine: str, folder: Path, *more: str) -> tuple[int, dict[str, Any]]:
    """The exit status of `kmc check` with the case's model file, and what it says; TLC was not asked for deadlock."""
    file = folder / f"{case.id}.cfg"
    file.write_text(case.cfg, encoding="utf-8")
    words = ("--engine", engine, "--no-deadlock", "--no-run-dir", "--json", "--quiet", *more)
    found = kmc("check", str(case.root), str(file), *words)
    assert found.exit_code != 255, found.stderr
    return found.exit_code, json.loads(found.stdout or "{}")


def _counts(case: LivenessCase, found: dict[str, Any]) -> dict[str, int]:
    names = () if case.id in STOPPED_EARLY else ("distinct", "generated", "depth", "initial")
    return {name: found[name] for name in names if name in case.graph}


def _check(case: LivenessCase, engine: str, folder: Path) -> None:
    status, found = _asked(case, engine, folder)
    assert status == EXIT_STATUS.get(case.id, case.answer["exit"])
    whole = found
    if found.get("left"):
        # TLC makes the whole graph first.
        _, whole = _asked(case, engine, folder, "--continue")
        assert whole["distinct"] >= found["distinct"]
        assert [whole[key] for key in ("result", "trace_length")] == [found[key] for key in ("result", "trace_length")]
    assert _counts(case, whole) == {name: case.graph[name] for name in _counts(case, whole)}
    if case.answer["verdict"] == "violated":
        length = found["trace_length"]
        assert length <= case.answer["tlc"]["states"]
        assert _least(case) in (None, length)
        assert found["invariant"] == case.file().properties[0].text


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id, marks=_when_interpreted(c)) for c in liveness_cases()])
def test_the_interpreter_gives_the_verdict_of_tlc(case: LivenessCase, tmp_path: Path) -> None:
    _check(case, "python", tmp_path)


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id, marks=_when_compiled(c)) for c in liveness_cases()])
def test_the_native_engine_gives_the_verdict_of_tlc(case: LivenessCase, tmp_path: Path) -> None:
    _check(case, "native", tmp_path)


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("case", reductions(), ids=lambda case: case.id)
def test_a_reduction_hides_no_violation_and_invents_none(case: LivenessCase, engine: str, tmp_path: Path) -> None:
    """A constraint that cuts fair steps leaves nothing to claim; symmetry and views are refused."""
    status, found = _asked(case, engine, tmp_path)
    if "CONSTRAINT" in case.cfg:
        assert (status, found["result"], found["bound"]) == (20, "bound reached", "constraint")
        assert found["cut_fairness"]
    else:
        assert (status, found["error"]["code"]) == (151, "KMC352")


def test_cases_that_are_named_exist() -> None:
    assert {case.id for case in liveness_cases()} >= INTERPRETED_YET | COMPILED_YET | FAST | EXIT_STATUS.keys()
