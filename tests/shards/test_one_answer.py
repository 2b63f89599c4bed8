"""Whatever runs the tasks, and however many shards there are: TLC's counts, the same levels, and one set of states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.golden_cases import GoldenCase, golden_cases, outcome
from support.native_results import told

from kmc.engine.check_model import ModelSearch, check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.result import Limits, Result
from kmc.shards.on_threads import sharded
from kmc.shards.run_state import RunState
from kmc.shards.sharded_search import ShardedSearch
from kmc.shards.sharding import Sharding

SMALL = 12_000
"""Distinct states that take a search a second."""

CASES = [
    case
    for spec in ("kraft", "kip_996", "kip_996_draft")
    for case in golden_cases(spec)
    if case.expect.get("distinct", SMALL) < SMALL
]


def searched(case: GoldenCase, folder: Path, shards: int, processes: int | None, bits: int) -> tuple[Result, RunState]:
    """The result of a case, and where its search ended."""
    searches: list[ShardedSearch] = []

    def watched(*given: Any) -> ModelSearch:
        found = sharded(Sharding(shards, task_rows=1 << 9, segment_rows=1 << 7), processes)(*given)
        assert isinstance(found, ShardedSearch)
        searches.append(found)
        return found

    directory = RunDirectory.created(folder, {})
    result = check_native(
        case.model(), Limits(), threads=2, fingerprint_bits=bits, directory=directory, search_of=watched
    )
    directory.discard()
    return result, searches[0].state


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_golden_case_has_one_answer(case: GoldenCase, tmp_path: Path) -> None:
    native = check_native(case.model(), Limits())
    digests = set()
    for shards, processes in ((1, None), (4, None), (64, None), (4, 2)):
        result, state = searched(case, tmp_path, shards, processes, 64)
        assert outcome(result, case.expect) == case.expect
        assert told(result) == told(native)
        assert sum(run.count for runs in state.runs for run in runs) == result.counters.distinct
        digests.add(state.digest)
    assert len(digests) == 1


@pytest.mark.slow
def test_another_width_of_fingerprints_has_its_own_digest(tmp_path: Path) -> None:
    case = min(CASES, key=lambda case: case.expect["distinct"])
    digests = {
        bits: {searched(case, tmp_path, shards, None, bits)[1].digest for shards in (1, 3)} for bits in (64, 128)
    }
    assert len(digests[64]) == len(digests[128]) == 1
    assert digests[64] != digests[128]
