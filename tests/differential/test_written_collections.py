"""Collections that a spec writes out, pairs beside sets, and collections of different types: equal as to Python.

Each goal is compared with the interpreter on every state of a small world; a goal is a question that compiled code once
answered wrongly, by comparing words of different meaning or no words at all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.steps import differences, kernels_in_python, level_states
from support.specs.small import model_of

from kmc.result import Limits

WORLD = """
from kmc.lang import Pair, pair, pairs

Seat = constant("Seat", IdentSet(), "x")


class Role(Enum):
    IDLE, BUSY = range(2)


class Base(Record):
    n: Int(0, 1)


class Derived(Base):
    ok: Bool


class Cell(Record):
    row: Int(0, 9)
    column: Int(0, 6)


class State(Record):
    n: Int(0, 2)
    some: Set[Seat]
    two: Pair[Seat]
    maybe: Opt[Pair[Seat]]
    edges: Set[Pair[Seat]]
    weights: PartialMap[Pair[Seat], Bool]
    bag: Set[Base | Derived]
    top: Base | Derived | None
    narrow: Seq[Set[Opt[Int(0, 1)]], 2]
    wide: Seq[Set[Opt[Int(0, 2)]], 2]
    numbers: Seq[Int(0, 2), 1]
    roles: Seq[Role, 1]
    grid: Map[Cell, Bool]


@spec.init
def init():
    first, second = pair(Seat.at(1), Seat.at(2)), pair(Seat.at(2), Seat.at(3))
    for n in range(3):
        for some in subsets(Seat):
            yield State(
                n=n, some=some, two=second, maybe=None if n == 0 else first, edges={first} if n < 2 else set(),
                weights={first: True} if n > 0 else {}, bag=set() if n == 0 else {Derived(n=0, ok=n == 1), Base(n=1)},
                top=None if n == 0 else Derived(n=n - 1, ok=True) if n == 1 else Base(n=1),
                narrow=[{None, n % 2}], wide=[{None, n}], numbers=[n] if n == 1 else [],
                roles=[Role.BUSY] if n == 2 else [],
                grid={c: c.row == 9 for c in {Cell(row=i, column=k) for i in range(10) for k in range(7)}},
            )


@spec.action
def turn(st):
    yield st.set(n=(st.n + 1) % 3)
"""
GOALS = (
    "{st.n} in {{1}, {2}}",
    "{st.n, 1} in [{1}, {1, 2}]",
    "len({{st.n, 1}, {1}}) == 1",
    "len({{st.n, k} for k in range(3)}) == 3",
    "(st.n, {st.n}) in {(1, {1}), (2, {1})}",
    "st.some in st.edges",
    "st.some in pairs(Seat)",
    "st.some in st.weights",
    "{st.some} <= st.edges",
    "{st.some} & st.edges == set()",
    "{st.some, st.two} == {st.two}",
    "st.two == set() or st.maybe in st.edges",
    "None in st.edges",
    "st.top in st.bag",
    "len(st.bag | {Derived(n=0, ok=True)}) == 2",
    "st.narrow == st.wide",
    "[{None, st.n}] == st.wide",
    "st.narrow in {st.wide}",
    "st.numbers == st.roles",
    "len(st.grid.keys()) == 70",
    "sum(1 for c in st.grid.keys() if c.row == 9 and st.grid[c]) == 7",
)
CHANGES = (
    "two=st.some",
    "maybe=st.some",
    "edges=st.edges | {st.some}",
    "weights=st.weights.add(st.some, False)",
    "bag=st.bag | {st.top}",
    "bag={x.set(n=1 - x.n) for x in st.bag}",
)


@pytest.mark.slow
def test_goals_and_changes_of_written_collections_are_those_of_the_interpreter(tmp_path: Path) -> None:
    goals = [f"\n\n@spec.reachable\ndef goal_{n}(st):\n    return {goal}\n" for n, goal in enumerate(GOALS)]
    model = model_of(tmp_path / "goals", WORLD + "".join(goals), "CONSTANT Seat = {a, b, c}")
    states = level_states(model, Limits(states=60), at_most=24, seed=1)
    assert list(differences(kernels_in_python(model), states))[:2] == []
    for change in CHANGES:
        source = f"{WORLD}\n\n@spec.action\ndef change(st):\n    yield st.set({change})\n"
        changed = model_of(tmp_path / "change", source, "CONSTANT Seat = {a, b, c}")
        states = level_states(changed, Limits(states=60), at_most=24, seed=1)
        assert list(differences(kernels_in_python(changed), states))[:2] == [], change
