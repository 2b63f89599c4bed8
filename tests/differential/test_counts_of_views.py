"""With a view, a violation counts once for each view in which it was met, as the states do, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.oracles.results import TINY
from support.specs.small import model_of

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import SearchFinding
from kmc.engine.stores import finding_log
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.result import Limits, Result
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

# Each level but the first has one view, in which the shapes 0, 1 and 2 meet. `Low` fails in two states of each of the
# views 3, 4 and 5, and `Even` in one of each view but 0. TLC checks only the first state of a view: that of shape 0.
COUNTED = """
class State(Record):
    total: Int(0, 5)
    shape: Int(0, 2)

spec.view("Total", drop=["shape"])

@spec.init
def init():
    yield State(total=0, shape=0)

@spec.action
def grow(st):
    if st.total < 5:
        for shape in range(0, 2 + 1):
            yield st.set(total=st.total + 1, shape=shape)

@spec.invariant
def Low(st):
    return st.total < 3 or st.shape == 0

@spec.invariant
def Even(st):
    return st.shape != 1
"""
MODULE = r"""---- MODULE Counted ----
EXTENDS Naturals
VARIABLES total, shape
Init == total = 0 /\ shape = 0
Next == total < 5 /\ total' = total + 1 /\ shape' \in 0..2
Total == total
Low == total < 3 \/ shape = 0
Even == shape # 1
====
"""


def on_every_engine(model: Model, folder: Path) -> Iterator[Result]:
    """Yield the results of both engines, and of searches in shards."""
    yield Search(model, keep_going=True, view_order=fingerprint_order).run()
    for threads in (1, 3):
        yield check_native(model, Limits(), threads=threads, settings=TINY, keep_going=True)
    directory = RunDirectory.created(folder, {})
    yield check_native(model, Limits(), directory=directory, search_of=sharded(Sharding(2)), keep_going=True)
    directory.discard()


def counts(result: Result) -> dict[str, int]:
    """Return how often each property is violated."""
    return {prop.name: prop.violations for prop in result.properties}


def test_a_violation_counts_once_in_each_view(tmp_path: Path) -> None:
    model = model_of(tmp_path / "spec", COUNTED, "INVARIANTS Low Even CHECK_DEADLOCK FALSE VIEW Total")
    found = [counts(result) for result in on_every_engine(model, tmp_path)]
    assert found == [{"Low": 3, "Even": 5}] * 4


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_a_violation_counts_once_in_each_view_of_a_module(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "Counted.tla"
    path.write_text(MODULE, encoding="utf-8")
    cfg = "INIT Init\nNEXT Next\nINVARIANTS Low Even\nVIEW Total\nCHECK_DEADLOCK FALSE\n"
    path.with_suffix(".cfg").write_text(cfg, encoding="utf-8")
    request = ModuleRequest(path, engine=engine, threads=1, keep_going=True)
    assert counts(check_module(request).result) == {"Low": 3, "Even": 5}


def test_a_count_for_each_state_of_a_view_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def count_each(log: finding_log.FindingLog, finding: SearchFinding) -> None:
        for index in range(log._invariants):
            log.counted[index] += finding.value >> index & 1

    monkeypatch.setattr(finding_log.FindingLog, "_count_once", count_each)
    model = model_of(tmp_path / "spec", COUNTED, "INVARIANTS Low Even CHECK_DEADLOCK FALSE VIEW Total")
    assert counts(check_native(model, Limits(), threads=1, keep_going=True)) == {"Low": 6, "Even": 5}
