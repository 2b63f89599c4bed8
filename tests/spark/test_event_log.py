"""What Spark's event log says of a search: `spark.eventLog.enabled` stands, and names say level and phase."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from support.oracles.results import CASES
from support.spark.checks import checked_on_spark
from support.spark.cluster import waited_for
from support.specs.small import model_of

from kmc.shards.level.sharding import Sharding
from kmc_spark.jobs import Jobs

SMALL = Sharding(2, task_rows=3, segment_rows=2, slice_chunks=1, slots_min=8, piece=3, batch=2, chunk_rows=2)

pytestmark = pytest.mark.slow


def events_in(folder: Path, application: str) -> list[dict[str, Any]]:
    """What the log of an application that still runs holds now."""
    (log,) = folder.glob(f"{application}*")
    lines = log.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def until_last_job(folder: Path, application: str, before: int) -> list[dict[str, Any]] | None:
    """The events from number `before` on, once the last job is among them."""
    events = events_in(folder, application)[before:]
    return events if any("the last job" in json.dumps(event) for event in events) else None


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("by_files", [False, True])
def test_jobs_and_stages_say_level_and_phase(
    by_files: bool, local_spark: SparkContext, event_logs: Path, tmp_path: Path
) -> None:
    before = len(events_in(event_logs, local_spark.applicationId))
    case = CASES["invariant"]
    model = model_of(tmp_path, case.source, case.cfg)
    found = checked_on_spark(local_spark, model, tmp_path, sharding=SMALL, thin_rows=0, by_files=by_files)
    # The log is written a moment after a job has ended.
    Jobs(local_spark).run("the last job", local_spark.parallelize([1], 1).collect)
    events = waited_for(lambda: until_last_job(event_logs, local_spark.applicationId, before), "the event log")
    jobs = [event for event in events if event["Event"] == "SparkListenerJobStart"]
    told = [
        (job["Properties"].get("spark.job.description"), [stage["Stage Name"] for stage in job["Stage Infos"]])
        for job in jobs
    ]
    assert len(found.levels) == 3
    expand, merge = "level 2: expand 1 tasks", "level 2: merge 2 shards"
    if by_files:
        assert [job for job in told if "level 2: e" in job[0] or "level 2: m" in job[0]] == [
            (expand, [expand]),
            (merge, [merge]),
        ]
    else:
        assert (f"{expand}, merge 2 shards", [expand, merge]) in told
    assert ("compare the executors with the driver", ["compare the executors with the driver"]) in told
    assert ("level 3: check properties", ["level 3: check properties"]) in told
    assert ("level 2: find states", ["level 2: find states"]) in told
