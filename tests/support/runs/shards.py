"""Entries and runs of shards for tests, beside plain Python sets: what a merge must answer, worked out slowly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.native.memory import Words
from kmc.shards.files.range_files import read_range
from kmc.shards.files.store import FolderStore
from kmc.shards.level.run_state import RunState
from kmc.shards.level.tasks import Merged, SortedRun

Fingerprint = tuple[int, ...]
"""One word or two, as unsigned numbers."""

Entry = tuple[int, ...]
"""The words of a fingerprint, and a rank where there are ranks."""


def store_in(folder: Path) -> FolderStore:
    """A store of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return FolderStore(DurableFolder(folder))


def drop_rows(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, searches in shards keep the rows of their last level only, as after 256 MiB of rows.

    A counterexample needs a second search then. A search that is told to keep its states does.
    """
    within = RunState.within
    patch.setattr(RunState, "within", lambda state, level_bytes: within(state, 0))


def words_of(entries: Iterable[Entry]) -> Words:
    """Entries as a task sends them."""
    return np.array([word for entry in entries for word in entry], np.uint64).view(np.int64)


def fingerprints_in(store: FolderStore, run: SortedRun, width: int) -> list[Fingerprint]:
    """What a run holds, in its order."""
    words = store.read(run.name, run.words).array[: run.count * width].view(np.uint64)
    return [tuple(row) for row in words.reshape(-1, width).tolist()]


def bits_of(store: FolderStore, merged: Merged, counts: Sequence[int]) -> list[list[int]]:
    """What a shard answered to each of so many tasks, entry by entry."""
    if merged.bits is None:
        assert not any(counts), "entries have an answer"
        return [[] for _ in counts]
    found = []
    for task, count in enumerate(counts):
        words = read_range(store, merged.bits, merged.shard, task).view(np.uint64).tolist()
        assert len(words) == -(-count // 64)
        found.append([words[index // 64] >> index % 64 & 1 for index in range(count)])
    return found


def answer(tasks: Sequence[Sequence[Entry]], known: set[Fingerprint], width: int) -> list[list[int]]:
    """The bits that a shard must answer: of equal candidates, the least rank counts, and then the first."""
    best: dict[Fingerprint, tuple[int, int, int]] = {}
    for task, entries in enumerate(tasks):
        for index, entry in enumerate(entries):
            rank = entry[width] if len(entry) > width else 0
            key = entry[:width]
            if key not in known:
                best[key] = min(best.get(key, (1 << 64, 0, 0)), (rank, task, index))
    chosen = {(task, index) for _, task, index in best.values()}
    return [[int((task, index) in chosen) for index in range(len(entries))] for task, entries in enumerate(tasks)]
