"""The temporal properties of a module in a check: what is refused, what a search records, the verdicts after it."""

from __future__ import annotations

import time
from collections.abc import Iterable

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_graph import ModuleGraph, RecordedSteps
from kmc.liveness.problem import TemporalProblem
from kmc.reference.states.state_graph import StateGraph
from kmc.reference.temporal.accepted_problem import Reduction, refuse_reductions, refuse_tautology
from kmc.reference.temporal.lasso_finder import LassosUnfinished
from kmc.reference.temporal.vacuity import Dropping
from kmc.reference.temporal.verdicts import Tell, TemporalOutcome
from kmc.tla.resolved.nodes import OperatorDefinition
from kmc.tla.resolved.search_level import LEVEL_VARIABLE
from kmc.tla.run.program import State
from kmc.tla.temporal.module_problem import module_problem


class TemporalWork:
    """The temporal problem of a module, and the steps that a search has recorded for it."""

    def __init__(self, module: CheckedModule, problem: TemporalProblem, start: State | None) -> None:
        self.problem = problem
        self._start = start
        self._module = module
        self._recorded = RecordedSteps()

    def record(self, successors: Iterable[State]) -> None:
        """Record the steps of the next state that a search expands."""
        self._recorded.add(successors)

    def outcome(
        self, explored: StateGraph, expanded: int, dropping: Dropping, seconds: float | None, tell: Tell
    ) -> TemporalOutcome:
        """The verdicts on the properties; LassosUnfinished if they need more than so many seconds.

        `expanded` is the number of states whose steps were all explored; `tell` is called with the name of each phase
        of work.
        """
        # Imported here: a check without temporal properties needs neither arrays nor native loops.
        from kmc.checking.modules.module_lassos import module_verdicts
        from kmc.engine.lassos.patience import patience

        until = None if seconds is None else time.monotonic() + seconds

        def poll() -> None:
            if until is not None and time.monotonic() >= until:
                raise LassosUnfinished

        def tell_and_poll(activity: str) -> None:
            tell(activity)
            poll()

        graph = ModuleGraph.of(explored, expanded, self._recorded, self._module.program.is_step_in_model)
        with patience(poll):
            return module_verdicts(self._module, self.problem, graph, dropping, tell_and_poll, poll, self._start)


def temporal_work(module: CheckedModule, start: State | None = None) -> TemporalWork | None:
    """The work on the temporal properties of a module; None if it has none. `start` replaces the initial states.

    Raises ModelError for a view or a symmetry (KMC352), TautologyError for a property that nothing can refute (KMC353),
    and SpecError for a formula that cannot be checked.
    """
    if not module.temporal:
        return None
    names = ", ".join(dict.fromkeys(part.property_name for part in module.temporal))
    model = module.program.model
    view = Reduction(LEVEL_VARIABLE, None) if model.has_level else _reduction(model.view)
    refuse_reductions(names, view, _reduction(model.symmetry), is_level=model.has_level)
    problem = module_problem(module.program, [(part.property_name, part.formula) for part in module.temporal])
    judged = {part.property_name for part in (*module.of_states, *module.of_steps)}
    for part in module.temporal:
        if part.property_name in problem.tautologies and part.property_name not in judged:
            refuse_tautology(part.property_name, part.formula.place)
    return TemporalWork(module, problem, start)


def _reduction(definition: OperatorDefinition | None) -> Reduction | None:
    return None if definition is None else Reduction(definition.name, definition.place)
