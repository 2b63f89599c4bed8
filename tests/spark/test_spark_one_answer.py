"""A golden case on Spark has TLC's counts, and the set of states that threads find."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark import SparkContext
from support.spark.checks import checked_on_spark
from support.specs.golden import GoldenCase, all_golden_cases, is_small, outcome

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.result import Limits, Result
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

pytestmark = pytest.mark.cluster


def by_threads(case: GoldenCase, folder: Path) -> Result:
    directory = RunDirectory.created(folder, {})
    found = check_native(case.model(), Limits(), threads=2, directory=directory, search_of=sharded(Sharding(4)))
    directory.discard()
    return found


@pytest.mark.parametrize("case", [case for case in all_golden_cases() if is_small(case)], ids=lambda case: case.id)
def test_a_golden_case_has_one_answer(case: GoldenCase, tmp_path: Path, local_spark: SparkContext) -> None:
    wanted = by_threads(case, tmp_path)
    thin_rows = max(wanted.levels) // 2  # the largest levels are jobs, and the others take no time
    for shards in (1, 4, 64):
        sharding = Sharding(shards, shards, task_rows=1 << 9, segment_rows=1 << 7)
        found = checked_on_spark(local_spark, case.model(), tmp_path, sharding=sharding, thin_rows=thin_rows)
        assert outcome(found, case.expect) == case.expect
        assert found.shards is not None
        assert wanted.shards is not None
        assert (found.shards.shards, found.shards.digest) == (shards, wanted.shards.digest)
