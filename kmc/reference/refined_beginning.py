"""Initial states that a spec which this one refines does not begin with: the violation of a refinement before any step.

Invariant: every engine reports it alike, because it is found before a search begins, by the interpreter.
"""

from __future__ import annotations

from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Refinement, begins_as_refined, holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.process import cpu_seconds, memory_bytes, peak_memory_bytes
from kmc.reference.states.identity import StateSet
from kmc.reference.states.initial import initial_states
from kmc.result import Counters, PropertyVerdict, Result, Trace, TraceStep, Verdict, Violation


def wrong_beginning(model: Model, engine: str) -> Result | None:
    """The result for a model of which some initial state breaks a refinement; None if all are as they must be.

    The least such state of the first such refinement is reported; no state is expanded.
    """
    refinements = [prop for prop in model.predicates(Role.CHECKED, 2) if isinstance(prop, Refinement)]
    if not refinements:
        return None
    states, files = initial_states(model), model.spec.files
    failing = {
        prop.name: [state for state in states if not begins_as_refined(prop, files, state)] for prop in refinements
    }
    broken = next((name for name, wrong in failing.items() if wrong), None)
    if broken is None:
        return None
    violation = Violation(
        Verdict.VIOLATION, broken, Trace((TraceStep(min(failing[broken], key=sort_key)),)), is_step=True
    )
    known = StateSet(model.spec.state_class, model.symmetry, model.view)
    stored = [state for state in states if all(holds(constraint, files, state) for constraint in model.constraints)]
    return _result(model, engine, violation, failing, (len(states), len({known.orbit(state) for state in stored})))


def _result(
    model: Model, engine: str, violation: Violation, failing: dict[str, list[State]], counts: tuple[int, int]
) -> Result:
    generated, distinct = counts
    checked = (prop.name for prop in model.predicates(Role.CHECKED))
    properties = [
        PropertyVerdict(name, "violated" if failing.get(name) else "not checked", len(failing.get(name, ())))
        for name in checked
    ]
    temporal = [PropertyVerdict(prop.name, "not checked", is_temporal=True) for prop in model.temporal]
    return Result(
        verdict=violation.verdict,
        counters=Counters(generated, distinct, distinct, 1, 0.0, memory_bytes(), levels=(distinct,)),
        initial=generated,
        levels=(distinct,),
        generated_by_action={action.title: 0 for action in model.spec.actions},
        properties=(*properties, *temporal),
        violation=violation,
        bound=None,
        unreached=(),
        never_fired=(),
        collision_bound=0.0,
        cpu_seconds=cpu_seconds(),
        peak_memory_bytes=peak_memory_bytes(),
        engine=engine,
    )
