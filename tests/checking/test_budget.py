"""The budget until a native search begins: it ends translating, evaluating and compiling, however large they grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.specs.small import model_of

from kmc.budget import BudgetSpent, MemorySpent, TimeSpent, polled, require_budget, within_budget
from kmc.checking.modules.check_module import ModuleRequest, check_module, load_module
from kmc.checking.modules.native_search import NativeModuleSearch, NativeOptions
from kmc.checking.request import Engine
from kmc.engine import initial_records
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.invariants.kinds import Role
from kmc.result import Bound, Limits, Result
from kmc.runtime import object_code

BRANCHES = """---- MODULE Branches ----
EXTENDS Naturals
VARIABLES n, a, b
Init == n = 0 /\\ a = 0 /\\ b = 0

Rare == n = 50 /\\ {rare} /\\ (a' = 1 \\/ a' = 2) /\\ n' = 0 /\\ UNCHANGED b
Next == (n < 9 /\\ n' = n + 1 /\\ UNCHANGED <<a, b>>) \\/ Rare
====
""".replace("{rare}", " /\\ ".join(f"(b = {i} \\/ a = {i})" for i in range(40)))
"""An action that is never enabled, with 2^41 ways through it."""

SUBSETS = """---- MODULE Subsets ----
EXTENDS Naturals, FiniteSets
VARIABLE n
Far == {s \\in SUBSET (1..40) : Cardinality(s) = 20 /\\ 41 \\in s}
Squares == {x * y * z : x, y, z \\in 1..9000}
Init == n = 0
Next == (n < 9 /\\ n' = n + 1) \\/ (n = 50 /\\ Squares = Far /\\ n' = n)
====
"""
"""Constants that no state needs, and that no machine can list."""

STUTTERING = """
class State(Record):
    n: Int(0, 9)


@spec.init
def init():
    yield State(n=0)


@spec.action
def stay(st):
    yield st


"""


def searched(folder: Path, text: str, preparing: Limits, limits: Limits | None = None) -> Result:
    path = folder / f"{text.split()[2]}.tla"
    path.write_text(text)
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    module = load_module(ModuleRequest(path, path.with_suffix(".cfg")))
    return NativeModuleSearch(module, limits or Limits(), NativeOptions(), preparing=preparing).run()


@pytest.mark.parametrize("text", [BRANCHES, SUBSETS])
def test_time_ends_a_translation_that_would_take_for_ever(tmp_path: Path, text: str) -> None:
    result = searched(tmp_path, text, Limits(seconds=0.5))
    assert (result.bound, result.is_unsearched) == (Bound.TIME, True)


def test_the_time_of_the_check_ends_a_translation(tmp_path: Path) -> None:
    result = searched(tmp_path, BRANCHES, Limits(), Limits(seconds=0.5))
    assert (result.bound, result.is_unsearched) == (Bound.TIME, True)


def test_memory_ends_a_translation(tmp_path: Path) -> None:
    result = searched(tmp_path, BRANCHES, Limits(memory_bytes=1))
    assert (result.bound, result.is_unsearched) == (Bound.MEMORY, True)


def test_a_module_whose_translation_takes_too_long_ends_with_a_bound(tmp_path: Path) -> None:
    searched(tmp_path, BRANCHES, Limits(seconds=0.0))
    path = tmp_path / "Branches.tla"
    request = ModuleRequest(path, path.with_suffix(".cfg"), engine=Engine.NATIVE, limits=Limits(seconds=0.5))
    outcome = check_module(request)
    assert (outcome.result.bound, outcome.status) == (Bound.TIME, 20)


def test_memory_ends_compiling(tmp_path: Path) -> None:
    model = model_of(tmp_path, STUTTERING, "INIT Init NEXT Next")
    result = check_native(model, Limits(), preparing=Limits(memory_bytes=1))
    assert (result.bound, result.is_unsearched) == (Bound.MEMORY, True)


def test_llvm_does_not_begin_with_a_text_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr("kmc.runtime.object_code.llvm.parse_assembly", parsed.append)
    with within_budget(None, 1 << 40), pytest.raises(MemorySpent):
        object_code.emit_object(_LongText())
    assert parsed == []


class _LongText(str):
    __slots__ = ()

    def __len__(self) -> int:
        return 1 << 40


def test_a_budget_keeps_the_limits_around_it() -> None:
    with within_budget(0.0), within_budget(1000.0, 1 << 50), pytest.raises(TimeSpent):
        require_budget()
    require_budget()
    with within_budget(None, 1), within_budget(1000.0), pytest.raises(MemorySpent):
        require_budget()


def test_an_enumeration_ends_with_the_budget_and_costs_nothing_without_one() -> None:
    numbers: Any = range(10)
    assert polled(numbers) is numbers
    with within_budget(0.0), pytest.raises(TimeSpent):
        list(polled(numbers))
    with within_budget(1000.0, 1 << 50):
        assert list(polled(numbers)) == list(numbers)


def test_python_without_memory_has_spent_the_budget() -> None:
    with pytest.raises(MemorySpent), within_budget(None):
        raise MemoryError


def test_helpers_that_call_each_other_twice_are_read_in_no_time(tmp_path: Path) -> None:
    helpers = "".join(
        f"def helper_{i}(n):\n    return helper_{i + 1}(n) or helper_{i + 1}(n + 1)\n\n\n" for i in range(60)
    )
    source = (
        f"{STUTTERING}{helpers}def helper_60(n):\n    return n == 5\n\n\n"
        "@spec.invariant\ndef small(st):\n    return not helper_0(st.n) or st.n < 9\n"
    )
    assert model_of(tmp_path, source, "INIT Init NEXT Next INVARIANT small").predicates(Role.CHECKED)


def test_the_budget_ends_the_making_of_initial_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = STUTTERING.replace("    yield State(n=0)", "    for n in range(0, 10):\n        yield State(n=n)")
    model = model_of(tmp_path, several, "INIT Init NEXT Next")
    compiled = compile_model(model)
    monkeypatch.setattr(initial_records, "_compiled_records", lambda *_: None)
    with within_budget(0.0), pytest.raises(TimeSpent):
        initial_records.initial_records(model, compiled, few=1)


LONG = r"""---- MODULE Long ----
EXTENDS Naturals, FiniteSets
VARIABLE x
Init == x = 0
Slow == x' \in {n \in 0..1 : \E S \in SUBSET (1..40) : Cardinality(S) = 50}
Quick == x' = 1
Sets == x = 0 \/ Cardinality({S \in SUBSET (1..40) : Cardinality(S) = 20}) > 3
Functions == x = 0 \/ [f \in [1..9 -> 1..9] |-> f[1]] # <<>>
====
"""


@pytest.mark.parametrize(("next_state", "invariant"), [("Slow", "Sets"), ("Quick", "Sets"), ("Quick", "Functions")])
def test_limits_end_the_evaluation_of_one_expression(tmp_path: Path, next_state: str, invariant: str) -> None:
    path = tmp_path / "Long.tla"
    path.write_text(LONG, encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"INIT Init\nNEXT {next_state}\nINVARIANT {invariant}\n", encoding="utf-8")
    result = check_module(ModuleRequest(path, limits=Limits(seconds=0.5))).result
    assert (result.bound, result.violation, result.counters.seconds < 10) == (Bound.TIME, None, True)
    assert sum(result.generated_by_action.values()) == result.counters.generated - result.initial


def test_what_reports_errors_of_a_module_lets_the_end_of_a_budget_pass() -> None:
    assert not issubclass(BudgetSpent, Exception)
