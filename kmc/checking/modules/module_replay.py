"""The replay of a counterexample by definition: the module's own formulas are evaluated on its states.

A search enumerates initial states and successors. The replay does not: it evaluates the initial predicate in the first
state, the next-state relation on each pair of neighbouring states, and the failed property at the end, so it shares
neither the enumeration nor the graph with the search. A counterexample is shown only if it replays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from kmc.checking.modules.checked_module import CheckedModule
from kmc.errors import EvaluationError, InternalError, KmcError
from kmc.result import Trace, Verdict, Violation
from kmc.tla.resolved.nodes import Expression
from kmc.tla.run.program import State
from kmc.tla.values.kinds import TRUE


def check_module_violation(module: CheckedModule, violation: Violation, start: State | None = None) -> None:
    """Raise InternalError KMC942 unless the trace is a behaviour of the module and shows the violation.

    With `start`, it begins there, else in an initial state.
    """
    replay_in_module(module, violation.trace, start)
    states = [step.state for step in violation.trace.steps]
    match violation.verdict:
        case Verdict.VIOLATION:
            _check_property(module, violation, states)
        case Verdict.DEADLOCK:
            if any(True for _ in module.program.successors(states[-1])):
                refuse_replay("its last state has a successor, so it does not deadlock")
        case _:
            codes = {error.code for error in errors_at(module, states)}
            if violation.error is None or violation.error.code not in codes:
                refuse_replay(f"the error does not recur in its last state: {violation.error}")


def replay_in_module(module: CheckedModule, trace: Trace, start: State | None = None) -> None:
    """Raise InternalError KMC942 unless the first state is initial, or `start`, and every step is one of the module."""
    behaviour = module.program.model.behaviour
    assert behaviour is not None, "a module with a trace has a behaviour"
    first = trace.steps[0].state
    if start is not None and first != start:
        refuse_replay("its first state is not the given one")
    if start is None and not all(module.program.evaluate(predicate, first) is TRUE for predicate in behaviour.initial):
        refuse_replay("its first state does not satisfy the initial predicate")
    before = first
    for number, step in enumerate(trace.steps[1:], start=2):
        if behaviour.next is None or not _is_step(module, behaviour.next, before, step.state):
            refuse_replay(f"the step {step.label} to state {number} does not satisfy the next-state relation")
        before = step.state


def errors_at(module: CheckedModule, states: Sequence[State]) -> Iterator[KmcError]:
    """Yield the errors of the last state of a trace: of its properties, its constraints, and its steps with theirs."""
    state = states[-1]
    for part in module.of_states:
        errors = _error_of(part.is_true, state)
        yield from map(as_beginning, errors) if len(states) == 1 else errors
    yield from _error_of(module.is_in_model, state, None if len(states) == 1 else states[-2])
    successors: list[State] = []
    try:
        successors = [step.state for step in module.successors(state)]
    except KmcError as error:
        yield error
    for successor in successors:
        yield from _error_of(module.is_in_model, successor, state)
        for part in module.of_steps:
            yield from _error_of(part.is_true, state, successor)


def as_beginning(error: KmcError) -> KmcError:
    """Return the error of a property in an initial state: TLC gives it the status of an error in the predicate."""
    return EvaluationError(error.code, error.message, error.span, error.help, error.notes)


def _error_of(function: Callable[..., object], *arguments: object) -> Iterator[KmcError]:
    """Yield the error that a call raises, if it raises one."""
    try:
        function(*arguments)
    except KmcError as error:
        yield error


def _is_step(module: CheckedModule, relation: Expression, state: State, successor: State) -> bool:
    try:
        return module.program.holds_in_step(relation, state, successor)
    except EvaluationError:
        # An action that another step takes may compare values of two kinds here, which has no truth value. Only an
        # enumeration, which never evaluates such an action on this pair, can decide then.
        return any(step.state == successor for step in module.program.successors(state))


def _check_property(module: CheckedModule, violation: Violation, states: list[State]) -> None:
    parts = module.of_steps if violation.is_step else module.of_states
    named = [part for part in parts if part.property_name == violation.name]
    if violation.is_step and len(states) < 2:
        refuse_replay("it has no step that could violate a property of steps")
    judged = states[-2:] if violation.is_step else states[-1:]
    applying = [part for part in named if not part.is_initial or len(states) == 1]
    if all(part.is_true(*judged) for part in applying):
        refuse_replay(f"{violation.name} holds at its end")


def refuse_replay(reason: str) -> NoReturn:
    """Raise InternalError KMC942."""
    raise InternalError("KMC942", f"a counterexample of the module does not replay: {reason}")
