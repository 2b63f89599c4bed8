"""A model that does not look finite is said to be so, with the integer that rises; a shipped one never is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.specs.shipped import shipped_model

from kmc.checking.level_trend import growing_fields
from kmc.cli.text.progress_text import Scale, outlook
from kmc.engine.check_model import check_native
from kmc.frontend.growing_variables import GrowthWatch
from kmc.result import Counters, GrowingVariable, Limits

CLOCK = GrowingVariable("clock", 299, 1_000_000, 300)
TURN = GrowingVariable("turn", 299, 10_000, 300)
COUNTERS = Counters(10, 10, 1, 300, 10.0, 10, levels=(1,) * 300, growing=(TURN, CLOCK))
NOON = datetime(2026, 11, 20, 12)
ENDLESS = '''"""A clock that never stops."""
from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    clock: Int(0, 1_000_000)


@spec.init
def init():
    yield State(clock=0)


@spec.action
def tick(st):
    yield st.set(clock=st.clock + 1)


@spec.invariant
def Positive(st):
    return st.clock >= 0
'''


class _AlwaysWatching(GrowthWatch):
    """Looks at every level, and keeps all that grew at any of them."""

    grew: list[tuple[GrowingVariable, ...]]

    def __init__(self) -> None:
        super().__init__(share=0)

    def level_made(self, level: int, sample: Callable[[int], Iterable[Any]]) -> None:
        """Look, and note."""
        super().level_made(level, sample)
        if self.growing:
            type(self).grew.append(self.growing)


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_AlwaysWatching, "grew", [], raising=False)
    for place in ("kmc.engine.compiled_model", "kmc.reference.search"):
        monkeypatch.setattr(f"{place}.GrowthWatch", _AlwaysWatching)


def test_progress_names_the_one_with_the_farthest_bound() -> None:
    said = ["does not look finite: clock (and 1 more) rises, 299 at level 300", "its type allows 1,000,000"]
    assert growing_fields(COUNTERS.growing) == said
    assert outlook(COUNTERS, Scale(), NOON, None) == [*said, "levels of about 1 states"]
    # The manifest knows that it has an end.
    assert said[0] not in outlook(COUNTERS, Scale(expected=1000), NOON, None)
    assert outlook(replace(COUNTERS, growing=()), Scale(), NOON, None) == ["levels of about 1 states"]


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_search_that_was_cut_says_what_rises(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("endless").mkdir()
    Path("endless/spec.py").write_text(ENDLESS)
    words = ("check", "./endless", "--max-depth", "100", "--engine", engine, "--no-run-dir")
    said = "Does not look finite: clock rises, 99 at level 100, its type allows 1,000,000. Bound it"
    assert said in kmc(*words).stdout
    assert json.loads(kmc(*words, "--json").stdout)["growing"] == [
        {"name": "clock", "value": 99, "bound": 1_000_000, "level": 100}
    ]


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        ("kraft", "fair"),
        pytest.param("kraft", "smoke", marks=pytest.mark.slow),
        pytest.param("kraft", "two_elections", marks=pytest.mark.slow),
        pytest.param("kip_996", "add_voter", marks=pytest.mark.slow),
        pytest.param("kip_642", "grow", marks=pytest.mark.slow),
    ],
)
def test_a_shipped_model_never_looks_endless(spec: str, model: str) -> None:
    result = check_native(shipped_model(spec, model), Limits())
    assert len(result.levels) > 16
    assert _AlwaysWatching.grew == []
