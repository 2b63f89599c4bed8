"""The failures of a search. The reported one is the least by its values, not the first that was found."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from kmc.errors import KmcError
from kmc.lang.order import SortKey
from kmc.reference.states.state_graph import StateGraph
from kmc.result import Verdict

_KINDS = (Verdict.ERROR, Verdict.ASSERTION, Verdict.DEADLOCK, Verdict.VIOLATION)


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure in `state`.

    `index` is given when the failing state is the stored state that was being expanded (deadlock, a failed assert, an
    action that raised); otherwise `state` was generated from the stored state `source`, or initially (None). `order`
    is the place of the property in the model.
    """

    verdict: Verdict
    name: str | None
    order: int
    source: int | None
    state: Any
    index: int | None = None
    error: KmcError | None = None
    is_step: bool = False


class Findings:
    """The failures of the first level that has any, and the number of failures of each property in all levels."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._closed = False
        self._counts: dict[str, int] = {}
        self._counted: set[tuple[str, Hashable]] = set()

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, finding: Finding, counted_as: Hashable = None) -> None:
        """Record a failure; the failures of a property in states that are `counted_as` one count once."""
        if not self._closed:
            self._found.append(finding)
        if finding.name is not None and (counted_as is None or (finding.name, counted_as) not in self._counted):
            self._counted.add((finding.name, counted_as))
            self._counts[finding.name] = self._counts.get(finding.name, 0) + 1

    def close(self) -> None:
        """End a level: if it had a failure, later failures are only counted."""
        self._closed = bool(self._found)

    def count(self, name: str) -> int:
        """The number of failures of the property `name`."""
        return self._counts.get(name, 0)

    def least(self, graph: StateGraph) -> Finding | None:
        """The failure to report: shortest trace, then kind, property, state and source in display order, then error."""
        if not self._found:
            return None
        shortest = min(self._length(finding, graph) for finding in self._found)
        candidates = [finding for finding in self._found if self._length(finding, graph) == shortest]
        first = min((_KINDS.index(finding.verdict), finding.order) for finding in candidates)
        candidates = [f for f in candidates if (_KINDS.index(f.verdict), f.order) == first]
        return min(candidates, key=lambda finding: self._rank(finding, graph))

    def _length(self, finding: Finding, graph: StateGraph) -> int:
        if finding.index is not None:
            return graph.level_of(finding.index)
        return 1 if finding.source is None else graph.level_of(finding.source) + 1

    def _rank(self, finding: Finding, graph: StateGraph) -> tuple[SortKey, SortKey, SortKey]:
        source = graph.known.rank(graph.states[finding.source]) if finding.source is not None else (0,)
        return graph.known.rank(finding.state), source, error_rank(finding.error)


def error_rank(error: KmcError | None) -> SortKey:
    """An order of the errors of one state, by place and text."""
    if error is None:
        return ()
    span = error.span
    position = (span.path, span.line, span.column) if span is not None else ("", 0, 0)
    return (*position, error.code, error.message, error.notes)
