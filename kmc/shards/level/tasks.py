"""The tasks of a level: some expand segments, some merge a shard; and the result of each.

All of it is plain data that travels between processes. Rows and fingerprints stay in files; a driver holds a few
numbers for each task.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass

from kmc.engine.layout.frontier import PackedState
from kmc.engine.native.memory import Words
from kmc.shards.files.frontier_file import FrontierFile
from kmc.shards.files.range_files import RangeBlock
from kmc.shards.files.section_files import SectionFile
from kmc.shards.files.word_files import WordFile
from kmc.shards.level.noted_steps import NotedSteps


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """One segment of a file."""

    file: FrontierFile
    number: int

    @property
    def rows(self) -> int:
        """The number of its rows, refused ones too."""
        return self.file.segments[self.number]

    def __reduce__(self) -> tuple[type[SegmentRef], tuple[FrontierFile, int]]:
        """Pickle it in a third of the time that a dataclass takes: a level of a cluster has a million of them."""
        return SegmentRef, (self.file, self.number)


@dataclass(frozen=True, slots=True)
class LevelSource:
    """The part that all tasks which read one level share. It travels once for all of them.

    `bits` are the answers of all shards to the entries of the level's rows: None for a shard that received nothing, and
    no answer at all if every row is a state of the level. `dictionary` holds the words that have codes. `wanted` is the
    mask of the reachable properties to look for. A task reports `uncoded_max` words without a code at most.
    """

    bits: tuple[RangeBlock | None, ...]
    dictionary: WordFile
    wanted: int = 0
    listing: bool = True
    uncoded_max: int = 1 << 16


@dataclass(frozen=True, slots=True)
class RowsTask:
    """Some segments of a level, to be read; what they lead to is level `level`."""

    level: int
    number: int
    segments: tuple[SegmentRef, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """The duration of a task in seconds, its CPU time in seconds, and its process and host."""

    cpu_seconds: float
    seconds: float
    process: tuple[str, int]

    @classmethod
    def since(cls, began: tuple[float, float]) -> Effort:
        """The time that this thread used since `clocks` returned `began`."""
        cpu, now = clocks()
        return cls(cpu - began[0], now - began[1], this_process())


def clocks() -> tuple[float, float]:
    """The CPU time of this thread, and a time that only rises."""
    return time.thread_time(), time.monotonic()


def this_process() -> tuple[str, int]:
    """The name of this host, and the number of this process on it."""
    return platform.node(), os.getpid()


@dataclass(frozen=True, slots=True)
class ExpandTask:
    """Expand the rows of a level for so many shards. `initial` are states without a source. `noted`: the steps are
    written too.
    """

    rows: RowsTask
    shards: int
    initial: tuple[PackedState, ...] = ()
    noted: bool = False


@dataclass(frozen=True, slots=True)
class Expanded:
    """The result of expanding. Its figures count states and steps that no other task counts, but for `violating`.

    `file` holds the new rows, None if there are none; `sent` counts the entries for shards, which travel apart, and
    `sent_sum` is their sum by `sent_sums`. `expanded` and `refused` are rows that were read. `steps_failed` counts by
    action property. `violating` is whether some new row violates an invariant; it counts only if the row's owner
    accepts the row. `uncoded` are words without a code. For the behaviour graph, `steps` are those of the rows that
    were read, and `states` has the masks of the atoms that hold in each new row, if there are atoms.
    """

    number: int
    file: FrontierFile | None
    sent: int
    sent_sum: int
    generated: tuple[int, ...]
    expanded: int
    refused: int
    cut: int
    reached: int
    steps_failed: tuple[int, ...]
    violating: bool
    findings: Words
    uncoded: tuple[int, ...]
    effort: Effort
    steps: NotedSteps | None = None
    states: SectionFile | None = None


@dataclass(frozen=True, slots=True)
class SortedRun:
    """A run of a shard: `count` fingerprints. `checksum` is that of all words of the file."""

    name: str
    words: int
    count: int
    buckets: int
    checksum: int


@dataclass(frozen=True, slots=True)
class MergeTask:
    """Find out which candidates of a shard are new. With `store`, they become known; else they are only answered.

    `noted`: their fingerprints are written as those of one level too.
    """

    level: int
    shard: int
    runs: tuple[SortedRun, ...]
    store: bool = True
    noted: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a shard: the bits for all tasks, the number of new fingerprints, and its runs from now on.

    There are no `bits` if it received nothing. `received` counts entries, `received_sum` is their sum by `sent_sums`,
    and `distinct` counts the different fingerprints among them. `digest` is a sum over the new ones. `replaced` are the
    runs that were merged into a new one. `found` has the new fingerprints, if they were to be recorded.
    """

    shard: int
    bits: RangeBlock | None
    new: int
    received: int
    received_sum: int
    distinct: int
    digest: int
    runs: tuple[SortedRun, ...]
    replaced: tuple[str, ...]
    written_bytes: int
    effort: Effort
    found: SectionFile | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """The results of the properties on accepted rows: violations by invariant, and findings."""

    number: int
    failed: tuple[int, ...]
    reached: int
    findings: Words


@dataclass(frozen=True, slots=True)
class SeekTask:
    """Find the rows whose fingerprints are targets, or that have a step to one."""

    rows: RowsTask
    targets: tuple[int, ...]
    steps: bool
