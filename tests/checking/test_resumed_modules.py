"""Runs of TLA+ modules that go on: with the translation that they were begun with, wherever the module is by then."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kmc.checking.modules import native_search, native_translation
from kmc.checking.modules.check_module import ModuleRequest, check_loaded_module, load_module
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.checking.surroundings import Surroundings
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SystemFault
from kmc.result import Limits
from kmc.tla.shapes.observation import ObservedExtent

MODULE = """---- MODULE Counter ----
EXTENDS Naturals, Sequences
VARIABLES n, log
Init == n = 0 /\\ log = <<>>
Next == n < 40 /\\ n' = n + 1 /\\ log' = IF n % 8 = 0 THEN Append(log, n) ELSE log
Small == n < 90
====
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def counter(tmp_path: Path) -> Callable[..., Outcome]:
    """A check of the counter, natively."""
    path = tmp_path / "Counter.tla"
    path.write_text(MODULE)
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Small\nCHECK_DEADLOCK FALSE\n")

    def check(**more: Any) -> Outcome:
        return checked(path, **more)

    return check


def checked(path: Path, engine: Engine = Engine.NATIVE, around: Surroundings | None = None, **more: Any) -> Outcome:
    request = ModuleRequest(path, path.with_suffix(".cfg"), engine=engine, threads=1, **more)
    return check_loaded_module(request, load_module(request), around or Surroundings())


def figures(outcome: Outcome) -> tuple[object, ...]:
    result = outcome.result
    return outcome.status, result.counters.generated, result.levels, result.generated_by_action, result.properties


def test_a_run_goes_on_with_the_translation_that_it_was_begun_with(
    counter: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_search, "EXTENT", ObservedExtent(states_max=3, steps_max=0))
    notes: list[str] = []
    folder = tmp_path / "run"
    folder.mkdir()
    with closing(RunDirectory.created(folder, {})) as directory:
        around = Surroundings(lambda: directory, note=notes.append)
        outcome = counter(around=around, limits=Limits(depth=36))
    assert notes
    assert outcome.result.counters.distinct == 36
    for path in (tmp_path / "cache").rglob("*.*"):
        path.unlink()
    monkeypatch.setattr(native_translation, "observe", None)
    monkeypatch.chdir(tmp_path)  # the module is typed otherwise
    with closing(RunDirectory.opened(folder)) as directory:
        again = checked(Path("Counter.tla"), around=Surroundings(lambda: directory))
        assert directory.ended
        directory.discard()
    assert not (folder / "checkpoint").exists()
    assert figures(again) == figures(counter(engine=Engine.PYTHON))


def test_a_module_that_changed_leaves_the_run_as_it_is(counter: Callable[..., Outcome], tmp_path: Path) -> None:
    path, folder = tmp_path / "Counter.tla", tmp_path / "run"
    folder.mkdir()
    with closing(RunDirectory.created(folder, {})) as directory:
        counter(around=Surroundings(lambda: directory), limits=Limits(depth=9))
    path.write_text(MODULE.replace("n < 40", "n < 41"))
    for _ in range(2):
        with closing(RunDirectory.opened(folder)) as directory, pytest.raises(SystemFault, match="changed"):
            counter(around=Surroundings(lambda: directory))
    path.write_text(MODULE)
    with closing(RunDirectory.opened(folder)) as directory:
        outcome = counter(around=Surroundings(lambda: directory))
    assert figures(outcome) == figures(counter(engine=Engine.PYTHON))


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b'{"model": 1, "files": {"../x": "y"}, "record": {}}'])
def test_a_translation_that_is_damaged_is_made_anew(
    damage: bytes, counter: Callable[..., Outcome], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with closing(RunDirectory.created(folder, {})) as directory:
        counter(around=Surroundings(lambda: directory), limits=Limits(depth=9))
    (folder / "checkpoint" / "translation.json").write_bytes(damage)
    with closing(RunDirectory.opened(folder)) as directory:
        again = counter(around=Surroundings(lambda: directory))
    assert figures(again) == figures(counter(engine=Engine.PYTHON))


def test_a_run_that_was_stopped_before_its_first_level_begins_anew(
    counter: Callable[..., Outcome], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with closing(RunDirectory.created(folder, {})) as directory:
        directory.begin({"the spec or its model": "another translation"})
        directory.save_translation(b"")
    with closing(RunDirectory.opened(folder)) as directory:
        outcome = counter(around=Surroundings(lambda: directory))
    assert figures(outcome) == figures(counter(engine=Engine.PYTHON))
