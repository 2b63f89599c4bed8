"""Traces under symmetry: a run through the states that were found, where several permutations of a state would fit."""

from __future__ import annotations

from pathlib import Path

from support.specs.small import model_of

from kmc.reference.search import Search

HANDED = """
Client = constant("Client", IdentSet(symmetric=True), "Who")


class State(Record):
    holder: Opt[Client]
    last: Opt[Client]


@spec.init
def init():
    for c in Client:
        yield State(holder=c, last=None)


@spec.action
def let_go(st, c: Client):
    if st.last is None:
        yield st.set(holder=None, last=c)


spec.symmetry("clients", Client)


@spec.action_property
def TheHolderWasLast(st, nxt):
    return nxt.last == st.holder
"""
"""Whoever held it, the state afterwards is the same up to symmetry; the property holds in one of these steps."""


def test_under_symmetry_the_last_step_of_a_trace_is_one_that_breaks_the_property(tmp_path: Path) -> None:
    cfg = "CONSTANT Client = {a, b, c} SYMMETRY clients PROPERTY TheHolderWasLast CHECK_DEADLOCK FALSE"
    result = Search(model_of(tmp_path, HANDED, cfg)).run()
    assert result.violation is not None
    assert [step.label for step in result.violation.trace.steps] == ["Initial predicate", "LetGo(b)"]
    assert result.levels == (1, 1)


TWO_WAYS = """
Client = constant("Client", IdentSet(symmetric=True), "Who")


class State(Record):
    n: Int(0, 3)
    who: Opt[Client]


@spec.init
def init():
    yield State(n=0, who=None)


@spec.action
def to_two(st, c: Client):
    if st.n == 0:
        yield st.set(n=2, who=c)


@spec.action
def to_one(st, c: Client, d: Client):
    if st.n == 0 and c != d:
        yield st.set(n=1, who=d)


@spec.action
def on(st):
    if st.n == 1 or st.n == 2:
        yield st.set(n=3)


spec.symmetry("clients", Client)


@spec.invariant
def NotThree(st):
    return st.n != 3
"""
"""Two ways to a failing state; the lesser one, found later, reaches another permutation of it."""


def test_under_symmetry_a_trace_takes_the_least_way_to_any_permutation_of_its_end(tmp_path: Path) -> None:
    cfg = "CONSTANT Client = {a, b} SYMMETRY clients INVARIANT NotThree"
    result = Search(model_of(tmp_path, TWO_WAYS, cfg)).run()
    assert result.violation is not None
    assert [step.state.n for step in result.violation.trace.steps] == [0, 1, 3]
