"""A measured search with temporal properties: the graph and the verdicts, and the cost of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmc.engine.check_temporal import TemporalSearch
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.frontend.model import Model
from kmc.liveness.problem import TemporalProblem
from kmc.process import cpu_seconds
from kmc.reference.temporal.verdicts import TemporalOutcome

_FINGERPRINT_BITS = 64


class TimedVerdicts:
    """Searches one model, and judges its temporal properties. `figures` are those of the last search."""

    def __init__(self, model: Model, problem: TemporalProblem) -> None:
        self._problem = problem
        self._temporal = TemporalSearch(model, problem, _FINGERPRINT_BITS)
        self.compiled = self._temporal.compiled
        self.figures: dict[str, Any] = {}

    def searched(self, initial: Sequence[PackedState], settings: Settings) -> SearchOutcome:
        """Search, and compute the verdicts."""
        began = cpu_seconds()
        search = self._temporal.search(self._temporal.compiled, initial, settings, None)
        outcome = search.run()
        graph_made = cpu_seconds()
        judged = None
        if not outcome.findings and not outcome.interrupted:
            judged = self._temporal.outcome(search, initial, outcome, None, _say_nothing)
        self.figures = {
            "fairness": len(self._problem.fairness),
            "checks": len(self._problem.checks),
            "graph_cpu_seconds": graph_made - began,
            "verdict_cpu_seconds": cpu_seconds() - graph_made,
            "verdicts": _verdicts(judged),
        }
        return outcome


def _say_nothing(activity: str) -> None:
    """Progress is not shown."""


def _verdicts(judged: TemporalOutcome | None) -> dict[str, str]:
    return {} if judged is None else {prop.name: prop.verdict for prop in judged.properties}
