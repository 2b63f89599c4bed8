"""A limit on time holds for loading and compiling too: what a check says that ends before its search."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc

import kmc as api
from kmc.budget import TimeSpent, require_budget, within_budget
from kmc.compile_log import LOG
from kmc.engine import check_model
from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.result import Bound, Limits, Verdict
from kmc.runtime import object_code

AT_ONCE = ("--timeout", "0.000001")
TOLD = "the time ran out while the spec was loaded and compiled"


@pytest.fixture
def _nothing_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))


WITHOUT_CACHE = pytest.mark.usefixtures("_nothing_is_compiled")


@WITHOUT_CACHE
def test_a_check_without_time_to_compile_ends_with_a_bound_and_leaves_nothing_to_resume() -> None:
    ran = kmc("check", COUNTER, "smoke", *AT_ONCE)
    lines = ran.stdout.splitlines()
    assert ran.exit_code == 20
    assert lines[-1] == f"BOUND counter smoke: no state was explored, {TOLD}, before the first state"
    assert f"Nothing is proved: {TOLD}, before the first state." in ran.stdout
    assert "Warning" not in ran.stdout
    assert not list(Path(".kmc").rglob("checkpoint"))
    assert "Resume:" not in ran.output


@WITHOUT_CACHE
def test_no_report_of_such_a_check_says_that_a_property_holds() -> None:
    found: dict[str, Any] = json.loads(kmc("check", COUNTER, "smoke", *AT_ONCE, "--json", "--junit", "r.xml").stdout)
    assert (found["result"], found["bound"], found["levels"], found["exit_status"]) == ("bound reached", "time", [], 20)
    assert {prop["verdict"] for prop in found["properties"]} == {"not checked"}
    cases = ElementTree.parse("r.xml").findall(".//testcase")
    passed = [case.get("name") for case in cases if all(case.find(kind) is None for kind in ("skipped", "failure"))]
    assert passed == []


@WITHOUT_CACHE
def test_what_is_expected_is_not_compared_and_the_limit_is_named() -> None:
    ran = kmc("check", COUNTER, "smoke", "--expect", *AT_ONCE)
    told = "--timeout 1e-06 ended the check while the spec was loaded and compiled"
    assert ran.exit_code == 10
    assert ran.stdout.splitlines()[-1] == f"UNEXPECTED counter smoke: The result is not compared: {told}"


@WITHOUT_CACHE
def test_a_check_from_python_ends_with_a_bound_too() -> None:
    result = api.check(COUNTER, "smoke", timeout=0.000001)
    assert (result.verdict, result.distinct) == ("bound reached", 0)


def test_the_search_gets_the_time_that_compiling_has_left() -> None:
    root = find_spec_root(COUNTER)
    file = find_model(root, "smoke")
    assert file is not None
    given: list[float | None] = []

    def search_of(_compiled: Any, _records: Any, settings: Any, *_more: Any, **_named: Any) -> Any:
        given.append(settings.limits.seconds)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        check_native(bind(root, file), Limits(seconds=3600.0), search_of=search_of)
    assert given[0] is not None
    assert 0 < given[0] < 3600.0


def test_compiling_ends_between_two_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(object_code, "_optimise", lambda *_: begun.append("optimise"))
    text = "define i64 @one() {\n  ret i64 1\n}\n"
    with within_budget(0.0), pytest.raises(TimeSpent):
        object_code.emit_object(text)
    assert begun == []
    with within_budget(0.0), pytest.raises(TimeSpent), LOG.compiling("a part"):
        begun.append("a part")
    assert begun == []
    require_budget()  # the limit ends with the block


@WITHOUT_CACHE
def test_the_result_of_no_search_is_a_bound() -> None:
    root = find_spec_root(COUNTER)
    file = find_model(root, "smoke")
    assert file is not None
    result = check_native(bind(root, file), Limits(seconds=0.0))
    assert (result.verdict, result.bound, result.is_unsearched) == (Verdict.BOUND_REACHED, Bound.TIME, True)


def test_a_limit_before_the_first_step_proves_nothing_of_the_initial_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = kmc("check", COUNTER, "smoke", "--engine", "python", *AT_ONCE)
    told = f"{TOLD}; 1 initial state was found, and no step was taken"
    assert ran.exit_code == 20
    assert ran.stdout.splitlines()[-1] == f"BOUND counter smoke: no state was explored, {told}"
    assert f"Nothing is proved: {told}." in ran.stdout
    for word in ("hold", "odds", "never fired", "Warning", "probability", "per second"):
        assert word not in ran.stdout


def test_the_native_engine_says_the_same_when_the_limit_ends_between_compiling_and_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Compiling has all the time it needs, and leaves none.
    monkeypatch.setattr(check_model, "within_budget", lambda *_: nullcontext())
    root = find_spec_root(COUNTER)
    file = find_model(root, "smoke")
    assert file is not None
    model = bind(root, file)
    result = check_native(model, Limits(seconds=1e-9))
    assert (result.counters.distinct, result.counters.generated, result.is_unsearched) == (1, 1, True)
    assert {prop.verdict for prop in result.properties} == {"not checked"}
    assert (result.never_fired, result.unreached) == ((), ())
