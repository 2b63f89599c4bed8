"""Assignments of variables in an action or an initial predicate; where a variable has a value, they compare.

A variable that an assignment has given a value has none again when the assignment is through.
"""

from __future__ import annotations

from kmc.errors import EvaluationError
from kmc.tla.resolved.nodes import Argument
from kmc.tla.run.frames import NEXT, STATE, UNASSIGNED, Act, Code, Frame, PartialState, Rest, proceed
from kmc.tla.values.kinds import SymbolicSet
from kmc.tla.values.order import equal, ordered
from kmc.tla.values.sets import PowerSet, as_set, member


def assign(index: int, code: Code, right: Argument) -> Act:
    """Return the enumeration of `x = e`."""
    place = right.place

    def run(frame: Frame, rest: Rest) -> None:
        partial: PartialState = frame[NEXT]
        value = code(frame)
        known = partial[index]
        if known is UNASSIGNED:
            partial[index] = value
            partial.unassigned -= 1
            proceed(partial, rest)
            partial[index] = UNASSIGNED
            partial.unassigned += 1
            return
        try:
            holds = equal(known, value)
        except EvaluationError as error:
            raise error.at(place) from None
        if holds:
            proceed(partial, rest)

    return run


def assign_member(index: int, code: Code, right: Argument, is_subset: bool) -> Act:
    r"""Return the enumeration of `x \in S`, or of `x \subseteq S`."""
    place = right.place
    operator = "\\subseteq" if is_subset else "\\in"

    def run(frame: Frame, rest: Rest) -> None:
        partial: PartialState = frame[NEXT]
        known = partial[index]
        try:
            values = as_set(code(frame), operator)
            choices = PowerSet(values) if is_subset else values
            if known is not UNASSIGNED:
                holds = member(known, choices)
            else:
                listing = choices.elements() if isinstance(choices, SymbolicSet) else ordered(choices)
        except EvaluationError as error:
            raise error.at(place) from None
        if known is not UNASSIGNED:
            if holds:
                proceed(partial, rest)
            return
        partial.unassigned -= 1
        for value in listing:
            partial.ticks -= 1
            if not partial.ticks:
                partial.poll_now()
            partial[index] = value
            proceed(partial, rest)
        partial[index] = UNASSIGNED
        partial.unassigned += 1

    return run


def keep(indices: tuple[int, ...]) -> Act:
    """Return the enumeration of UNCHANGED for variables."""

    def run(frame: Frame, rest: Rest) -> None:
        partial: PartialState = frame[NEXT]
        state = frame[STATE]
        assigned = []
        holds = True
        for index in indices:
            known = partial[index]
            if known is UNASSIGNED:
                partial[index] = state[index]
                assigned.append(index)
            elif not equal(known, state[index]):
                holds = False
                break
        partial.unassigned -= len(assigned)
        if holds:
            proceed(partial, rest)
        for index in assigned:
            partial[index] = UNASSIGNED
        partial.unassigned += len(assigned)

    return run
