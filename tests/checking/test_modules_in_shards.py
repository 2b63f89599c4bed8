"""TLA+ modules whose states are in shards: the figures, traces and errors are those of a search in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kmc.checking.modules import native_search
from kmc.checking.modules.check_module import ModuleRequest, check_loaded_module, load_module
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.checking.search_place import InMemory, InShards, SearchPlace
from kmc.checking.surroundings import Surroundings
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import ExitStatus
from kmc.result import Limits
from kmc.tla.shapes.observation import ObservedExtent

CHECKED = Path(__file__).parents[1] / "data" / "tla" / "checked"
LEASE = Path(__file__).parents[2] / "docs" / "tla" / "Lease"
SHARDS = InShards(3)
COUNTER = """---- MODULE Counter ----
EXTENDS Naturals
VARIABLE n
Init == n = 0
Next == n < 40 /\\ n' = n + 1
Small == n < 33
====
"""


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[RunDirectory]:
    with closing(RunDirectory.created(tmp_path, {})) as created:
        yield created


def checked(
    module: Path, configuration: Path, place: SearchPlace, around: Surroundings, depth: int | None = None
) -> Outcome:
    request = ModuleRequest(
        module.with_suffix(".tla"),
        configuration.with_suffix(".cfg"),
        limits=Limits(depth=depth),
        engine=Engine.NATIVE,
        threads=2,
        place=place,
    )
    return check_loaded_module(request, load_module(request), around)


def figures(outcome: Outcome) -> tuple[object, ...]:
    result = outcome.result
    found = result.violation
    return (
        outcome.status,
        (result.counters.generated, result.counters.distinct, result.counters.depth),
        (result.levels, result.generated_by_action, result.properties),
        None if found is None else (found.name, found.trace, str(found.error)),
    )


@pytest.mark.parametrize(
    ("module", "configuration"),
    [
        ("Tower", "Tower"),
        ("Pool", "PoolSymmetry"),
        ("Broken", "Broken"),
        ("Broken", "BrokenAssert"),
        ("Broken", "BrokenInvariant"),
    ],
)
def test_results_are_those_of_a_search_in_memory(module: str, configuration: str, directory: RunDirectory) -> None:
    paths = CHECKED / module, CHECKED / configuration
    ours = checked(*paths, SHARDS, Surroundings(lambda: directory))
    theirs = checked(*paths, InMemory(), Surroundings())
    assert figures(ours) == figures(theirs)


def test_types_that_are_too_narrow_start_the_search_again(
    directory: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(native_search, "EXTENT", ObservedExtent(states_max=1, steps_max=0))
    path = tmp_path / "Counter"
    path.with_suffix(".tla").write_text(COUNTER)
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Small\n")
    notes: list[str] = []
    ours = checked(path, path, SHARDS, Surroundings(lambda: directory, note=notes.append))
    assert notes[0].endswith("the search starts again with wider types.")
    assert figures(ours) == figures(checked(path, path, InMemory(), Surroundings()))
    assert ours.result.violation is not None
    assert len(ours.result.violation.trace) == 34


def test_a_run_in_shards_goes_on(directory: RunDirectory, tmp_path: Path) -> None:
    part = checked(LEASE, LEASE, SHARDS, Surroundings(lambda: directory), depth=3)
    assert (part.status, part.result.counters.depth) == (ExitStatus.BOUND_REACHED, 3)
    directory.close()
    with closing(RunDirectory.opened(tmp_path)) as opened:
        whole = checked(LEASE, LEASE, SHARDS, Surroundings(lambda: opened))
    assert figures(whole) == figures(checked(LEASE, LEASE, InMemory(), Surroundings()))
