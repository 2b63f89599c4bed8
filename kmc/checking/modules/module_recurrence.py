"""The recurrence of a recorded failure: does a run of states show it, by the module as it is now?

As in `kmc.reference.recurrence`, the answer is by definition, from the states of the run alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_lasso_replay import is_bad_prefix_in_module
from kmc.checking.modules.module_replay import errors_at
from kmc.errors import TraceError, did_you_mean
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.reference.recurrence import RecordedFailure
from kmc.result import Verdict
from kmc.tla.resolved.property_parts import PropertyPart
from kmc.tla.run.program import State
from kmc.tla.temporal.module_problem import module_problem


def recurs_in_module(
    module: CheckedModule, failure: RecordedFailure, states: Sequence[State], loop: int | None
) -> bool:
    """Return whether a run shows `failure` at its end; a lasso goes on with the state at the index `loop`.

    Raises TraceError KMC428 for a property that the model does not have, and the errors of its evaluation.
    """
    if failure.name is not None:
        return fails_at_end_of_run(module, failure.name, states, loop)
    if failure.verdict is Verdict.DEADLOCK:
        return not any(True for _ in module.program.successors(states[-1]))
    return any(True for _ in errors_at(module, states))


def fails_at_end_of_run(module: CheckedModule, name: str, states: Sequence[State], loop: int | None) -> bool:
    """Return whether a property fails: in the last state, by the last step, or in the lasso closed at index `loop`.

    Raises TraceError KMC428 for a property that the model does not have.
    """
    if name not in module.property_names:
        help = did_you_mean(name, module.property_names)
        raise TraceError("KMC428", f"the model has no property '{name}'", help=help)
    of_states = [part for part in module.of_states if part.property_name == name]
    if not all(part.is_true(states[-1]) for part in of_states if len(states) == 1 or not part.is_initial):
        return True
    of_steps = [part for part in module.of_steps if part.property_name == name]
    if len(states) > 1 and not all(part.is_true(*states[-2:]) for part in of_steps):
        return True
    temporal = [part for part in module.temporal if part.property_name == name]
    return any(_is_refuted(module, part, states, loop) for part in temporal)


def _is_refuted(module: CheckedModule, part: PropertyPart, states: Sequence[State], loop: int | None) -> bool:
    """Return whether a fair lasso refutes a property, or with no `loop` every behaviour that begins with the states."""
    problem = module_problem(module.program, [(part.property_name, part.formula)])
    behaviour = EndlessBehaviour(states, len(states) - 1 if loop is None else loop, lambda _: {})
    if loop is not None and not all(map(behaviour.satisfies, problem.assumed)):
        return False
    # States without a cycle refute no promise that a later state may keep.
    is_final = loop is not None or is_bad_prefix_in_module(problem, states)
    return is_final and not all(map(behaviour.satisfies, problem.formulas))
