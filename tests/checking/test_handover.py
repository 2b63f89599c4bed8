"""The handover of a module from the interpreter to the native engine: it changes no result, and costs none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kmc.checking.modules import handover
from kmc.checking.modules.check_module import ModuleRequest, check_loaded_module, load_module
from kmc.checking.modules.native_comparison import NativeComparison
from kmc.checking.modules.native_search import NativeModuleSearch
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.checking.surroundings import Surroundings
from kmc.engine.unsearched import unsearched
from kmc.errors import InternalError
from kmc.result import Limits, Result, Verdict
from kmc.unexplained import ERRORS_VARIABLE

TANKS = """---- MODULE Tanks ----
EXTENDS Naturals
VARIABLES a, b, c
Init == a = 0 /\\ b = 0 /\\ c = 0
Fill == \\/ a < 9 /\\ a' = a + 1 /\\ UNCHANGED <<b, c>>
        \\/ b < 9 /\\ b' = b + 1 /\\ UNCHANGED <<a, c>>
Move == a > 0 /\\ c < 9 /\\ a' = a - 1 /\\ c' = c + 1 /\\ UNCHANGED b
Next == Fill \\/ Move
NotFull == a + b + c < 24
Low == a + b + c < 999
====
"""
"""One thousand states; the invariant fails far behind the handover."""

FAR_KEYS = """---- MODULE FarKeys ----
EXTENDS Naturals
VARIABLES f, n
Init == f = [i \\in {1, 100000} |-> 0] /\\ n = 0
Next == n < 99 /\\ n' = n + 1 /\\ \\E i \\in DOMAIN f : f' = [f EXCEPT ![i] = 1 - @]
====
"""
"""A module that the native engine refuses."""


@pytest.fixture(autouse=True)
def _early_handover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "HANDOVER_STATES", 100)


@pytest.fixture
def notes() -> list[str]:
    return []


def request_of(folder: Path, text: str, checks: str = "") -> ModuleRequest:
    path = folder / f"{text.split()[2]}.tla"
    path.write_text(text)
    path.with_suffix(".cfg").write_text(f"INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n{checks}")
    return ModuleRequest(path, path.with_suffix(".cfg"), hands_over=True, threads=1)


def outcome_of(request: ModuleRequest, notes: list[str]) -> Outcome:
    return check_loaded_module(request, load_module(request), Surroundings(note=notes.append))


def figures(result: Result) -> tuple[Any, ...]:
    counters = result.counters
    return (
        result.verdict,
        counters.generated,
        counters.distinct,
        counters.depth,
        result.generated_by_action,
        result.properties,
    )


def interpreted(request: ModuleRequest) -> Result:
    return outcome_of(replace(request, hands_over=False), []).result


def test_a_large_model_is_handed_over(tmp_path: Path, notes: list[str]) -> None:
    request = request_of(tmp_path, TANKS, "INVARIANT Low\n")
    result = outcome_of(request, notes).result
    assert (result.engine, result.counters.distinct) == ("native", 1000)
    assert figures(result) == figures(interpreted(request))
    assert "--engine python keeps the interpreter" in notes[0]


@pytest.mark.slow
def test_a_violation_behind_the_handover_is_found(tmp_path: Path, notes: list[str]) -> None:
    request = request_of(tmp_path, TANKS, "INVARIANT NotFull\n")
    outcome = outcome_of(request, notes)
    assert (outcome.result.engine, outcome.result.verdict) == ("native", Verdict.VIOLATION)
    assert figures(outcome.result) == figures(interpreted(request))
    assert outcome.example is not None


def test_a_small_model_is_not_handed_over(tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "HANDOVER_STATES", 1001)
    result = outcome_of(request_of(tmp_path, TANKS), notes).result
    assert (result.engine, notes) == ("python", [])


def test_a_violation_before_the_handover_ends_the_check(tmp_path: Path, notes: list[str]) -> None:
    text = TANKS.replace("a + b + c < 24", "a + b + c < 3")
    result = outcome_of(request_of(tmp_path, text, "INVARIANT NotFull\n"), notes).result
    assert (result.engine, result.verdict, notes) == ("python", Verdict.VIOLATION, [])


def test_the_interpreter_goes_on_with_a_module_that_the_native_engine_refuses(tmp_path: Path, notes: list[str]) -> None:
    request = request_of(tmp_path, FAR_KEYS)
    result = outcome_of(request, notes).result
    assert result.engine == "python"
    assert figures(result) == figures(interpreted(request))
    assert len(notes) == 2
    assert notes[1].startswith("The interpreter goes on: the native engine has no translation for")
    assert notes[1].endswith("(FarKeys.tla:1).")


def test_the_interpreter_goes_on_where_compiled_code_differs(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def differ(*_: Any) -> int:
        raise InternalError("KMC944", "compiled code and the interpreter differ")

    monkeypatch.setattr(NativeComparison, "run", differ)
    result = outcome_of(request_of(tmp_path, TANKS), notes).result
    assert (result.engine, result.counters.distinct) == ("python", 1000)
    assert "the native engine fails: " in notes[1]
    assert "KMC944" in notes[1]


def test_the_interpreter_goes_on_after_a_mistake_in_kmc(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: NativeModuleSearch) -> Result:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.delenv(ERRORS_VARIABLE)
    monkeypatch.setattr(NativeModuleSearch, "run", fail)
    result = outcome_of(request_of(tmp_path, TANKS), notes).result
    assert (result.engine, result.counters.distinct) == ("python", 1000)
    assert "RecursionError" in notes[1]


def test_time_that_ends_before_the_native_engine_has_got_as_far_ends_the_interpreter(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_time(search: NativeModuleSearch) -> Result:
        assert search.limits.seconds is not None
        assert search.limits.seconds < 60
        return unsearched(search.module.model, "native", 0.0, 64)

    monkeypatch.setattr(NativeModuleSearch, "run", out_of_time)
    request = replace(request_of(tmp_path, TANKS), limits=Limits(seconds=60))
    result = outcome_of(request, notes).result
    assert (result.engine, result.counters.distinct) == ("python", 1000)


@pytest.mark.parametrize(("name", "lacking"), [("_PREPARING_SECONDS", "time"), ("available_bytes", "memory")])
def test_the_interpreter_goes_on_where_translating_takes_too_much(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch, name: str, lacking: str
) -> None:
    monkeypatch.setattr(handover, "_PREPARING_TIMES", 0.0 if lacking == "time" else 1e9)
    monkeypatch.setattr(handover, name, 0.0 if lacking == "time" else lambda: 0)
    request = request_of(tmp_path, TANKS)
    result = outcome_of(request, notes).result
    assert (result.engine, result.bound, figures(result)) == ("python", None, figures(interpreted(request)))
    assert notes[1:] == [f"The interpreter goes on: translating and compiling the module takes too much {lacking}."]


@pytest.mark.slow
def test_an_engine_that_is_asked_for_is_kept(tmp_path: Path, notes: list[str]) -> None:
    request = request_of(tmp_path, TANKS)
    for engine in Engine:
        result = outcome_of(replace(request, engine=engine, hands_over=False), notes).result
        assert result.engine == engine.value
    assert notes == []
