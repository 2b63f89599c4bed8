"""The event that a lasso waits for in vain: the action that would have made it true, and what keeps that action from
happening.

The formula that fails says which condition never comes true. A small search from the states of the lasso finds steps
that bring it. If an action of such a step is enabled in no state of the cycle, that action was missing, and its guard
is the reason.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from kmc.actions.relation import ActionInstance, NextStateRelation
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.liveness.formulas import Always, And, Eventually, ForAll, Formula, Implies, LeadsTo, parts_of
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.negation import is_of_states
from kmc.result import Violation
from kmc.story.explain.obstacles import stopped_by, without_message
from kmc.story.explain.scopes import Wording

STATES_MAX = 300
"""The number of states that the search expands: a second of the interpreter for the largest specs."""
_TOLD_MAX = 2


def what_would_help(model: Model, violation: Violation, formula: Formula, behaviour: EndlessBehaviour) -> str:
    """Sentences about the event that never happens; empty where nothing is awaited, or no step that brings it was
    found.
    """
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    goal = _awaited(behaviour, formula)
    if cycle is None or goal is None:
        return ""
    recurring = list(behaviour.states[behaviour.loop :])
    if any(goal(state) for state in recurring):
        return ""
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    first = len(behaviour.states)
    missing: dict[str, str] = {}
    for instance, source in _bringing(model, relation, goal, list(behaviour.states)):
        title = instance.action.title
        if title not in missing and not _happens(relation, title, recurring):
            missing[title] = _missing(model, relation, instance, source, recurring[-1], first)
        if len(missing) == _TOLD_MAX:
            break
    fair = {name for met in cycle.fairness for name in met.group.split(" \\/ ")}
    return " ".join(missing.values() or _switched_off(model, relation, recurring, fair))


def _awaited(behaviour: EndlessBehaviour, formula: Formula, position: int = 0) -> Callable[[Any], bool] | None:
    """The predicate of states that the behaviour should make true, and never does; None where it is another kind."""
    match formula:
        case LeadsTo(_, goal) if is_of_states(goal):
            return _predicate(behaviour, goal)
        case Eventually(subformula) if is_of_states(subformula):
            return _predicate(behaviour, subformula)
        case Always(subformula) | Eventually(subformula):
            return _awaited(behaviour, subformula, behaviour.loop)
        case Implies(_, conclusion):
            return _awaited(behaviour, conclusion, position)
        case And() | ForAll():
            failing = next((each for each in parts_of(formula) if not behaviour.satisfies(each, position)), None)
            return None if failing is None else _awaited(behaviour, failing, position)
        case _:
            return None


def _predicate(behaviour: EndlessBehaviour, formula: Formula) -> Callable[[Any], bool]:
    return lambda state: EndlessBehaviour([state], 0, behaviour.generated).satisfies(formula)


def _bringing(
    model: Model, relation: NextStateRelation, goal: Callable[[State], bool], seeds: Sequence[State]
) -> Iterator[tuple[ActionInstance, Any]]:
    """Steps into the goal from a state without it, with that state: from the last states of the lasso on, then older
    ones, breadth first.
    """
    waiting = deque(dict.fromkeys(reversed(seeds)))
    known = set(waiting)
    for _ in range(STATES_MAX):
        if not waiting:
            return
        source = waiting.popleft()
        if goal(source):
            continue
        for instance in relation.instances(source):
            try:
                successors = relation.successors(instance, source)
            except KmcError:
                continue
            for successor in successors:
                if goal(successor):
                    yield instance, source
                if successor not in known and _is_kept(model, source, successor):
                    known.add(successor)
                    waiting.append(successor)


def _is_kept(model: Model, source: Any, successor: State) -> bool:
    """Whether the constraints leave a step."""
    return all(constraint.function(successor) for constraint in model.constraints) and all(
        constraint.function(source, successor) for constraint in model.action_constraints
    )


def _happens(relation: NextStateRelation, title: str, states: Sequence[State]) -> bool:
    """Whether an action is enabled in one of the states."""
    return any(
        relation.successors(instance, state)
        for state in states
        for instance in relation.instances(state)
        if instance.action.title == title
    )


def _switched_off(
    model: Model, relation: NextStateRelation, recurring: Sequence[State], fair: Collection[str]
) -> list[str]:
    """The fair actions that are disabled throughout by a constant that the model has switched, for a wait that no
    action ends.
    """
    # A model that gives such a constant switches a part of the spec on or off.
    given = (
        constant for constant in model.spec.constants.values() if constant.raw is not None and constant.has_default
    )
    switched = {constant.name for constant in given if isinstance(constant.value, bool)}
    sentences: dict[str, str] = {}
    for instance in relation.instances(recurring[-1]) if switched else ():
        title = instance.action.title
        if title not in fair or title in sentences or _happens(relation, title, recurring):
            continue
        obstacle = stopped_by(model, recurring[-1], instance)
        if switched.intersection(re.findall(r"\w+", obstacle.sentence)):
            sentences[title] = f"{title} is disabled throughout, since {obstacle.sentence}."
    return list(sentences.values())[:_TOLD_MAX]


def _missing(
    model: Model, relation: NextStateRelation, instance: ActionInstance, source: Any, last: Any, number: int
) -> str:
    """`CompleteReassignment(n1) would help, but no state of the cycle enables it: in state 9, ...`."""
    wording = Wording(model.spec)
    action = instance.action
    shown = ", ".join(wording.value(value) for value in instance.arguments)
    name = f"{action.title}({shown})" if shown else action.title
    here = [other for other in relation.instances(last) if other.action.title == action.title]
    same = [other for other in here if other.arguments == instance.arguments]
    obstacle = stopped_by(model, last, (same or here)[0]) if same or here else without_message(action)
    return f"{name} would help, but no state of the cycle enables it: in state {number}, {obstacle.sentence}."
