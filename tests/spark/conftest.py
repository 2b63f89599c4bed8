"""One Spark context for all tests of a process: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark import SparkContext

from kmc_spark.session import spark_context


@pytest.fixture(scope="package")
def local_spark() -> Iterator[SparkContext]:
    """A context with two slots on this machine."""
    with spark_context("local[2]", "kmc tests") as context:
        yield context
