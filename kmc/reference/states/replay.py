"""Replay: is a trace a behaviour of the model, and does its last state show the violation?

The replay is independent of every search. It uses the states and actions of the trace, computes the steps of exactly
the named action by the next-state relation, and evaluates the failed property again. A counterexample is shown only if
it replays. If it does not, kmc is wrong, or a spec is not as symmetric as it declares: hence InternalError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, assert_never

from kmc.actions.action import Action
from kmc.actions.relation import NextStateRelation
from kmc.errors import InternalError, KmcError, Span, did_you_mean
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate, Refinement, begins_as_refined, holds, is_stuttering
from kmc.lang.records import State
from kmc.reference.states.differences import differing_parts
from kmc.reference.states.findings import error_rank
from kmc.reference.states.initial import each_initial_state
from kmc.reference.states.order_dependence import of_order
from kmc.result import Trace, TraceStep, Verdict, Violation
from kmc.spec.variables import encode_state

_PARTS_SHOWN_MAX = 8


def replay(model: Model, trace: Trace, start: State | None = None) -> None:
    """Raise InternalError unless `trace` is a behaviour of `model` from an initial state, or from `start`.

    The error names the step, counted from 1 as TLC counts the states of a trace: KMC902 the first state is not an
    initial one, KMC903 the spec has no such action, KMC904 the action is not enabled with these arguments, KMC905 it
    leads to other states, KMC906 the label is not that of the step, KMC908 the action has other parameters.
    """
    first = trace.steps[0]
    beginnings = each_initial_state(model) if start is None else (start,)
    if not any(state == first.state for state in beginnings):
        wanted = "an initial state" if start is None else "the given state"
        raise InternalError("KMC902", f"state 1 of the trace is not {wanted}")
    if first.action is not None or first.arguments:
        raise InternalError("KMC906", f"state 1 of the trace is said to come from {first.label}")
    for number, (before, step) in enumerate(zip(trace.steps, trace.steps[1:], strict=False), start=2):
        replay_step(model, before.state, step, number)


def replay_step(model: Model, before: Any, step: TraceStep, number: int) -> None:
    """Raise InternalError (KMC903 to KMC908, as `replay`) unless `step`, which leads to state `number`, is one."""
    actions = {action.title: action for action in model.spec.actions}
    action = actions.get(step.action or "")
    if action is None:
        known = did_you_mean(step.action or "", actions)
        raise InternalError("KMC903", f"state {number} of the trace: the spec has no action {step.action}", None, known)
    _replay_step(model, action, before, step, number)


def check_violation(model: Model, violation: Violation, start: State | None = None) -> None:
    """Raise InternalError unless the trace of `violation` replays and its last state shows the violation.

    KMC907: the property holds there, a deadlocked state has a successor, or the error does not recur. An error must
    recur with its kind, code and place; its text may name other identifiers, permuted by symmetry.
    """
    replay(model, violation.trace, start)
    last = violation.trace.steps[-1].state
    match violation.verdict:
        case Verdict.VIOLATION:
            _check_property(model, violation)
        case Verdict.DEADLOCK:
            if any(True for _ in _relation(model).steps(last)):
                _refuse("the last state of the trace has a successor, so it is not a deadlock")
        case Verdict.ASSERTION | Verdict.ERROR:
            if violation.error is None or _kind(violation.error) not in map(_kind, errors_at(model, last)):
                _refuse(f"the error does not recur in the last state of the trace: {violation.error}")
        case Verdict.OK | Verdict.BOUND_REACHED | Verdict.INTERRUPTED | Verdict.LIVENESS:
            _refuse(f"a verdict '{violation.verdict.value}' is not a violation of a state or step")
        case _:
            assert_never(violation.verdict)


def error_at_end(model: Model, trace: Trace, state: State, error: KmcError) -> KmcError:
    """The error of `state` as it occurs in the last state of `trace`, which may be a permutation of `state`.

    Raises KMC262 when it does not occur there: then it depends on the order of permuted members.
    """
    last = trace.steps[-1].state
    if last == state:
        return error
    error_here = min((e for e in errors_at(model, last) if _kind(e) == _kind(error)), key=error_rank, default=None)
    if error_here is None:
        raise of_order(model, error)
    return error_here


def _relation(model: Model, *actions: Action) -> NextStateRelation:
    spec = model.spec
    return NextStateRelation(actions or spec.actions, spec.state_class, spec.files)


def _replay_step(model: Model, action: Action, before: Any, step: TraceStep, number: int) -> None:
    names = [parameter.name for parameter in action.parameters]
    arguments = tuple(value for _, value in step.arguments)
    if [name for name, _ in step.arguments] != names:
        given = ", ".join(name for name, _ in step.arguments) or "none"
        raise InternalError(
            "KMC908", f"state {number} of the trace: {action.title} does not take the parameters given: {given}"
        )
    steps = _relation(model, action).steps(before)
    successors = []
    for _, bound, successor in steps:
        if bound == arguments:
            successors.append(successor)
            if successor == step.state:
                break
    else:
        _refuse_step(model, action.label(arguments), successors, step.state, number)
    if step.label != action.label(arguments):
        raise InternalError(
            "KMC906", f"state {number} of the trace is labelled {step.label}, not {action.label(arguments)}"
        )


def _refuse_step(model: Model, label: str, successors: list[State], state: State, number: int) -> NoReturn:
    if not successors:
        raise InternalError("KMC904", f"state {number} of the trace: {label} is not enabled in the state before")
    table = model.spec.variables
    given = encode_state(state, table)
    parts = min((differing_parts(encode_state(other, table), given) for other in successors), key=len)
    notes = [f"{part.path} is {part.left or 'not there'}, in the trace {part.right or 'not there'}" for part in parts]
    raise InternalError(
        "KMC905",
        f"state {number} of the trace: {label} does not lead to it",
        notes=tuple(notes[:_PARTS_SHOWN_MAX]),
    )


def _check_property(model: Model, violation: Violation) -> None:
    states = [step.state for step in violation.trace.steps]
    wanted: tuple[Predicate, ...] = model.predicates(Role.CHECKED, 2 if violation.is_step else 1)
    named = next((prop for prop in wanted if prop.name == violation.name), None)
    if named is None:
        _refuse(f"the model has no property {violation.name} of this kind")
    if isinstance(named, Refinement) and len(states) == 1:
        if begins_as_refined(named, model.spec.files, states[0]):
            _refuse(f"the first state is one with which {named.abstract} begins, too")
        return
    if violation.is_step and (len(states) < 2 or is_stuttering(*states[-2:])):
        _refuse(f"the trace has no last step that could violate {violation.name}")
    if holds(named, model.spec.files, *states[-2 if violation.is_step else -1 :]):
        _refuse(f"{violation.name} holds at the end of the trace")


def _refuse(message: str) -> NoReturn:
    raise InternalError("KMC907", message)


def errors_at(model: Model, state: State) -> Iterator[KmcError]:
    """The errors of evaluating `state`: in its properties, in its actions, and in the properties of its steps."""
    files = model.spec.files
    for prop in (*model.invariants, *model.predicates(Role.WITNESSED), *model.constraints):
        yield from _error_of(holds, prop, files, state)
    errors = _relation(model).errors(state)
    yield from errors
    for _, _, successor in () if errors else _relation(model).steps(state):
        for constraint in model.constraints:
            yield from _error_of(holds, constraint, files, successor)
        for step_property in (*model.action_constraints, *model.predicates(Role.CHECKED, 2)):
            yield from _error_of(holds, step_property, files, state, successor)


def _kind(error: KmcError) -> tuple[type[KmcError], str, Span | None]:
    return type(error), error.code, error.span


def _error_of(function: Callable[..., object], *arguments: object) -> Iterator[KmcError]:
    """The error that a call raises, if it does."""
    try:
        function(*arguments)
    except KmcError as error:
        yield error
