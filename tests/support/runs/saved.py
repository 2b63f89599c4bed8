"""Searches of small grids in a run directory: begun, cut short, and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.kernels.grid import Grid

from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.search.breadth_first import Search

TINY: dict[str, Any] = {
    "deadlock": False,
    "chunk_rows": 2,
    "batch": 3,
    "table_slots": 2,
    "block_words": 512,
    "save_seconds": 0.0,
    "keep_going": True,
}


GRIDS = (
    Grid(3, 6, sum=5),
    Grid(3, 6, forgets=True, sum=4),
    Grid(3, 6, wall=3, sum=6, steps=True),
    Grid(3, 5, forgets=True, wall=3),
)


DIGESTS = {"the grid": "1"}


def told(outcome: SearchOutcome) -> tuple[Any, ...]:
    """What must not depend on how often a search was cut short."""
    return (
        outcome.levels,
        (outcome.generated, outcome.cut, outcome.distinct, outcome.expanded, outcome.initial),
        outcome.generated_by_action,
        outcome.failed,
        outcome.reached,
        outcome.findings,
        outcome.stopped,
    )


def whole(grid: Grid) -> tuple[Any, ...]:
    """What a search finds that nothing cuts short."""
    return told(Search(grid.kernels, grid.initial, Settings(**TINY)).run())


def begin(path: Path) -> RunDirectory:
    """A new run directory."""
    path.mkdir(parents=True, exist_ok=True)
    directory = RunDirectory.created(path, {})
    directory.begin(DIGESTS)
    return directory


def search_in(directory: RunDirectory, grid: Grid, **settings: Any) -> Search:
    """A search that saves each level."""
    return Search(grid.kernels, grid.initial, Settings(**{**TINY, **settings}), directory=directory)


def go_on(path: Path, grid: Grid, **settings: Any) -> SearchOutcome:
    """Resume the run in a folder."""
    directory = RunDirectory.opened(path)
    try:
        directory.begin(DIGESTS)
        return search_in(directory, grid, **settings).run()
    finally:
        directory.close()
