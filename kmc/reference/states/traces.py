"""From a finding to a trace: a concrete run through the orbits of the states that were found.

Under symmetry or a view, the stored states need not be successors of each other. So the trace starts at the least
initial state of the first orbit and chooses, at every step, the least successor that lies in the next orbit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kmc.actions.relation import NextStateRelation, Step
from kmc.errors import InternalError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.reference.states.findings import Finding
from kmc.reference.states.initial import initial_states
from kmc.reference.states.state_graph import KnownStates, StateGraph
from kmc.result import Trace, TraceStep


def trace_of(
    model: Model, relation: NextStateRelation, graph: StateGraph, finding: Finding, start: State | None
) -> Trace:
    """The trace that shows `finding`; `start` is the given first state, or None for the model's initial states."""
    orbits = [graph.states[index] for index in chain_of(graph, finding)]
    if finding.index is None:
        orbits.append(finding.state)
    beginnings = [start] if start is not None else initial_states(model)
    return concrete_trace(model, relation, graph.known, orbits, beginnings, finding.name if finding.is_step else None)


def concrete_trace(
    model: Model,
    relation: NextStateRelation,
    known: KnownStates,
    orbits: Sequence[State],
    beginnings: Iterable[State],
    step_name: str | None,
) -> Trace:
    """The least run through `orbits`; its last step breaks the action property `step_name`, if one is given.

    `beginnings` have all initial states of the first orbit.
    """
    first = min((s for s in beginnings if _same(known, s, orbits[0])), key=sort_key)
    steps = [TraceStep(first)]
    for position, orbit in enumerate(orbits[1:], start=2):
        fails = _step_fails(model, step_name) if step_name is not None and position == len(orbits) else None
        steps.append(_least_step(relation, known, steps[-1].state, orbit, fails))
    return Trace(tuple(steps))


def chain_of(graph: StateGraph, finding: Finding) -> list[int]:
    """Return the numbers of the states on the way to a finding; its own state is one of them if it is stored."""
    if finding.index is not None:
        return graph.chain(finding.index)
    source = [] if finding.source is None else graph.chain(finding.source)
    index = None if finding.is_step else graph.stored(finding.state)
    # With constraints, a failing state may have been stored at a later level, along a longer path.
    if index is not None and graph.level_of(index) == len(source) + 1:
        return graph.chain(index)[:-1]
    return source


def _same(known: KnownStates, state: State, orbit: Any) -> bool:
    return any(image == orbit for image in known.images(state))


def _step_fails(model: Model, name: str) -> Callable[[Any, Any], bool]:
    prop = next(p for p in model.predicates(Role.CHECKED, 2) if p.name == name)
    return lambda source, successor: not holds(prop, model.spec.files, source, successor)


def _least_step(
    relation: NextStateRelation,
    known: KnownStates,
    source: Any,
    orbit: Any,
    fails: Callable[[Any, Any], bool] | None,
) -> TraceStep:
    steps: Iterable[Step] = [step for step in relation.steps(source) if _same(known, step[2], orbit)]
    if fails is not None:
        steps = [step for step in steps if fails(source, step[2])]
    least = min(steps, key=relation.display_key, default=None)
    if least is None:
        raise InternalError(
            "KMC901",
            "no step leads to the next state of the counterexample",
            help="with symmetry, the spec treats permuted values differently: check without symmetry",
        )
    return trace_step(least)


def trace_step(step: Step) -> TraceStep:
    """A step of the relation as a step of a trace."""
    action, arguments, successor = step
    names = [parameter.name for parameter in action.parameters]
    return TraceStep(successor, action.title, action.label(arguments), tuple(zip(names, arguments, strict=True)))
