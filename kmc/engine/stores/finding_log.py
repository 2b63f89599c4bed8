"""The findings of a search, merged level by level from the records of its threads.

Invariant: the contents do not depend on threads. A state counts once, whether several threads found it, or a constraint
refused it and a deeper level met it again or stored it. The states of one view count as one, too, as they do among the
distinct states. The findings of the first level that has any are kept; later ones are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np

from kmc.engine.layout import record_structs as r
from kmc.engine.layout.frontier import UNSIGNED
from kmc.engine.layout.kernel_interface import error_number
from kmc.engine.layout.search_outcome import FindingKind, SearchFinding
from kmc.engine.native.memory import Words
from kmc.runtime.kernel_errors import require_assumed

_OF_SOURCE = (r.EXPAND_ERROR, r.NO_SUCCESSOR)
_ERRORS = (r.EXPAND_ERROR, r.CHECK_ERROR)
_ERROR_KINDS = frozenset(FindingKind(kind) for kind in _ERRORS)


class FindingLog:
    """Findings and counts. `repeated`: a violating state that is stored may be reported more than once."""

    def __init__(self, invariants: int, repeated: bool) -> None:
        self._invariants = invariants
        self._repeated = repeated
        # A dictionary keeps their order: a snapshot of them is a number.
        self._met: dict[tuple[int, int], None] = {}
        self.findings: tuple[SearchFinding, ...] = ()
        self.counted = np.zeros(invariants, np.int64)
        self.found_any = False
        self.has_late_errors = False
        """True if an evaluation failed behind the first level with findings, which `findings` do not show."""

    def add(self, level: int, logs: Iterable[Words]) -> None:
        """Add the records of the threads from expanding `level` (0: the initial states were checked).

        Raises AssumedRangeLeft where an integer left the range that the kernels assume.
        """
        entries = np.concatenate(list(logs))[:, : r.FindingEntry.source + 1]
        if not len(entries):
            return
        findings = {self._finding(level, entry) for entry in np.unique(entries, axis=0).tolist()}
        for finding in findings:
            if finding.kind is FindingKind.INVARIANT and (self._repeated or not finding.stored):
                self._count_once(finding)
        self.has_late_errors |= self.found_any and any(finding.kind in _ERROR_KINDS for finding in findings)
        if not self.found_any:
            self.findings = tuple(sorted(findings, key=lambda finding: finding.order))
            self.found_any = True

    def _finding(self, level: int, entry: list[int]) -> SearchFinding:
        kind, value, fingerprint, rank, source = entry
        if kind in _ERRORS:
            require_assumed(error_number(value))
        return SearchFinding(
            kind=FindingKind(r.INVARIANT if kind == r.UNSTORED_INVARIANT else kind),
            level=max(level, 1) if kind in _OF_SOURCE else level + 1,
            value=error_number(value) if kind in _ERRORS else value,
            fingerprint=fingerprint & UNSIGNED,
            rank=rank & UNSIGNED,
            stored=kind != r.UNSTORED_INVARIANT,
            source=source & UNSIGNED if kind == r.ACTION_PROPERTY else 0,
        )

    def _count_once(self, finding: SearchFinding) -> None:
        """Count the properties that fail in a state, unless they were counted there or in another state of its view."""
        for index in range(self._invariants):
            key = finding.fingerprint, index
            if finding.value >> index & 1 and key not in self._met:
                self._met[key] = None
                self.counted[index] += 1

    @property
    def met_count(self) -> int:
        """The number of violations that were counted."""
        return len(self._met)

    def met_words(self, count: int) -> Words:
        """The first `count` of these violations, two words each: the fingerprint of the state, and the property."""
        words = np.array([*islice(self._met, count)], np.uint64).reshape(-1)
        return words.view(np.int64)

    def restore(self, findings: tuple[SearchFinding, ...], counted: Iterable[int], met: Words) -> None:
        """Copy the contents of another log; `met` are its words."""
        self.findings, self.found_any = findings, bool(findings)
        # A list of one number would fill the array.
        self.counted[:] = np.array(list(counted), self.counted.dtype).reshape(self.counted.shape)
        self._met = {(key[0], key[1]): None for key in met.view(np.uint64).reshape(-1, 2).tolist()}
