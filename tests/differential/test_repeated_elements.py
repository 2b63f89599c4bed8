"""Equal elements of sequences, of values of maps and of comprehensions, each once in a set; and ranges of no elements.

The interpreter's number is given by hand; compiled code is compared with the interpreter on every initial state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.oracles.steps import differences, expected_steps, kernels_in_python
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.reference.states.initial import initial_states

WORLD = """
from kmc.lang import functions, sequences

Seat = constant("Seat", IdentSet(), "x")


class Slip(Record):
    n: Int(0, 3)
    by: Opt[Seat]


class Pair(Record):
    seats: Set[Seat]


class Single(Record):
    seat: Seat


class Member(Record):
    pair: Pair
    seat: Seat


class State(Record):
    n: Int(0, 40)
    at: Set[Seat]
    s: Seq[Slip, 2]
    o: Opt[Seq[Int(0, 3), 2]]
    m: PartialMap[Seat, Slip]


ONE = Slip(n=1, by=None)
NONE = frozenset()


def parity(n):
    return n % 2


def halved(n, by):
    return Slip(n=n // 2, by=by)


@spec.init
def init():
    yield State(n=0, at=set(Seat), s=[ONE, ONE], o=[2, 2], m={i: ONE for i in Seat})
    for at in subsets(Seat):
        yield State(n=1, at=at, s=[ONE, Slip(n=0, by=None)], o=[0, 3], m={i: Slip(n=2, by=i) for i in at})
    yield State(n=2, at=set(), s=[], o=[], m={})
"""
# A number, and its value in the first state, where all slips are equal.
NUMBERS = (
    ("count(True for f in functions(st.at, st.s))", 1),
    ("count(True for f in functions(Seat, st.m.values()))", 1),
    ("count(True for f in functions(Seat, [e for e in st.s]))", 1),
    ("count(True for f in functions(Seat, (e for e in st.s)))", 1),
    ("count(True for f in functions(Seat, st.s if st.n < 2 else [ONE, ONE]))", 1),
    ("count(True for f in functions(Seat, functions(st.at, st.s)))", 1),
    ("count(True for f in functions(Seat, st.o))", 1),
    ("count(True for f in functions([1, 1, 2], st.at))", 4),
    ("len({f for f in functions(Seat, st.s)})", 1),
    ("count(True for q in sequences(st.s, 2))", 3),
    ("count(True for q in sequences(st.m.values(), 1))", 2),
    ("count(True for q in sequences([], 2))", 1),
    ("count(True for f in functions(Seat, NONE))", 0),
    ("count(True for f in functions(st.at, NONE))", 0),
    ("count(True for f in functions(st.at, range(3, 3)))", 0),
    ("count(True for f in functions(st.at, functions(Seat, NONE)))", 0),
    ("count(True for q in sequences(functions(Seat, NONE), 2))", 1),
    ("sum({parity(n=k) for k in range(0, 4)})", 1),
    ("len({halved(n=k, by=i) for k in range(0, 4) for i in st.at})", 4),
    ("sum({max({e.n for e in st.s}, default=k) for k in range(0, 3)})", 1),
    ("len({Slip(n=k // 2, by=i) for k in range(0, 4) for i in st.at})", 4),
    ("len({Slip(n=k, by=i) for k in range(0, 4) for i in st.at})", 8),
    ("len({ONE.set(n=k) for k in range(0, 4)})", 4),
    (
        "len({Member(pair=p, seat=i)"
        " for p in {Pair(seats=st.at)} | {Single(seat=j) for j in Seat} if isinstance(p, Pair) for i in p.seats})",
        2,
    ),
    ("len({e.set(n=k) for k in range(0, 4) for e in {ONE, Slip(n=2, by=None)}})", 4),
)
# A choice, and its steps in the first state.
CHOICES = (
    ("for f in functions(st.at, st.s):\n        yield st.set(m=f)", 1),
    ("for q in sequences(st.s, 2):\n        yield st.set(s=q)", 3),
    ("for f in functions(st.at, NONE):\n        yield st.set(m=f)", 0),
    ("for k in {parity(n=k) for k in range(0, 4)}:\n        yield st.set(n=k)", 2),
)


@pytest.mark.parametrize(("text", "value"), NUMBERS)
def test_a_number_counts_equal_elements_once(tmp_path: Path, text: str, value: int) -> None:
    assert [to.n for to in same_steps(tmp_path, f"yield st.set(n={text})")] == [value]


@pytest.mark.parametrize(("text", "steps"), CHOICES)
def test_equal_elements_are_one_choice(tmp_path: Path, text: str, steps: int) -> None:
    assert len(same_steps(tmp_path, text)) == steps


def same_steps(folder: Path, body: str) -> list[Any]:
    """The successors of the first state by an action with this body, which are the same in compiled code."""
    model = model_of(folder, f"{WORLD}\n\n@spec.action\ndef act(st):\n    {body}\n", "CONSTANT Seat = {a, b}")
    states = list(initial_states(model))
    assert list(differences(kernels_in_python(model), states))[:2] == []
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    return [to for _, _, to in expected_steps(relation, states[0]) or ()]
