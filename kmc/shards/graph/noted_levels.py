"""The records of all tasks of one level for the behaviour graph, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kmc.engine.files.run_manifest import Snapshot
from kmc.shards.files.section_files import SectionFile
from kmc.shards.level.noted_steps import NotedSteps
from kmc.shards.level.run_state import NotedLevel
from kmc.shards.level.tasks import Expanded, Merged


def noted_steps(expanded: Sequence[Expanded]) -> tuple[NotedSteps, ...]:
    """The steps of a level that was expanded."""
    return tuple(answer.steps for answer in expanded if answer.steps is not None)


def noted_states(expanded: Sequence[Expanded]) -> tuple[SectionFile, ...]:
    """The atoms that hold in the rows that a level made."""
    return tuple(answer.states for answer in expanded if answer.states is not None)


def with_level(
    noted: tuple[NotedLevel, ...], expanded: Sequence[Expanded], merged: Sequence[Merged], made: Snapshot, digest: int
) -> tuple[NotedLevel, ...]:
    """The levels recorded before, of which the last was expanded, and the new level, with its figures."""
    before = (*noted[:-1], replace(noted[-1], steps=noted_steps(expanded))) if noted else ()
    files = tuple(answer.found for answer in merged if answer.found is not None)
    return (*before, NotedLevel(replace(made, levels=(), findings=()), digest, files, noted_states(expanded)))
