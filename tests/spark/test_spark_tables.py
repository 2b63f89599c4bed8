"""Tables that are written on Spark have the rows of those that threads write."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark import SparkContext
from support.oracles.results import CASES
from support.runs.kept import SMALL, checked
from support.spark.tables import both_written, rows_of_both
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.errors import SystemFault
from kmc.result import Limits
from kmc.shards.storage.store_place import StorePlace

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("bits", [64, 128])
def test_tables_of_a_shipped_model_have_the_same_rows(bits: int, tmp_path: Path, local_spark: SparkContext) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, bits=bits, limits=Limits(depth=9))
    here, there = both_written(local_spark, model, tmp_path, part_rows=60, bits=bits)
    assert here == there
    for table, (wanted, found) in rows_of_both(tmp_path).items():
        assert wanted == found, table
        assert wanted
    assert len(list((tmp_path / "there" / "parents").iterdir())) >= 3
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("name", ["both symmetric, going on", "a view, symmetry and violations", "constraint"])
def test_tables_of_a_small_spec_have_the_same_rows(name: str, tmp_path: Path, local_spark: SparkContext) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    checked(model, tmp_path, SMALL, limits=case.limits, keep_going=case.keep_going)
    here, there = both_written(local_spark, model, tmp_path, part_rows=5)
    assert here == there
    for table, (wanted, found) in rows_of_both(tmp_path).items():
        assert wanted == found, table


def test_a_run_that_executors_do_not_see_is_refused(
    tmp_path: Path, local_spark: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=3))
    monkeypatch.setattr("support.spark.tables.place_of", lambda _: StorePlace.at(tmp_path / "elsewhere"))
    with pytest.raises(SystemFault, match="it is not there") as caught:
        both_written(local_spark, model, tmp_path, part_rows=100)
    assert caught.value.code == "KMC562"
    assert not (tmp_path / "there").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_file_is_an_error_and_no_table(tmp_path: Path, local_spark: SparkContext) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=5))
    file = sorted((tmp_path / "checkpoint").glob("rows-4-*"))[0]
    data = bytearray(file.read_bytes())
    data[8] ^= 1
    file.write_bytes(data)
    with pytest.raises(SystemFault) as caught:
        both_written(local_spark, model, tmp_path, part_rows=5, on_threads=False)
    assert caught.value.code == "KMC551"
    assert not (tmp_path / "there").exists()
    assert not list(tmp_path.glob(".*"))
