"""The settings and results of a native search, as numbers and fingerprints; the layer above adds the names."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kmc.engine.layout import record_structs as r
from kmc.engine.layout.frontier import PackedState
from kmc.engine.native.memory import SIZE_MAX
from kmc.result import Bound, Limits, ShardFigures


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a search. Only `limits`, `deadlock` and `keep_going` change the result.

    `history_bytes`: frontiers of earlier levels are kept up to this size, for `Predecessors`.
    `save_seconds`: a run with a folder is saved at most so often; with 0, at the end of every level.
    `block_words`: the size of large blocks, a power of two. `spill_share`: with a limit of memory, the share of it
    that is used before blocks go to files.
    `keep_states`: of a search with its states in files, the folder holds the last level too when the search has ended.
    `schedule_seed`: for tests. With a seed, threads wait for each other at random, and batches have random sizes up to
    `batch`.
    """

    threads: int = 1
    limits: Limits = field(default=Limits())
    deadlock: bool = True
    keep_going: bool = False
    chunk_rows: int = 256
    batch: int = 128
    table_slots: int = 1 << 18
    history_bytes: int = 1 << 28
    schedule_seed: int | None = None
    save_seconds: float = 30.0
    block_words: int = SIZE_MAX
    spill_share: float = 0.8
    keep_states: bool = False


class FindingKind(Enum):
    """The kinds of finding, in the order in which findings of one length are reported."""

    ERROR = r.EXPAND_ERROR
    CHECK_ERROR = r.CHECK_ERROR
    DEADLOCK = r.NO_SUCCESSOR
    INVARIANT = r.INVARIANT
    STEP = r.ACTION_PROPERTY


@dataclass(frozen=True, slots=True)
class SearchFinding:
    """A failure at `level` (from 1): of the state `fingerprint`, or of the step from the state `source` to it.

    `value` is a mask of failed properties, or the number of an error. `rank` is 0 without ranks. ERROR and DEADLOCK
    are about a state that was expanded. `stored` is false for a state outside of the constraints or the bound.
    `source` is 0 but for a step.
    """

    kind: FindingKind
    level: int
    value: int
    fingerprint: int
    rank: int = 0
    stored: bool = True
    source: int = 0

    @property
    def property_index(self) -> int:
        """The first property that failed; -1 for an error or deadlock."""
        masked = self.kind in (FindingKind.INVARIANT, FindingKind.STEP)
        return (self.value & -self.value).bit_length() - 1 if masked else -1

    @property
    def made_at(self) -> int:
        """The level whose making shows it: for a state that was expanded, the next one.

        An initial state that is an error shows itself at once; that counts as level 2, where no other failure is later.
        """
        return self.level + (self.kind in (FindingKind.ERROR, FindingKind.DEADLOCK))

    @property
    def order(self) -> tuple[int, ...]:
        """The order in which findings are reported: shortest trace, kind, property, then the state alone."""
        state = self.fingerprint, self.rank, self.source
        return self.level, self.kind.value, self.property_index, *state, self.value, not self.stored


@dataclass(frozen=True, slots=True)
class FoundStep:
    """A step found again after the search: the state before it, and the state after it with its action."""

    source: PackedState
    successor: PackedState


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The numbers of a search. `findings` are all of the first level that has any, least first.

    `cut` counts the generated states outside of the constraints. `failed` counts violating states per invariant, then
    violating steps per action property, over the whole search. `reached` is the mask of the reachable properties that
    were reached; `reachable_asked` of those tested in the first level with findings. `table_bytes` is that at the end,
    `rows_bytes` those of all packed rows, level after level; `growths` are those of the table (`FingerprintTable`).
    `cpu_seconds_elsewhere`: of other processes, and of earlier sessions of a run that was resumed.
    """

    generated: int
    cut: int
    distinct: int
    expanded: int
    initial: int
    levels: tuple[int, ...]
    generated_by_action: tuple[int, ...]
    findings: tuple[SearchFinding, ...]
    failed: tuple[int, ...]
    reached: int
    reachable_asked: int
    stopped: Bound | None
    interrupted: bool
    table_bytes: int
    frontier_bytes_max: int
    rows_bytes: int
    growths: tuple[tuple[int, int], ...]
    cpu_seconds_elsewhere: float
    shards: ShardFigures | None = None
    has_late_errors: bool = False
    """True if evaluations failed that `findings` do not show, since those of an earlier level do."""

    @property
    def failed_at(self) -> int | None:
        """The level whose making showed the findings; None without any."""
        return min((finding.made_at for finding in self.findings), default=None)
