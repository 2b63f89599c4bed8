"""Checks of models on a Spark context, with few levels or none made in the driver."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from support.oracles.results import told
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.frontend.model import Model
from kmc.liveness.problem import TemporalProblem
from kmc.result import Limits, Result
from kmc.shards.level.sharding import Sharding
from kmc_spark.on_spark import sharded_on_spark

DIVIDED = replace(Sharding(3), segment_rows=64, task_rows=300)
"""So that a level of some hundred rows is several tasks."""

THIN_ROWS = 500
"""Half of the levels of `kraft smoke` have more."""


def checked_on_spark(
    context: SparkContext,
    model: Model,
    folder: Path,
    limits: Limits | None = None,
    *,
    keep_going: bool = False,
    sharding: Sharding = DIVIDED,
    bits: int = 64,
    thin_rows: int = THIN_ROWS,
    by_files: bool = False,
    save_seconds: float = 1e9,
    history_bytes: int = 1 << 28,
    start: Any = None,
    problem: TemporalProblem | None = None,
) -> Result:
    """The result of a check; its folder is left as it is if it raises."""
    directory = RunDirectory.created(folder, {})
    try:
        found = check_native(
            model,
            limits or Limits(),
            keep_going=keep_going,
            start=start,
            problem=problem,
            fingerprint_bits=bits,
            directory=directory,
            settings=Settings(save_seconds=save_seconds, history_bytes=history_bytes),
            search_of=sharded_on_spark(context, sharding, by_files=by_files, thin_rows=thin_rows),
        )
        directory.discard()
    finally:
        directory.close()
    return found


@cache
def told_of_smoke() -> dict[str, Any]:
    """What the native engine says of `kraft smoke`."""
    return told(check_native(shipped_model("kraft", "smoke"), Limits()))
