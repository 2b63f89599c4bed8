"""A network that takes all messages of a set that is stored: compiled code as the interpreter."""

from __future__ import annotations

from pathlib import Path

from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.result import Limits

WORLD = """
Seat = constant("Seat", IdentSet(), "x")


class Slip(Record):
    n: Int(0, 1)
    by: Seat


class State(Record):
    net: MessageSet[Slip]
    kept: Set[Slip]
    n: Int(0, 9)


@spec.init
def init():
    yield State(net=set(), kept=set(), n=0)


@spec.action
def keep(st, i: Seat, n: Int(0, 1)):
    yield st.set(kept=st.kept | {Slip(n=n, by=i)})


@spec.action
def drop(st, i: Seat):
    yield st.set(kept={m for m in st.kept if m.by != i})


@spec.action
def post(st):
    yield st.set(net=st.net.send_all(st.kept), n=len(st.net.send_all(st.kept)))


@spec.action
def take(st):
    for m in st.net.send_all(st.kept):
        yield st.set(net=st.net.send_all(st.kept).discard(m), kept=set())


@spec.reachable
def AllAreOld(st):
    return all(m.n == 1 for m in st.net.send_all(st.kept)) and len(st.net) > 1
"""


def test_a_stored_set_is_sent_as_its_messages(tmp_path: Path) -> None:
    model = model_of(tmp_path, WORLD, "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=200), at_most=100, seed=1)
    assert list(differences(kernels_of(model), states))[:2] == []
