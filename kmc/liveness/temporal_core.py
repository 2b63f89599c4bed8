"""Temporal formulas in negation normal form, over sets: the small language that queries are made of.

A formula that holds at all times of a behaviour if it holds at any is a tail: []<> and <>[] of a predicate, and
combinations of them. Invariant: `finally_` and `globally` move tails out of their operand, and []<> and <>[] of any
formula become tails. So the formulas that are left under them describe a finite part of the behaviour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

from kmc.liveness.lasso_queries import (
    NO_STATES,
    NO_STEPS,
    AllStates,
    AllSteps,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)
from kmc.liveness.set_algebra import and_states, and_steps, or_states, or_steps

EVERY_STATE: StateSet = AllStates()
EVERY_STEP: StepSet = AllSteps()


@dataclass(frozen=True, slots=True)
class Now:
    """The first state is one of `states`."""

    states: StateSet


@dataclass(frozen=True, slots=True)
class Box:
    """[][steps]_vars: each step that changes anything is one of `steps`."""

    steps: StepSet


@dataclass(frozen=True, slots=True)
class Diamond:
    """<><<steps>>_vars: some step that changes anything is one of `steps`."""

    steps: StepSet


@dataclass(frozen=True, slots=True)
class Finally:
    """<>part, of a part that is not a tail."""

    part: Core


@dataclass(frozen=True, slots=True)
class Globally:
    """[]part, of states, or of a disjunction of states, `Finally`, `Diamond`, `Globally` and `Box`."""

    part: Core


@dataclass(frozen=True, slots=True)
class Settled:
    """<>[]: from some time on all states, and all steps that change anything, are those of the sets."""

    states: StateSet = EVERY_STATE
    steps: StepSet = EVERY_STEP


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The conjunction; TRUE without parts."""

    parts: tuple[Core, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """The disjunction; FALSE without parts."""

    parts: tuple[Core, ...]


Core: TypeAlias = Now | Box | Diamond | Finally | Globally | Recurrence | Settled | Response | Conjunction | Disjunction

CASES_MAX = 1024
"""A normal form with more parts is refused; queries are limited further."""


class TooManyCases(Exception):
    """The formula has more cases than kmc considers."""


TRUE = Conjunction(())
FALSE = Disjunction(())


def is_tail(core: Core) -> bool:
    """Whether the formula holds at all times of a behaviour if it does at one."""
    match core:
        case Recurrence() | Settled() | Response():
            return True
        case Conjunction(parts) | Disjunction(parts):
            return all(map(is_tail, parts))
        case _:
            return False


def now(states: StateSet) -> Core:
    """A predicate of the first state."""
    return TRUE if states == AllStates() else FALSE if states == NO_STATES else Now(states)


def all_(cores: Iterable[Core]) -> Core:
    """The conjunction."""
    parts: list[Core] = []
    for core in cores:
        parts += core.parts if isinstance(core, Conjunction) else (core,)
    states = and_states(part.states for part in parts if isinstance(part, Now))
    kept = [*_flat(now(states), Conjunction), *(part for part in dict.fromkeys(parts) if not isinstance(part, Now))]
    if FALSE in kept:
        return FALSE
    settled = [part for part in kept if isinstance(part, Settled)]
    if len(settled) > 1:
        merged = settle(and_states(one.states for one in settled), and_steps(one.steps for one in settled))
        return all_([*(part for part in kept if not isinstance(part, Settled)), merged])
    return kept[0] if len(kept) == 1 else Conjunction(tuple(kept))


def any_(cores: Iterable[Core]) -> Core:
    """The disjunction."""
    parts: list[Core] = []
    for core in cores:
        parts += core.parts if isinstance(core, Disjunction) else (core,)
    states = or_states(part.states for part in parts if isinstance(part, Now))
    kept = [*_flat(now(states), Disjunction), *(part for part in dict.fromkeys(parts) if not isinstance(part, Now))]
    if TRUE in kept:
        return TRUE
    often = [part for part in kept if isinstance(part, Recurrence)]
    if len(often) > 1:
        merged = infinitely(or_states(one.states for one in often), or_steps(one.steps for one in often))
        return any_([*(part for part in kept if not isinstance(part, Recurrence)), merged])
    return kept[0] if len(kept) == 1 else Disjunction(tuple(kept))


def _flat(core: Core, kind: type[Conjunction | Disjunction]) -> tuple[Core, ...]:
    return core.parts if isinstance(core, kind) else (core,)


def infinitely(states: StateSet = NO_STATES, steps: StepSet = NO_STEPS) -> Core:
    """[]<> of states or steps. Stuttering is not a step, so only a set of states can make this TRUE."""
    if states == AllStates():
        return TRUE
    return FALSE if (states, steps) == (NO_STATES, NO_STEPS) else Recurrence(states, steps)


def settle(states: StateSet = EVERY_STATE, steps: StepSet = EVERY_STEP) -> Core:
    """<>[] of states and steps."""
    if states == NO_STATES:
        return FALSE
    return TRUE if (states, steps) == (AllStates(), AllSteps()) else Settled(states, steps)


def answered(trigger: StateSet, states: StateSet = NO_STATES, steps: StepSet = NO_STEPS) -> Core:
    """[]<>trigger => []<> of states or steps."""
    if trigger == NO_STATES or states == AllStates():
        return TRUE
    return Response(trigger, Recurrence(states, steps))


def finally_(core: Core) -> Core:
    """<>core."""
    if is_tail(core):
        return core
    match core:
        case Finally() | Diamond():
            return core
        case Disjunction(parts):
            return any_(map(finally_, parts))
        case Globally() | Box():
            return eventually_always(core)
        case Conjunction(parts):
            tails, rest = _parted(parts)
            if tails:
                return all_([*tails, finally_(all_(rest))])
            return Finally(core)
        case _:
            return Finally(core)


def globally(core: Core) -> Core:
    """[]core."""
    if is_tail(core):
        return core
    match core:
        case Globally() | Box():
            return core
        case Conjunction(parts):
            return all_(map(globally, parts))
        case Finally() | Diamond():
            return always_eventually(core)
        case Disjunction(parts):
            tails, rest = _parted(parts)
            if tails:
                return any_([*tails, globally(any_(rest))])
            clauses = conjuncts(core)
            return Globally(core) if len(clauses) == 1 else all_(map(globally, clauses))
        case _:
            return Globally(core)


def _parted(parts: Iterable[Core]) -> tuple[list[Core], list[Core]]:
    """The tails, and the rest."""
    tails: list[Core] = []
    rest: list[Core] = []
    for part in parts:
        (tails if is_tail(part) else rest).append(part)
    return tails, rest


def always_eventually(core: Core) -> Core:
    """[]<>core, as a tail: the parts of a conjunction recur, or hold from some time on, each by itself."""
    if is_tail(core):
        return core
    match core:
        case Now(states):
            return infinitely(states)
        case Diamond(steps):
            return infinitely(steps=steps)
        case Finally(part):
            return always_eventually(part)
        case Globally() | Box():
            return eventually_always(core)
        case Disjunction(parts):
            return any_(map(always_eventually, parts))
        case Conjunction():
            terms = disjuncts(core)
            if len(terms) > 1:
                return any_(map(always_eventually, terms))
            return all_(map(always_eventually, core.parts))
        case _:
            raise AssertionError(core)


def eventually_always(core: Core) -> Core:
    """<>[]core, as a tail; dual to `always_eventually`."""
    if is_tail(core):
        return core
    match core:
        case Now(states):
            return settle(states)
        case Box(steps):
            return settle(steps=steps)
        case Globally(part):
            return eventually_always(part)
        case Finally() | Diamond():
            return always_eventually(core)
        case Conjunction(parts):
            return all_(map(eventually_always, parts))
        case Disjunction():
            clauses = conjuncts(core)
            if len(clauses) > 1:
                return all_(map(eventually_always, clauses))
            return any_(map(eventually_always, core.parts))
        case _:
            raise AssertionError(core)


def conjuncts(core: Core) -> list[Core]:
    """The conjunctive normal form of the outer connectives: disjunctions of which no part is a conjunction."""
    match core:
        case Conjunction(parts):
            return [clause for part in parts for clause in conjuncts(part)]
        case Disjunction(parts):
            return [any_(choice) for choice in _choices(map(conjuncts, parts))]
        case _:
            return [core]


def disjuncts(core: Core) -> list[Core]:
    """The disjunctive normal form of the outer connectives: conjunctions of which no part is a disjunction."""
    match core:
        case Disjunction(parts):
            return [term for part in parts for term in disjuncts(part)]
        case Conjunction(parts):
            return [all_(choice) for choice in _choices(map(disjuncts, parts))]
        case _:
            return [core]


def _choices(parts: Iterable[list[Core]]) -> Iterator[tuple[Core, ...]]:
    """One of each."""
    lists = list(parts)
    if prod(map(len, lists)) > CASES_MAX:
        raise TooManyCases
    return product(*lists)
