"""A search on Spark whose files lie on a server that is compatible with S3: the result, and what the probe says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from support.oracles.results import told
from support.runs.s3_server import S3Server
from support.runs.stored import begun, left_in
from support.spark.checks import DIVIDED, told_of_smoke
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.layout.search_outcome import Settings
from kmc.errors import SystemFault
from kmc.result import Limits
from kmc.shards.storage.run_in_storage import place_of, store_of
from kmc_spark import probe
from kmc_spark.jobs import Jobs
from kmc_spark.on_spark import sharded_on_spark


@pytest.mark.slow
@pytest.mark.parametrize("by_files", [False, True])
def test_a_search_on_spark_in_a_storage_has_the_native_result(
    by_files: bool, local_spark: SparkContext, s3: S3Server, tmp_path: Path
) -> None:
    address = s3.address(tmp_path.name)
    directory = begun(tmp_path / "run", address)
    model, settings = shipped_model("kraft", "smoke"), Settings(save_seconds=1e9)
    search_of = sharded_on_spark(local_spark, DIVIDED, thin_rows=500, by_files=by_files)
    found = check_native(model, Limits(), directory=directory, settings=settings, search_of=search_of)
    assert told(found) == told_of_smoke()
    directory.discard()
    assert left_in(address) == []


@pytest.mark.slow
def test_a_storage_that_executors_cannot_use_is_refused(
    local_spark: SparkContext, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = begun(tmp_path / "run", s3.address(tmp_path.name))
    place = place_of(directory).elsewhere
    probe.probe(local_spark, store_of(directory), place)
    wrong = place.storage.replace("kmc-bucket", "no-such-bucket") if place.storage else ""
    with pytest.raises(SystemFault, match="cannot use s3://no-such-bucket") as caught:
        probe.probe(local_spark, store_of(directory), type(place)("", wrong))
    assert (caught.value.code, "credentials" in (caught.value.help or "")) == ("KMC562", True)
    directory.discard()


@pytest.mark.slow
def test_a_storage_that_fails_now_and_then_is_used(local_spark: SparkContext, s3: S3Server, tmp_path: Path) -> None:
    directory = begun(tmp_path / "run", s3.address(tmp_path.name))
    with s3.failing(1, 4, path="words-", methods=("GET",)) as asked:
        probe.probe(local_spark, store_of(directory), place_of(directory).elsewhere)
    assert asked[0] > 4
    directory.discard()


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        ("cannot read s3://a/b: AWS Error SLOW_DOWN during GetObject operation: Reduce your rate.", "KMC573"),
        ("cannot read s3://a/b: AWS Error UNKNOWN (HTTP status 503) during HeadObject operation", "KMC573"),
        ("cannot read s3://a/b: AWS Error ACCESS_DENIED during HeadObject operation", "KMC562"),
        ("cannot read s3://a/b: AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7", "KMC562"),
        ("pyarrow is not installed", "KMC562"),
    ],
)
def test_a_busy_storage_is_not_a_matter_of_access(
    trouble: str, code: str, local_spark: SparkContext, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = begun(tmp_path / "run", s3.address(tmp_path.name))

    def found(*_: Any) -> list[probe.Found]:
        return [probe.Found("host7", trouble, None)]

    monkeypatch.setattr(Jobs, "run", found)
    with pytest.raises(SystemFault, match=r"executor on host7") as caught:
        probe.probe(local_spark, store_of(directory), place_of(directory).elsewhere)
    assert (caught.value.code, trouble in caught.value.message) == (code, True)
    directory.discard()
