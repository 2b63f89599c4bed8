"""A value that may be none of a network's messages, discarded or looked for: compiled code as the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.compiler.lowering import network_methods
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.result import Limits

WORLD = """
class Slip(Record):
    n: Int(0, 1)


class Bill(Record):
    n: Int(0, 1)
    sum: Int(0, 1)


class State(Record):
    slips: MessageSet[Slip]
    papers: MessageSet[Slip | Bill]
    posted: MessageBag[Slip, 2, 1]
    held: Slip | Bill | None


@spec.init
def init():
    yield State(slips=set(), papers=set(), posted={}, held=None)


@spec.action
def write(st, n: Int(0, 1)):
    yield st.set(slips=st.slips.send(Slip(n=n)), papers=st.papers.send(Bill(n=n, sum=1 - n)))


@spec.action
def copy(st):
    for m in st.slips:
        yield st.set(papers=st.papers.send(m))


@spec.action
def hold(st):
    for m in st.papers:
        yield st.set(held=m)


@spec.action
def burn(st):
    for m in st.papers:
        yield st.set(slips=st.slips.discard(m), papers=st.papers.discard(m))


@spec.action
def forget(st):
    yield st.set(slips=st.slips.send(Slip(n=0)).discard(st.held), papers=st.papers.discard(st.held), held=None)


@spec.action
def tear(st, n: Int(0, 1)):
    yield st.set(slips=st.slips.discard(Bill(n=n, sum=n)), held=None)


@spec.action
def put_back(st):
    for m in st.papers:
        if m in st.slips and st.held in st.slips.send(Slip(n=1)):
            yield st.set(held=m)


@spec.action
def post(st):
    for m in st.slips:
        if st.posted.count(m) == 0:
            yield st.set(posted=st.posted.add(m))


@spec.action
def fetch(st):
    if st.held in st.posted and st.posted.count(Slip(n=0)) == 1:
        yield st.set(posted=st.posted.take(Slip(n=0)))


@spec.reachable
def HeldIsASlip(st):
    return st.held in st.slips


@spec.reachable
def HeldIsPosted(st):
    return st.held in st.posted and st.held not in st.papers


@spec.reachable
def OneIsLeft(st):
    return st.held is not None and len(st.slips.discard(st.held)) == 1 and len(st.papers.discard(st.held)) > 1
"""


def world(folder: Path) -> Model:
    return model_of(folder, WORLD)


def test_a_value_of_another_class_leaves_the_network_as_it_is(tmp_path: Path) -> None:
    model = world(tmp_path)
    states = level_states(model, Limits(states=200), at_most=100, seed=1)
    assert list(differences(kernels_of(model), states))[:2] == []


def test_a_value_that_is_taken_for_a_message_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_methods, "may_be_foreign", lambda *given: False)
    with pytest.raises(SpecError, match="Bill in this network"):
        kernels_of(world(tmp_path))
