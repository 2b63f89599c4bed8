"""Where failures and a refuted temporal property meet in neighbouring levels, all engines end and report alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.oracles.results import TINY, told
from support.runs.sharded_graphs import all_said
from support.specs.failing_levels import CFG, SOURCE, EndCase, cases
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.search import breadth_first
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.liveness.problem import TemporalProblem
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result, Verdict
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.sharded_search import ShardedSearch

SMALL = Sharding(1, task_rows=1, segment_rows=1, slice_chunks=1, slots_min=8, piece=3, batch=2, chunk_rows=2)
DROPPING = Settings(history_bytes=0)
KEEPING = Settings()

SAVING = Settings(history_bytes=0, save_seconds=0.0)

WAYS: tuple[tuple[int, Settings], ...] = ((1, DROPPING), (2, KEEPING), (5, DROPPING))
"""Numbers of shards, without rows of older levels and with them."""

Said = Result | tuple[str, str]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled_once")]


@dataclass(frozen=True)
class Checks:
    """Checks of one case, each on another engine."""

    model: Model
    of_all: TemporalProblem
    case: EndCase
    limits: Limits = field(default=Limits())
    keep_going: bool = False

    @property
    def _given(self) -> dict[str, Any]:
        start, problem = self.case.start(self.model), self.case.problem(self.of_all)
        return {"start": start, "problem": problem, "keep_going": self.keep_going}

    def interpreted(self) -> Said:
        """What the interpreter says."""
        return said(Search(self.model, self.limits, **self._given).run)

    def native(self, settings: Settings = KEEPING, **given: Any) -> Said:
        """What the native engine says."""
        return said(partial(check_native, self.model, self.limits, settings=settings, **self._given, **given))

    def in_shards(
        self, directory: RunDirectory, shards: int, settings: Settings = KEEPING, processes: int | None = None
    ) -> Said:
        """What a search in shards says; its run is removed if it has ended."""
        found = self.native(settings, directory=directory, search_of=sharded(replace(SMALL, shards=shards), processes))
        if directory.ended or not isinstance(found, Result):
            directory.discard()
        directory.close()
        return found


def said(check: Callable[[], Result]) -> Said:
    """The result of a check, or the code and text of its error."""
    try:
        return check()
    except KmcError as error:
        return error.code, error.message


def alike(found: Said) -> Any:
    """What searches of compiled kernels say alike."""
    return all_said(found) if isinstance(found, Result) else found


def alike_of_any_lasso(found: Said) -> Any:
    """What the interpreter says too: of a lasso its length, since several may be the least."""
    if not isinstance(found, Result):
        return found
    is_lasso = found.violation is not None and found.violation.refutation is not None
    figures = told(found)
    return {**figures, "trace": len(figures["trace"])} if is_lasso else figures


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """The spec in which failures and refutations meet."""
    return model_of(tmp_path / "spec", SOURCE, CFG)


@pytest.fixture
def of_all(model: Model) -> TemporalProblem:
    """The problem of all its properties."""
    found = accepted_problem(model)
    assert found is not None
    return found


def bounds_of(case: EndCase) -> list[int]:
    """Depths one level before the level of the refutation, at it, and one behind it."""
    return [case.refuted_at + later for later in (-1, 0, 1)]


@pytest.mark.parametrize("keep_going", [False, True])
def test_all_engines_end_alike(keep_going: bool, model: Model, of_all: TemporalProblem, tmp_path: Path) -> None:
    random = Random(keep_going)
    verdicts = set()
    for number, case in enumerate(cases(seed=int(keep_going))):
        checks = Checks(model, of_all, case, Limits(depth=random.choice([None, *bounds_of(case)])), keep_going)
        wanted = checks.native()
        verdicts.add(wanted.verdict if isinstance(wanted, Result) else wanted[0])
        assert alike_of_any_lasso(checks.interpreted()) == alike_of_any_lasso(wanted), checks
        assert alike(checks.native(TINY, threads=2)) == alike(wanted), checks
        # Nothing ends a search early that keeps going.
        for way in [WAYS[number % 3]] if keep_going else [WAYS[number % 3], WAYS[(number + 1) % 3]]:
            directory = RunDirectory.created(tmp_path, {})
            assert alike(checks.in_shards(directory, *way)) == alike(wanted), (checks, way)
            directory.discard()
    assert verdicts >= {Verdict.VIOLATION, Verdict.DEADLOCK, Verdict.ASSERTION, Verdict.ERROR, Verdict.LIVENESS}


def test_processes_end_where_threads_do(model: Model, of_all: TemporalProblem, tmp_path: Path) -> None:
    verdicts = set()
    for case in list(cases(seed=2))[2::11]:
        checks = Checks(model, of_all, case)
        wanted = checks.native()
        verdicts.add(wanted.verdict if isinstance(wanted, Result) else wanted[0])
        assert alike(checks.in_shards(RunDirectory.created(tmp_path, {}), 3, DROPPING, 2)) == alike(wanted), checks
    assert len(verdicts) > 2


@pytest.mark.parametrize("later", [-1, 0, 1])
def test_a_run_that_goes_on_from_any_level_ends_alike(
    later: int, model: Model, of_all: TemporalProblem, tmp_path: Path
) -> None:
    resumed = 0
    for case in [case for case in cases(seed=3) if case.later == later][::4]:
        wanted = Checks(model, of_all, case).native()
        for depth in range(1, case.refuted_at + 2):
            checks = Checks(model, of_all, case, Limits(depth=depth))
            found = checks.in_shards(RunDirectory.created(tmp_path, {}), 3, SAVING)
            assert alike(found) == alike(checks.native()), checks
            if saved_manifest(tmp_path) is None:
                break
            resumed += 1
            found = Checks(model, of_all, case).in_shards(RunDirectory.opened(tmp_path), 2, DROPPING)
            assert alike(found) == alike(wanted), checks
    assert resumed > 4


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_run_that_is_interrupted_at_any_level_ends_alike_when_it_goes_on(
    in_memory: bool, model: Model, of_all: TemporalProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(checks: Checks, directory: RunDirectory) -> Said:
        if not in_memory:
            return checks.in_shards(directory, 3, SAVING)
        found = checks.native(SAVING, directory=directory)
        directory.discard() if directory.ended or not isinstance(found, Result) else directory.close()
        return found

    interrupted = Counter[int]()
    for case in [case for case in cases(seed=4) if case.on_both_ways][::3]:
        checks = Checks(model, of_all, case)
        wanted = checks.native()
        for level in range(1, case.refuted_at + 1):
            with monkeypatch.context() as patch:
                interrupt_after(patch, level)
                found = search(checks, RunDirectory.created(tmp_path, {}))
            if saved_manifest(tmp_path) is None:
                assert alike(found) == alike(wanted), checks
                continue
            if isinstance(found, Result) and found.verdict is Verdict.INTERRUPTED:
                interrupted[level - case.refuted_at] += 1
            assert alike(search(checks, RunDirectory.opened(tmp_path))) == alike(wanted), (checks, level)
    assert interrupted[0]
    assert interrupted[-1]


def interrupt_after(patch: pytest.MonkeyPatch, level: int) -> None:
    """Let Ctrl-C come as soon as a level of this number has been made."""
    make_in_shards, make_in_memory = ShardedSearch._make_level, breadth_first.Search._made

    def in_shards(search: ShardedSearch, *given: Any, **more: Any) -> bool:
        made = make_in_shards(search, *given, **more)
        if search.depth == level:
            search._interrupt()
        return made

    def in_memory(search: Any, *given: Any) -> Any:
        made = make_in_memory(search, *given)
        if len(search._levels) == level:
            search._interrupt()
        return made

    patch.setattr(ShardedSearch, "_make_level", in_shards)
    patch.setattr(breadth_first.Search, "_made", in_memory)
