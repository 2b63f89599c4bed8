"""One Spark context at a time and one cluster for all tests of a process: starting them takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from support.runs.s3_server import CREDENTIALS
from support.spark.cluster import Cluster, standalone_cluster
from support.spark.sessions import Sessions, submit_arguments


@pytest.fixture(scope="session")
def sessions() -> Iterator[Sessions]:
    """The contexts of this process, whose workers may use the server of the fixture `s3`."""
    found = Sessions()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        try:
            yield found
        finally:
            found.end()


@pytest.fixture(scope="session")
def event_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `local_spark` writes its event log."""
    return tmp_path_factory.mktemp("event_logs")


@pytest.fixture
def local_spark(sessions: Sessions, event_logs: Path) -> SparkContext:
    """A context with two slots on this machine."""
    settings = ("enabled=true", f"dir={event_logs.as_uri()}", "rolling.enabled=false", "compress=false")
    arguments = " ".join([*(f"--conf spark.eventLog.{setting}" for setting in settings), "pyspark-shell"])
    return sessions.context("local[2]", arguments)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers."""
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def fault_file(cluster: Cluster) -> Iterator[Path]:
    """Where a test plants what fails in the workers of `cluster_spark`."""
    file = cluster.folder / "fault.json"
    yield file
    for left in cluster.folder.glob(f"{file.name}*"):
        left.unlink()


@pytest.fixture
def cluster_spark(cluster: Cluster, sessions: Sessions, fault_file: Path) -> SparkContext:
    """A context on the cluster, with an executor on each worker."""
    return sessions.context(cluster.master, submit_arguments(fault_file))
