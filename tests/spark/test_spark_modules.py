"""A TLA+ module on Spark: the figures and the trace of a search in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark import SparkContext

from kmc.checking.modules.check_module import ModuleRequest, check_loaded_module, load_module
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.checking.search_place import InMemory, SearchPlace
from kmc.checking.surroundings import Surroundings
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.model_search import SearchMaker
from kmc.shards.level.sharding import Sharding
from kmc_spark.on_spark import sharded_on_spark

CHECKED = Path(__file__).parents[1] / "data" / "tla" / "checked"

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class OnContext(InMemory):
    """Shards on a Spark application that runs already."""

    context: SparkContext

    @contextmanager
    def opened(self, note: Callable[[str], None]) -> Iterator[SearchMaker]:
        yield sharded_on_spark(self.context, Sharding(3), by_files=True, thin_rows=1)


@pytest.mark.parametrize("configuration", ["PoolSymmetry", "Pool"])
def test_a_module_has_one_result(configuration: str, tmp_path: Path, local_spark: SparkContext) -> None:
    with closing(RunDirectory.created(tmp_path, {})) as directory:
        ours = checked(configuration, OnContext(local_spark), Surroundings(lambda: directory))
    assert said(ours) == said(checked(configuration, InMemory(), Surroundings()))


def checked(configuration: str, place: SearchPlace, around: Surroundings) -> Outcome:
    path = CHECKED / "Pool.tla"
    request = ModuleRequest(path, path.with_name(f"{configuration}.cfg"), engine=Engine.NATIVE, place=place)
    return check_loaded_module(request, load_module(request), around)


def said(outcome: Outcome) -> tuple[object, ...]:
    result = outcome.result
    return result.verdict, result.counters.generated, result.levels, result.generated_by_action, result.properties
