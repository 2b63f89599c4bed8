"""A spec in which each kind of failure, and a refutation of a temporal property, occurs in a level that a plan gives.

A state counts its steps in `n`, so a state of level n + 1 has that number. Behaviours divide into two ways after the
initial state. Failures are those of the first way, or of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any

from kmc.frontend.model import Model
from kmc.liveness.problem import TemporalProblem
from kmc.reference.states.initial import initial_states

SOURCE = """
from kmc.spec import always, leads_to

Place = Int(0, 99)


class Plan(Record):
    on_both_ways: Bool
    refuted: Place
    violated: Place
    stepped: Place
    unevaluated: Place
    asserted: Place
    erring: Place
    dead: Place
    unknown: Place


class State(Record):
    n: Int(0, 6)
    way: Int(0, 2)
    low: Opt[Int(0, 1)]
    plan: Plan


@spec.init
def init():
    yield State(
        n=0,
        way=0,
        low=0,
        plan=Plan(
            on_both_ways=False, refuted=99, violated=99, stepped=99, unevaluated=99, asserted=99, erring=99, dead=99,
            unknown=99,
        ),
    )


def fails(st, place):
    return st.n == place and (st.way != 2 or st.plan.on_both_ways)


@spec.action
def up(st, way: Int(1, 2)):
    require(st.way == 0 or st.way == way)
    require(not fails(st, st.plan.dead))
    require(st.n < 6)
    assert not fails(st, st.plan.asserted)
    added = 9 if fails(st, st.plan.erring) else 1
    new = st.set(n=st.n + added, way=way)
    yield new.set(low=None if fails(new, st.plan.unevaluated) else 0)


@spec.action
def rest(st):
    if st.n == 6:
        yield st


@spec.invariant
def Fine(st):
    return not fails(st, st.plan.violated)


@spec.invariant
def Low(st):
    return st.low + 1 < 9


@spec.action_property
def FineSteps(st, nxt):
    return not fails(nxt, nxt.plan.stepped)


@spec.liveness
def Stays():
    return always(lambda st: st.n != st.plan.refuted)


@spec.liveness
def GoesOn():
    return leads_to(lambda st: st.n == st.plan.refuted, lambda st: st.n == 6)


@spec.liveness
def Known():
    return always(lambda st: not fails(st, st.plan.unknown) or st.low == None and st.low + 1 < 9)
"""
"""`Known` has no value in a state that `unknown` gives."""

CFG = "INVARIANTS Fine Low PROPERTIES FineSteps Stays GoesOn Known"

REFUTATIONS = ("Stays", "GoesOn")
"""The properties that `refuted` refutes: by a prefix, and by a behaviour that stays for ever."""

OF_NEW_STATES = ("violated", "stepped", "unevaluated", "unknown")
"""Failures that show when a state is made; the others show when it is expanded."""

FAILURES = (*OF_NEW_STATES, "asserted", "erring", "dead")


@dataclass(frozen=True)
class EndCase:
    """A plan, the temporal properties that are checked, and the level whose making shows the refutation.

    The first failure shows `later` levels after that.
    """

    plan: tuple[tuple[str, int], ...]
    on_both_ways: bool
    properties: tuple[str, ...]
    refuted_at: int
    later: int

    def start(self, model: Model) -> Any:
        """The initial state with this plan."""
        (state,) = initial_states(model)
        return state.set(plan=state.plan.set(on_both_ways=self.on_both_ways, **dict(self.plan)))

    def problem(self, of_all: TemporalProblem) -> TemporalProblem:
        """The problem of its properties; all problems of a model share what is compiled."""
        chosen = [number for number, check in enumerate(of_all.checks) if check.name in self.properties]
        checks = tuple(of_all.checks[number] for number in chosen)
        return replace(of_all, checks=checks, formulas=tuple(of_all.formulas[number] for number in chosen))


def cases(seed: int) -> Iterator[EndCase]:
    """Each failure one level before a refutation, in its level, and one level after it; on one way and on both.

    The rest is drawn: the level, the property, and in half of the cases a second failure.
    """
    random = Random(seed)
    for failure, later, on_both_ways in product(FAILURES, (-1, 0, 1), (False, True)):
        refuted = random.randint(1, 3)
        plan = {"refuted": refuted, failure: place_of(failure, refuted, later)}
        if random.random() < 0.5:
            other = random.choice(FAILURES)
            plan.setdefault(other, place_of(other, refuted, random.choice((0, 1, 2))))
        properties = (random.choice(REFUTATIONS), *(["Known"] if "unknown" in plan else []))
        yield EndCase(tuple(plan.items()), on_both_ways, properties, refuted + 2, later)


def place_of(failure: str, refuted: int, later: int) -> int:
    """Where a failure occurs that shows so many levels later than the refutation in the state `refuted`."""
    return refuted + later + (failure in OF_NEW_STATES)
