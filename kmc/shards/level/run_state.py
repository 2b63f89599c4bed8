"""The state of a sharded search at the end of a level: its files and figures, and their form in a manifest.

Invariant: it speaks of files that are there, and of whole levels. All that a search needs to go on, in this process or
another, is this and the files that it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kmc.engine.files.run_manifest import Snapshot
from kmc.engine.files.typed_json import plain, typed
from kmc.engine.native.memory import WORD_BYTES
from kmc.shards.files.frontier_file import FrontierFile
from kmc.shards.files.range_files import RangeBlock
from kmc.shards.files.section_files import SectionFile
from kmc.shards.files.word_files import WordFile
from kmc.shards.level.noted_steps import NotedSteps
from kmc.shards.level.sharding import SHARDS_MAX
from kmc.shards.level.tasks import Merged, SortedRun


@dataclass(frozen=True, slots=True)
class LevelFiles:
    """The rows of one level as its tasks wrote them, and the bits that mark which of them are its states.

    `bits` has a place for each shard that the level was made with: None for one that received nothing. Several shards
    may have theirs in one file.
    """

    rows: tuple[FrontierFile, ...]
    bits: tuple[RangeBlock | None, ...]

    @property
    def names(self) -> set[str]:
        """The names of its files."""
        return {file.name for file in self.rows} | {block.name for block in self.bits if block is not None}

    @property
    def bytes(self) -> int:
        """The sizes of its files."""
        words = sum(file.words for file in self.rows) + sum(block.words for block in self.bits if block is not None)
        return words * WORD_BYTES


@dataclass(frozen=True, slots=True)
class NotedLevel:
    """The files of one level for the behaviour graph.

    `found`: the fingerprints of its states. `states`: the atoms that hold in them. `steps`: their steps, once the level
    is expanded. `figures`: the counts of the search when the level was complete, without levels and findings. `digest`:
    that of `RunState` then.
    """

    figures: Snapshot
    digest: int
    found: tuple[SectionFile, ...] = ()
    states: tuple[SectionFile, ...] = ()
    steps: tuple[NotedSteps, ...] = ()

    @property
    def files(self) -> Iterator[SectionFile]:
        """Its files."""
        yield from self.found
        yield from self.states
        for noted in self.steps:
            yield from (noted.sources, noted.steps)


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of the search so far, in bytes but for the first three, which count entries and fingerprints.

    `sent` are the entries from tasks to owners, `distinct` the number of different fingerprints among them, level by
    level.
    """

    sent: int = 0
    distinct: int = 0
    merges: int = 0
    sent_bytes: int = 0
    rows_bytes: int = 0
    runs_bytes: int = 0

    def and_of(self, merged: tuple[Merged, ...], rows_bytes: int, entry_bytes: int) -> Traffic:
        """The sum with the traffic of one level."""
        sent = sum(answer.received for answer in merged)
        return Traffic(
            self.sent + sent,
            self.distinct + sum(answer.distinct for answer in merged),
            self.merges + len(merged),
            self.sent_bytes + sent * entry_bytes,
            self.rows_bytes + rows_bytes,
            self.runs_bytes + sum(answer.written_bytes for answer in merged),
        )


@dataclass(frozen=True, slots=True)
class RunState:
    """The files of a search after its last level. `levels` are those kept, by number; the last one is among them.

    `shards` is the requested number, and `runs` has those in use: see `Sharding`. `noted` has an entry per level, the
    first level first, if the behaviour graph is wanted. `digest` is a sum over all known fingerprints: equal sets have
    equal digests, whichever search found them. If the result of a search is about its first levels only,
    `counted_levels` is their number. The files are those of the whole search.
    """

    shards: int
    dictionary: WordFile
    met: WordFile
    levels: Mapping[int, LevelFiles] = field(default_factory=dict)
    runs: tuple[tuple[SortedRun, ...], ...] = ()
    digest: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    noted: tuple[NotedLevel, ...] = ()
    counted_levels: int | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names of all files that it needs."""
        files = {self.dictionary.name, self.met.name}
        files.update(name for level in self.levels.values() for name in level.names)
        files.update(run.name for runs in self.runs for run in runs)
        files.update(file.name for level in self.noted for file in level.files)
        return frozenset(files)

    @property
    def fingerprints(self) -> int:
        """The number of known fingerprints."""
        return sum(run.count for runs in self.runs for run in runs)

    @property
    def bytes(self) -> int:
        """The sizes of these files."""
        words = self.dictionary.words + self.met.words + sum(run.words for runs in self.runs for run in runs)
        words += sum(file.words for level in self.noted for file in level.files)
        return words * WORD_BYTES + sum(level.bytes for level in self.levels.values())

    def within(self, level_bytes: int) -> tuple[RunState, list[str]]:
        """With so many bytes of levels at most, but for the last one, and the names of the files that go."""
        levels, dropped = dict(self.levels), list[str]()
        size = sum(files.bytes for files in levels.values())
        for old in sorted(levels)[:-1]:
            if size <= level_bytes:
                break
            size -= levels[old].bytes
            dropped += levels.pop(old).names
        return replace(self, levels=levels), dropped

    def ended_at(self, levels: int) -> RunState:
        """The state of a search that ended when it had made so many levels, all of which were recorded."""
        *before, last = self.noted[:levels]
        return replace(
            self,
            levels={depth: files for depth, files in self.levels.items() if depth <= levels},
            digest=last.digest,
            noted=(*before, replace(last, steps=())),
            counted_levels=levels,
        )

    def as_json(self) -> dict[str, Any]:
        """The JSON of this state in a manifest."""
        return {**plain(replace(self, levels={})), "levels": {str(n): plain(x) for n, x in self.levels.items()}}


def restored_state(saved: Mapping[str, Any], snapshot: Snapshot) -> RunState:
    """Restore the state that `as_json` gave of a search with these counts; ValueError for anything else."""
    state = typed(RunState, saved)
    levels = len(snapshot.levels)
    kept, counted = state.levels.keys(), state.counted_levels
    is_whole = (
        1 <= len(state.runs) <= SHARDS_MAX
        and 1 <= state.shards <= SHARDS_MAX
        and (counted is None or 1 <= counted <= levels)
        and kept <= set(range(1, levels + 1))
        and all(files.bits and all(rows.segments for rows in files.rows) for files in state.levels.values())
        and len(state.noted) in (0, levels)
        and state.fingerprints == snapshot.stored
    )
    if not is_whole:
        raise ValueError("its files are not those of its levels")
    return state
