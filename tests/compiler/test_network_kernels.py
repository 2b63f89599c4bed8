"""Entries of a network are found among any number of them, and not behind their end."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from support.native_steps import differences, kernels_of, level_states
from support.small_specs import model_of

from kmc.actions.relation import NextStateRelation
from kmc.compiler.ir.nodes import LANES, Module
from kmc.compiler.load_module import compile_module
from kmc.compiler.successor.network_kernels import network_functions
from kmc.errors import KmcError, SpecError
from kmc.reference.initial import initial_states
from kmc.result import Limits
from kmc.runtime.codec import encode_row
from kmc.runtime.state_layout import Layout, NetworkLayout, RecordLayout, RowLayout

SIZES = [*range(LANES // 2 + 3), LANES - 1, LANES, LANES + 1, 2 * LANES, 3 * LANES + 5]
COUNT_BITS = 2


@pytest.mark.parametrize("words", [1, 2])
def test_each_of_any_number_of_entries_is_found(words: int) -> None:
    layout = NetworkLayout((), COUNT_BITS, 0, words)
    row = RowLayout(RecordLayout(Layout(64), {}), 1, (("network", layout),))
    module = Module(tuple(network_functions(0, layout, row, 1 << 10, 3)))
    native = compile_module(module)
    for size in SIZES:
        entries = [[(7 * number << COUNT_BITS) | number % 4, *[number] * (words - 1)] for number in range(size + LANES)]
        memory = array("Q", [word for entry in entries for word in entry])
        wanted = [[entry[0] >> COUNT_BITS << COUNT_BITS, *entry[1:]] for entry in entries]
        found = [native.call("find_0", [(memory, 0)], [0, size, *entry]) for entry in wanted]
        assert found == [*range(size), *[(1 << 64) - 1] * LANES]


MANY = """
Server = constant("Server", IdentSet(), "The servers")

class Hi(Message):
    source: Server
    dest: Server
    n: Int(0, 99)

class State(Record):
    bag: MessageBag[Hi, 80, 2]
    sent: MessageSet[Hi, 80]
    n: Int(0, 99)

@spec.init
def init():
    for s in Server:
        yield State(
            bag={Hi(source=s, dest=s, n=n): 0 if n % 5 == 4 else 1 for n in range(0, 70)},
            sent={Hi(source=s, dest=s, n=n) for n in range(0, 70)},
            n=0,
        )

@spec.receive(Hi, network="bag")
def take(st, m):
    if m.n % 7 != 0:
        yield st.set(bag=st.bag.take(m), n=m.n)

@spec.action
def lose(st):
    yield st.set(sent=st.sent.keep(lambda m: m.n % 3 == 0))

@spec.action
def lose_and_send(st, s: Server):
    for n in range(2, 5):
        kept = st.sent.keep(lambda m: m.n % n == 0)
        yield st.set(sent=kept.discard(Hi(source=s, dest=s, n=60)).send(Hi(source=s, dest=s, n=99)), n=n)
"""
"""More messages than are looked at together, some of which cannot be delivered, and filters of them."""


def test_many_messages_are_received_and_lost_as_in_the_interpreter(tmp_path: Path) -> None:
    model = model_of(tmp_path, MANY, "CONSTANT Server = {s}")
    kernels = kernels_of(model)
    states = level_states(model, Limits(states=60), at_most=30)
    assert list(differences(kernels, states)) == []
    state = states[0]
    found = kernels.expand(encode_row(state))
    assert found is not None
    assert len(found) == sum(m.n % 7 != 0 and state.bag.count(m) > 0 for m in state.bag) + 1 + 3


@pytest.mark.parametrize(
    "call", ["bag.send(m)", "bag.discard(m)", "bag.keep(lambda k: k == m)", "sent.add(m)", "sent.take(m)"]
)
def test_a_set_of_messages_has_no_method_of_a_bag_nor_the_reverse(call: str, tmp_path: Path) -> None:
    field = call.partition(".")[0]
    model = model_of(tmp_path, MANY.replace("bag=st.bag.take(m)", f"{field}=st.{call}"), "CONSTANT Server = {s}")
    with pytest.raises(SpecError) as refused:
        kernels_of(model)
    assert refused.value.code == "KMC811"
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    with pytest.raises(KmcError) as failed:
        list(relation.steps(initial_states(model)[0]))
    assert failed.value.code == "KMC243"
