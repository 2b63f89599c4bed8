"""Whatever runs the tasks, and however many shards there are: TLC's counts, the same levels, and one set of states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.oracles.results import told
from support.specs.golden import GoldenCase, all_golden_cases, is_small, outcome

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.loops.compiled_loops import run_loop
from kmc.engine.loops.sorted_runs import CandidateSet
from kmc.frontend.model import Model
from kmc.result import Limits, Result
from kmc.shards.level import merger
from kmc.shards.level.merger import Merger
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import MergeTask
from kmc.shards.on_one_machine import sharded

ALL = 1 << 28

WAYS = ((1, None, 0), (4, None, ALL), (64, None, 0), (4, 2, 0))
"""Numbers of shards and of processes, without these two threads; and how many bytes of older levels are kept."""

ALL_WAYS = (*WAYS, (1, 2, ALL), (64, 2, ALL), (4, None, 0))

EVERY = [
    pytest.param(case, id=case.id, marks=pytest.mark.slow if is_small(case) else pytest.mark.golden_large)
    for case in all_golden_cases()
]


def searched(
    model: Model, folder: Path, sharding: Sharding, processes: int | None = None, history: int = ALL, bits: int = 64
) -> Result:
    """The result of a search in shards."""
    directory = RunDirectory.created(folder, {})
    result = check_native(
        model,
        Limits(),
        threads=2,
        settings=Settings(history_bytes=history),
        fingerprint_bits=bits,
        directory=directory,
        search_of=sharded(sharding, processes),
    )
    directory.discard()
    return result


def tiny(shards: int) -> Sharding:
    """Small segments and tasks, and all shards in use from the first level on."""
    return Sharding(shards, shards, task_rows=1 << 9, segment_rows=1 << 7)


def smallest() -> GoldenCase:
    """The case with the fewest states."""
    counted = [case for case in all_golden_cases() if "distinct" in case.expect]
    return min(counted, key=lambda case: int(case.expect["distinct"]))


def digest_of(result: Result) -> int:
    """What is equal for equal sets of states."""
    assert result.shards is not None
    return result.shards.digest


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("case", EVERY)
def test_a_golden_case_has_one_answer(case: GoldenCase, tmp_path: Path) -> None:
    model = case.model()
    native = check_native(model, Limits(), threads=2)
    digests = set()
    for shards, processes, history in WAYS if is_small(case) else ALL_WAYS:
        # A case of few states is divided into many tasks.
        sharding = tiny(shards) if is_small(case) else Sharding(shards, shards_first=shards)
        result = searched(model, tmp_path, sharding, processes, history)
        assert outcome(result, case.expect) == case.expect
        assert told(result) == told(native)
        digests.add(digest_of(result))
    assert len(digests) == 1


def lose_a_state(patch: pytest.MonkeyPatch, level: int) -> list[int]:
    """Let a search in one shard miss one new state of a level; the list tells how many were new there."""
    answer, loop_of = Merger.answer, run_loop
    levels: list[int] = []
    new: list[int] = []

    def watched(self: Merger, task: MergeTask, sent: Any) -> Any:
        levels.append(task.level)
        return answer(self, task, sent)

    def losing(name: str, *kind: bool) -> Any:
        def accept(task: CandidateSet, number: int) -> int:
            if levels[-1] == level:
                new.append(task.fingerprint_count)
                task.fingerprint_count -= 1
            found: int = loop_of(name, *kind)(task, number)
            return found

        return accept if name == "accept" else loop_of(name, *kind)

    patch.setattr(Merger, "answer", watched)
    patch.setattr(merger, "run_loop", losing)
    return new


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_a_set_without_one_state_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = smallest().model()
    whole = searched(model, tmp_path, tiny(1))
    # A state of the last level has no new successors, so it is the only one that is missing.
    new = lose_a_state(monkeypatch, whole.counters.depth)
    less = searched(model, tmp_path, tiny(1))
    assert new
    assert less.counters.distinct == whole.counters.distinct - 1
    assert digest_of(less) != digest_of(whole)


@pytest.mark.slow
def test_the_digest_of_a_run_is_in_its_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def figures(shards: int, *words: str) -> dict[str, Any]:
        ran = kmc("check", "die_hard", "--continue", "--json", "--shards", str(shards), *words)
        found: dict[str, Any] = json.loads(ran.stdout)["shards"]
        return found

    same = [figures(1), figures(4, "--processes", "2"), figures(64, "--threads", "1")]
    assert [each["shards"] for each in same] == [1, 4, 64]
    assert len({each["digest"] for each in same}) == 1
    assert figures(4, "--max-depth", "4")["digest"] != same[0]["digest"]


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_another_width_of_fingerprints_has_its_own_digest(tmp_path: Path) -> None:
    model = smallest().model()
    digests = {
        bits: {digest_of(searched(model, tmp_path, tiny(shards), bits=bits)) for shards in (1, 3)} for bits in (64, 128)
    }
    assert len(digests[64]) == len(digests[128]) == 1
    assert digests[64] != digests[128]
