"""A search that goes on with optimised kernels gives the same result, wherever it changes kernels.

Here the kernels arrive when a test says so: after each level, and again and again while levels are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import CASES, TINY, told
from support.specs.small import COUNTER, model_of

from kmc.engine import check_model, check_temporal
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.native import threads as native_threads
from kmc.engine.search.breadth_first import LaterKernels, Search
from kmc.frontend.model import Model
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Verdict
from kmc.runtime.object_code import emit_object

LEVELS_MAX = 4
"""The levels of these searches after which their kernels change."""

CHANGED = (
    "deadlock",
    "two invariants fail",
    "many steps violate, going on",
    "an action fails, going on",
    "a view, symmetry and violations",
    "a violating state is refused and stored",
)
"""Searches of every kind: each has kernels that others have not."""

CYCLE = """
class State(Record):
    n: Int(0, 5)
    on: Bool

@spec.init
def init():
    yield State(n=0, on=False)

@spec.action
def up(st):
    if st.n < 5:
        yield st.set(n=st.n + 1)

@spec.action
def back(st, to: Int(0, 2)):
    if st.n > 2:
        yield st.set(n=to)

@spec.action(next=False)
def flip(st):
    yield st.set(on=not st.on)

@spec.specification
def Fair():
    return weak_fairness(up)

@spec.liveness
def Ends():
    return eventually(lambda st: st.n == 5)

@spec.liveness
def Falls():
    return always_eventually(lambda st, nxt: nxt.n < st.n)
"""
TEMPORAL = "from kmc.spec import always_eventually, eventually, weak_fairness\n" + CYCLE


class Arriving:
    """Kernels that arrive at some of the search's looks for them, the given tables by turns."""

    def __init__(self, tables: list[KernelTable], at: Callable[[int], bool]) -> None:
        self._tables, self._at = tables, at
        self.looks = self.arrivals = 0
        self.is_closed = False

    def arrived(self) -> KernelTable | None:
        """See `LaterKernels`."""
        self.looks += 1
        if not self._at(self.looks):
            return None
        self.arrivals += 1
        return self._tables[self.arrivals % len(self._tables)]

    def close(self) -> None:
        """See `LaterKernels`."""
        self.is_closed = True


class Optimised:
    """The kernels of compiled models as LLVM optimises them, made once for each."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[KernelTable, Any]] = {}

    def of(self, compiled: CompiledModel) -> KernelTable:
        """Those of one model."""
        text = compiled.spec.llvm_ir
        if text not in self._kept:
            spec = compiled.spec.with_code(emit_object(text, compiled.spec.target))
            self._kept[text] = KernelTable.of(spec), spec
        return self._kept[text][0]


@pytest.fixture(scope="module")
def optimised() -> Optimised:
    return Optimised()


@pytest.fixture
def arrive(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[CompiledModel], LaterKernels]], None]:
    """A function that gives all searches their later kernels."""

    def give(later: Callable[[CompiledModel], LaterKernels]) -> None:
        for module in (check_model, check_temporal):
            monkeypatch.setattr(module, "optimised_later", later)

    return give


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.usefixtures("compiled_once")
def test_a_search_that_changes_kernels_after_a_level_gives_the_same_result(
    name: str, tmp_path: Path, optimised: Optimised, arrive: Any
) -> None:
    case = CASES[name]
    model, limits = model_of(tmp_path, case.source, case.cfg), case.limits or Limits()

    def checked(threads: int) -> dict[str, Any]:
        return told(check_native(model, limits, threads=threads, keep_going=case.keep_going, settings=TINY))

    wanted = checked(1)
    for level in range(1, min(LEVELS_MAX, len(wanted["levels"])) + 1):
        made: list[Arriving] = []

        def later(compiled: CompiledModel, level: int = level, made: list[Arriving] = made) -> Arriving:
            made.append(Arriving([optimised.of(compiled)], lambda look: look == level))
            return made[-1]

        arrive(later)
        assert checked(1) == wanted, f"after level {level}"
        assert made[0].is_closed


@pytest.fixture
def _looks_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_threads, "_POLL_SECONDS", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("_looks_all_the_time", "compiled_once")
@pytest.mark.parametrize("name", ["many steps violate, going on", "a view, symmetry and violations"])
def test_a_search_may_change_kernels_in_the_middle_of_a_level(
    name: str, tmp_path: Path, optimised: Optimised, arrive: Any
) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    # Threads that wait for each other as chance says, so that a level lasts.
    settings = replace(TINY, schedule_seed=1)
    wanted = told(check_native(model, Limits(), threads=2, keep_going=case.keep_going, settings=settings))
    made: list[Arriving] = []

    def later(compiled: CompiledModel) -> Arriving:
        made.append(Arriving([optimised.of(compiled), compiled.kernels], lambda look: look % 3 == 0))
        return made[-1]

    arrive(later)
    assert told(check_native(model, Limits(), threads=2, keep_going=case.keep_going, settings=settings)) == wanted
    # The search looks at the end of a level, and otherwise only while threads run.
    assert made[0].arrivals > 2 * len(wanted["levels"])


@pytest.mark.parametrize(("level", "bits"), [(1, 64), (3, 64), (3, 128)])
def test_lassos_are_those_of_a_search_with_one_kind_of_kernels(
    level: int, bits: int, tmp_path: Path, optimised: Optimised, arrive: Any
) -> None:
    model = model_of(tmp_path, TEMPORAL, "SPECIFICATION Fair PROPERTIES Ends Falls CHECK_DEADLOCK FALSE")
    problem = accepted_problem(model)

    def checked() -> Any:
        result = check_native(model, Limits(), problem=problem, fingerprint_bits=bits, settings=TINY)
        violation = result.violation
        assert violation is not None
        return told(result), violation.refutation

    wanted = checked()
    arrive(lambda compiled: Arriving([optimised.of(compiled)], lambda look: look == level))
    assert checked() == wanted
    assert wanted[0]["verdict"] is Verdict.LIVENESS


def counting_to(limit: int, folder: Path) -> Model:
    """A counter that ends at a limit; all have one layout."""
    return model_of(folder, COUNTER, f"CONSTANT Limit = {limit} CHECK_DEADLOCK FALSE")


@pytest.mark.parametrize("level", [1, 2, 3])
def test_kernels_that_drop_a_successor_would_be_noticed(level: int, tmp_path: Path) -> None:
    right, wrong = (compile_model(counting_to(limit, tmp_path / str(limit))) for limit in (9, 4))
    initial = [right.record(state) for state in right.model.spec.init()]
    later = Arriving([wrong.kernels], lambda look: look == level)
    outcome = Search(right.kernels, initial, replace(TINY, deadlock=False), later=later).run()
    assert outcome.levels == (1,) * 5
    assert Search(right.kernels, initial, replace(TINY, deadlock=False)).run().levels == (1,) * 10


@pytest.mark.slow
def test_a_search_that_is_stopped_does_not_look_for_kernels(tmp_path: Path) -> None:
    compiled = compile_model(counting_to(50, tmp_path))
    initial = [compiled.record(state) for state in compiled.model.spec.init()]
    later, settings = Arriving([compiled.kernels], lambda look: False), replace(TINY, limits=Limits(states=3))
    outcome = Search(compiled.kernels, initial, settings, later=later).run()
    assert (len(outcome.levels), later.looks, later.is_closed) == (3, 2, True)
