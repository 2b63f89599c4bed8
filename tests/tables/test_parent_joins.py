"""Parents that are found at the owners of fingerprints are those that are found level by level."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.oracles.results import CASES
from support.runs.kept import SMALL, checked, kept, written_by_threads
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.frontend.model import Model
from kmc.result import Limits
from kmc.tables.parent_joins import parent_rows, records_for
from kmc.tables.parts import parts_of
from kmc.tables.state_tables import StateReader
from kmc.tables.write_tables import Wanted

pytestmark = pytest.mark.usefixtures("compiled_once_in_module")


def both(model: Model, folder: Path, owners: int, bits: int = 64) -> tuple[list[Any], list[Any]]:
    """The parents that a file of `kmc states` has, and those of all owners, in the order of the states."""
    with kept(model, folder, bits) as (compiled, states):
        reader = StateReader(compiled.spec, states.store, states.state.shards)
        sent = defaultdict(list)
        for part in parts_of(states, 7):
            for owner, known, steps in records_for(reader, part, owners):
                sent[owner].append((known, steps))
        # What comes late is not told apart.
        batches = [parent_rows(compiled.spec, *zip(*records[::-1], strict=True)) for records in sent.values()]
        empty = parent_rows(compiled.spec, [], [])
        assert (empty.num_rows, empty.schema) == (0, batches[0].schema)
        wanted = Wanted(columns=(), parents=True)
        written_by_threads(compiled.spec, states, folder / "t", wanted, threads=1, part_rows=1 << 20)
    assert all(batch.column("id").to_pylist() == sorted(batch.column("id").to_pylist()) for batch in batches)
    rows = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: row["id"])
    return pq.read_table(folder / "t" / "parents").to_pylist(), rows


@pytest.mark.parametrize(
    ("owners", "bits"),
    [(5, 64), pytest.param(1, 64, marks=pytest.mark.slow), pytest.param(3, 128, marks=pytest.mark.slow)],
)
def test_parents_of_a_shipped_model_are_the_same(owners: int, bits: int, tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, bits=bits, limits=Limits(depth=8))
    wanted, found = both(model, tmp_path, owners, bits)
    assert found == wanted
    assert len(found) > 100


@pytest.mark.parametrize("name", ["both symmetric, going on", "a view, symmetry and violations", "constraint"])
@pytest.mark.slow
def test_parents_of_a_small_spec_are_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    checked(model, tmp_path, SMALL, limits=case.limits, keep_going=case.keep_going)
    wanted, found = both(model, tmp_path, 4)
    assert found == wanted


RETURNS = """
class State(Record):
    n: Int(0, 5)

@spec.init
def init():
    yield State(n=0)
    yield State(n=3)

@spec.action
def onward(st):
    if st.n < 5:
        yield st.set(n=st.n + 1)

@spec.action
def back(st, to: Int(0, 5)):
    if to <= st.n:
        yield st.set(n=to)
"""
"""Steps lead back to all earlier states, to the first ones too, and from each state to itself."""


def test_steps_that_lead_back_make_no_parents(tmp_path: Path) -> None:
    model = model_of(tmp_path, RETURNS, "CHECK_DEADLOCK FALSE")
    checked(model, tmp_path)
    wanted, found = both(model, tmp_path, 2)
    assert found == wanted
    assert [row["id"] for row in found] == [2, 3, 4, 5], "all but the two first states"
