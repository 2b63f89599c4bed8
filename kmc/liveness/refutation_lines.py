"""The refutation of a temporal property by a behaviour, in words: why the property fails, and why the cycle is fair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from kmc.result import AssumedFairness, CutFairness, Cycle, FairnessMet, HowMet, Violation

_NAMED_MAX = 3
"""The number of conditions of a group that are named, if not all are met in the same way."""

_ORDER = (HowMet.TAKEN, HowMet.DISABLED, HowMet.NEVER_ENABLED)

Condition = TypeVar("Condition", FairnessMet, AssumedFairness)


def refuted_property(violation: Violation) -> str:
    """`Answered (v = v1)`."""
    instance = violation.refutation.instance if violation.refutation is not None else ""
    return f"{violation.name} ({instance})" if instance else f"{violation.name}"


def refutation_lines(violation: Violation) -> Iterator[str]:
    """The lines below the trace."""
    refutation = violation.refutation
    if refutation is None:
        return
    yield f"Why {refuted_property(violation)} is violated: {refutation_sentence(violation)}"
    if refutation.cycle is not None:
        yield from fairness_lines(refutation.cycle)


def refutation_sentence(violation: Violation) -> str:
    """Why the behaviour refutes the property, and how it goes on for ever."""
    refutation, length = violation.refutation, len(violation.trace)
    if refutation is None:
        return ""
    given = f"{refutation.why}. " if refutation.why else ""
    cycle = refutation.cycle
    if cycle is None:
        return f"{given}However the behavior goes on, the property is false."
    if cycle.closing is None:
        return f"{given}The behavior stutters in state {length} for ever."
    return f"{given}States {cycle.back_to} to {length} repeat for ever."


def fairness_lines(cycle: Cycle) -> Iterator[str]:
    """Why the cycle is fair: a line per group of conditions, and one for all groups that the whole cycle disables."""
    if not cycle.fairness:
        yield "The specification assumes no fairness."
        return
    yield "Why the behavior is fair:"
    idle: list[str] = []
    for conditions in _by_group(cycle.fairness):
        if all(met.how is HowMet.NEVER_ENABLED for met in conditions):
            idle.append(_counted(conditions))
        else:
            yield from (f"  {line}" for line in _group_lines(conditions, cycle))
    if idle:
        yield f"  Disabled throughout: {', '.join(idle)}"


def _by_group(conditions: Iterable[Condition]) -> list[list[Condition]]:
    """The conditions that are shown together, in the order in which each group comes first."""
    groups: dict[tuple[str, bool], list[Condition]] = {}
    for condition in conditions:
        groups.setdefault((condition.group, condition.strong), []).append(condition)
    return list(groups.values())


def _group_lines(conditions: Sequence[FairnessMet], cycle: Cycle) -> Iterator[str]:
    """A line for a group, and one for each way in which its conditions are met where there are several."""
    if len(conditions) == 1:
        yield f"{conditions[0].name}: {how_text(conditions[0], cycle)}"
        return
    ways: dict[str, list[str]] = {}
    for met in sorted(conditions, key=lambda met: _ORDER.index(met.how)):
        ways.setdefault(how_text(met, cycle), []).append(met.name)
    head = f"{group_text(conditions)}: {len(conditions)} instances"
    if len(ways) == 1:
        yield f"{head}, all {next(iter(ways))}"
        return
    yield head
    for way, names in ways.items():
        yield f"  {', '.join(names) if len(names) <= _NAMED_MAX else f'{len(names)} of them'}: {way}"


def group_text(conditions: Sequence[Condition]) -> str:
    """`WF of Send`, or the name of the only condition of a group."""
    first = conditions[0]
    return first.name if len(conditions) == 1 else f"{'SF' if first.strong else 'WF'} of {first.group}"


def how_text(met: FairnessMet, cycle: Cycle) -> str:
    """`taken in the step to state 3`."""
    match met.how:
        case HowMet.TAKEN:
            return f"taken in the step {'back ' if met.state == cycle.back_to else ''}to state {met.state}"
        case HowMet.DISABLED:
            return f"disabled in state {met.state}"
        case HowMet.NEVER_ENABLED:
            return "disabled throughout"


def assumed_text(fairness: Iterable[AssumedFairness]) -> str:
    """The fairness that a specification assumes: `WF_vars(Tick), WF of Send (9 instances)`."""
    return ", ".join(map(_counted, _by_group(fairness)))


def _counted(conditions: Sequence[Condition]) -> str:
    """`WF of Send (9 instances)`."""
    return group_text(conditions) + (f" ({len(conditions)} instances)" if len(conditions) > 1 else "")


def cut_texts(cut: Iterable[CutFairness], constraints: str) -> Iterator[str]:
    """The warnings about fairness that a constraint may have falsified, one per group of conditions."""
    for group, conditions in groupby(cut, key=lambda fair: fair.group):
        named = list(conditions)
        which = named[0].name if len(named) == 1 else f"{group}, {len(named)} instances, first {named[0].name},"
        yield (
            f"{constraints} drops steps that fairness asks for: {which} first in the state {named[0].state}. "
            f"A behavior that takes them is not looked at."
        )
