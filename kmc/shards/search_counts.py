"""The counts and findings of a search in shards, and their values at the end of any level.

Invariant: all of them are sums over whole levels, so a snapshot of one level says everything about a search that ends
there, whatever was made after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmc.engine.files.run_manifest import Snapshot, require_lengths
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import SearchOutcome
from kmc.engine.native.memory import WORD_BYTES, Words
from kmc.engine.stores.finding_log import FindingLog
from kmc.result import Bound, ShardFigures
from kmc.shards.level.run_state import NotedLevel
from kmc.shards.level.tasks import Expanded
from kmc.shards.made_level import LevelFindings


class SearchCounts:
    """The counts and findings of a search with these kernels; `levels` counts the states of each level."""

    def __init__(self, kernels: KernelTable) -> None:
        self._kernels = kernels
        self.levels: list[int] = []
        self.generated = np.zeros(kernels.action_count + 1, np.int64)
        self._failed = np.zeros(kernels.check_count + kernels.step_count, np.int64)
        self._cut = self.expanded = self._rows_words = 0
        self._reached = self._reachable_asked = 0
        self._findings = FindingLog(kernels.check_count, kernels.meets_again)

    @property
    def found_any(self) -> bool:
        """Whether there is a finding."""
        return self._findings.found_any

    @property
    def distinct(self) -> int:
        """The number of states of all levels."""
        return sum(self.levels)

    @property
    def wanted(self) -> int:
        """The mask of the reachable properties that no level has reached."""
        return ~self._reached & (1 << self._kernels.reachable_count) - 1

    def add(self, depth: int, expanded: Sequence[Expanded], checked: LevelFindings) -> None:
        """Count the level of this number; `expanded` made it of the states of the level before."""
        checks, wanted, had_any = self._kernels.check_count, self.wanted, self.found_any
        for answer in expanded:
            self.generated += np.array(answer.generated, np.int64)
            self._failed[checks:] += np.array(answer.steps_failed, np.int64)
            self._cut += answer.cut
            self.expanded += answer.expanded
            self._rows_words += answer.file.rows_words if answer.file else 0
        self._reached |= checked.reached
        self._failed[:checks] += checked.failed
        self._findings.add(depth - 1, checked.logs)
        if self.found_any and not had_any:
            self._reachable_asked = wanted

    def snapshot(self, seconds: float, cpu_seconds: float) -> Snapshot:
        """Return all counts as they are now, after so much time."""
        return Snapshot(
            levels=tuple(self.levels),
            generated=tuple(self.generated.tolist()),
            failed=tuple(self._failed.tolist()),
            cut=self._cut,
            stored=self.distinct,
            expanded=self.expanded,
            rows_words=self._rows_words,
            reached=self._reached,
            reachable_asked=self._reachable_asked,
            findings=self._findings.findings,
            counted=tuple(self._findings.counted.tolist()),
            met=self._findings.met_count,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
        )

    def restore(self, snapshot: Snapshot, met: Words) -> None:
        """Take all counts from a snapshot; `met` are the words of the violating states that it has counted once."""
        require_lengths(snapshot, len(self.generated), len(self._failed))
        self.levels = list(snapshot.levels)
        self.generated[:], self._failed[:] = snapshot.generated, snapshot.failed
        self._cut, self.expanded, self._rows_words = snapshot.cut, snapshot.expanded, snapshot.rows_words
        self._reached, self._reachable_asked = snapshot.reached, snapshot.reachable_asked
        self._findings.restore(snapshot.findings, snapshot.counted, met)

    def go_back(self, noted: Sequence[NotedLevel]) -> None:
        """Go back to the end of the last of these levels, which were made without a finding."""
        figures, levels = noted[-1].figures, self.levels[: len(noted)]
        self.restore(figures, np.zeros(0, np.int64))
        self.levels = levels

    def met_words(self, count: int) -> Words:
        """The words of the first `count` violating states that were counted once."""
        return self._findings.met_words(count)

    def outcome(
        self,
        *,
        stopped: Bound | None,
        interrupted: bool,
        table_bytes: int,
        cpu_seconds_elsewhere: float,
        shards: ShardFigures,
    ) -> SearchOutcome:
        """The outcome of a search that ends here."""
        failed, checks = self._failed.copy(), self._kernels.check_count
        if self._kernels.meets_again:
            failed[:checks] = 0
        failed[:checks] += self._findings.counted
        return SearchOutcome(
            generated=int(self.generated.sum()),
            cut=self._cut,
            distinct=self.distinct,
            expanded=self.expanded,
            initial=int(self.generated[-1]),
            levels=tuple(self.levels),
            generated_by_action=tuple(self.generated[:-1].tolist()),
            findings=self._findings.findings,
            failed=tuple(failed.tolist()),
            reached=self._reached,
            reachable_asked=self._reachable_asked,
            stopped=stopped,
            interrupted=interrupted,
            table_bytes=table_bytes,
            frontier_bytes_max=0,
            rows_bytes=self._rows_words * WORD_BYTES,
            growths=(),
            cpu_seconds_elsewhere=cpu_seconds_elsewhere,
            shards=shards,
        )
