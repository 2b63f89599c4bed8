"""The moves of a state: the instances of actions that are enabled, each with its successors, and the others.

Invariant: every instance that the next-state relation tries in the state is in exactly one of the three lists, in an
order that depends on values only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kmc.actions.relation import ActionInstance, NextStateRelation
from kmc.errors import KmcError
from kmc.lang.order import SortKey, sort_key
from kmc.lang.records import State
from kmc.reference.states.traces import trace_step
from kmc.result import TraceStep


@dataclass(frozen=True, slots=True)
class InstanceMove:
    """A step that an enabled instance allows; `ways` is how often the relation generates it."""

    instance: ActionInstance
    step: TraceStep
    ways: int


@dataclass(frozen=True, slots=True)
class InstancesOfState:
    """The enabled moves, the instances that are not enabled, and those whose evaluation fails, with the error."""

    enabled: tuple[InstanceMove, ...]
    disabled: tuple[ActionInstance, ...]
    failing: tuple[tuple[ActionInstance, KmcError], ...]


def moves_of(relation: NextStateRelation, state: State) -> InstancesOfState:
    """All that can and cannot happen in `state`."""
    enabled: list[InstanceMove] = []
    disabled: list[ActionInstance] = []
    failing: list[tuple[ActionInstance, KmcError]] = []
    for instance in _in_order(relation, state):
        try:
            successors = Counter(relation.successors(instance, state))
        except KmcError as error:
            failing.append((instance, error))
            continue
        if not successors:
            disabled.append(instance)
        for successor in sorted(successors, key=sort_key):
            step = trace_step((instance.action, instance.arguments, successor))
            enabled.append(InstanceMove(instance, step, successors[successor]))
    return InstancesOfState(tuple(enabled), tuple(disabled), tuple(failing))


def _in_order(relation: NextStateRelation, state: State) -> list[ActionInstance]:
    """The instances: actions as declared, then by arguments and message."""
    by_action: dict[str, list[ActionInstance]] = {}
    for instance in relation.instances(state):
        by_action.setdefault(instance.action.title, []).append(instance)
    return [instance for instances in by_action.values() for instance in sorted(instances, key=_key)]


def _key(instance: ActionInstance) -> tuple[tuple[SortKey, ...], tuple[SortKey, ...]]:
    received = () if instance.message is None else (sort_key(instance.message),)
    return tuple(map(sort_key, instance.arguments)), received
