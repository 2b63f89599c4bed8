"""Kernels of networks: an entry is found among any number, and each change is that of the obvious lists of entries."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest
from support.kernels.load_module import compile_module
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.compiler.ir.nodes import LANES, Module
from kmc.compiler.successor.network_kernels import network_functions
from kmc.errors import KmcError, SpecError
from kmc.reference.states.initial import initial_states
from kmc.result import Limits
from kmc.runtime.codec import encode_row, hash_sum
from kmc.runtime.hashing import SECOND
from kmc.runtime.native_module import NativeModule
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


CAPACITY, COUNT_MAX = 5, 2
MEMORY_WORDS, FRONT_WORDS = 64, 2
MESSAGES = range(1, 9)
"""More than the capacity, so that a network gets full."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A bag or a set of entries of so many words, with hash sums for fingerprints of 64 or 128 bits."""

    bag: bool
    words: int
    wide: bool

    @property
    def row(self) -> RowLayout:
        """A row of two fixed words and two networks, the second of this kind."""
        other = NetworkLayout((), 0, 0, 1)
        mine = NetworkLayout((), COUNT_BITS if self.bag else 0, 0, self.words)
        return RowLayout(RecordLayout(Layout(128), {}), 2, (("other", other), ("network", mine)))

    def entry(self, message: int, count: int = 0) -> list[int]:
        """The words of a message; some messages share their first word, others all words but that."""
        first = message if self.words == 1 else message // 2
        return [first << (COUNT_BITS if self.bag else 0) | count, *[message % 2 + 70] * (self.words - 1)]


KINDS = [Kind(*flags) for flags in product((False, True), (1, 2, 3), (False, True))]


@cache
def kernels(kind: Kind) -> NativeModule:
    """The kernels of the second network."""
    mine, count_max = kind.row.networks[1][1], COUNT_MAX if kind.bag else None
    return compile_module(Module(tuple(network_functions(1, mine, kind.row, CAPACITY, count_max, wide=kind.wide))))


@dataclass(slots=True)
class Entries:
    """The obvious network: its messages in the order of their entries, each with its count."""

    kind: Kind
    others: list[int]
    entries: list[list[int]] = field(default_factory=list)  # message, count

    def index(self, message: int) -> int:
        """Where a message is, or -1."""
        return next((k for k, (found, _) in enumerate(self.entries) if found == message), -1)

    def add(self, message: int) -> bool:
        """Whether the message was added."""
        at = self.index(message)
        if at < 0:
            is_full = len(self.entries) == CAPACITY
            self.entries += [] if is_full else [[message, int(self.kind.bag)]]
            return not is_full
        if self.kind.bag:
            is_full = self.entries[at][1] == COUNT_MAX
            self.entries[at][1] += not is_full
            return not is_full
        return True

    def take(self, message: int) -> bool:
        """Whether there was a delivery to take."""
        at = self.index(message)
        if at < 0 or not self.entries[at][1]:
            return False
        self.entries[at][1] -= 1
        return True

    def discard(self, message: int) -> bool:
        """Take the message out; the last entry gets its place."""
        at = self.index(message)
        if at >= 0:
            self.entries[at] = self.entries[-1]
            self.entries.pop()
        return True

    def row(self) -> list[int]:
        """The row with its hash sum in front, and with the second sum before it if there is one."""
        words = [word for message, count in self.entries for word in self.kind.entry(message, count)]
        row = [0, 11, 12, len(self.others), len(self.entries), *self.others, *words]
        sums = [hash_sum(row, self.kind.row, SECOND), hash_sum(row, self.kind.row)]
        return [*(sums if self.kind.wide else sums[1:]), *row[1:]]


def memory_of(network: Entries) -> array[int]:
    """A row in memory, and behind it entries of messages that it does not have."""
    row = network.row()
    behind = [word for message in MESSAGES if network.index(message) < 0 for word in network.kind.entry(message)]
    return array("Q", [*[0] * (FRONT_WORDS - network.kind.wide), *row, *behind, *[0] * MEMORY_WORDS])


def drawn_network(chance: Random, kind: Kind) -> Entries:
    """Some messages, and so many entries of the other network."""
    messages = chance.sample(MESSAGES, chance.randrange(CAPACITY + 1))
    entries = [[message, chance.randrange(COUNT_MAX + 1) if kind.bag else 0] for message in messages]
    return Entries(kind, [chance.randrange(100) for _ in range(chance.randrange(3))], entries)


def refuses(kind: Kind, row: Entries, source: Entries, change: str, message: int, index: int, first: int) -> bool:
    """Change the obvious network and a row in memory, which must stay alike; whether the change was refused."""
    memory = memory_of(row)
    base, here = (kind.row.entries + len(network.others) for network in (row, source))
    pointers, places = [(memory, FRONT_WORDS)], [base, index]
    if change == "add":
        pointers, places = [*pointers, (memory_of(source), FRONT_WORDS)], [base, here, first]
    failed = kernels(kind).call(f"{change}_1", pointers, [*places, *kind.entry(message)])
    done = getattr(row, change)(message)
    wanted = row.row()
    start = FRONT_WORDS - kind.wide
    assert (failed, memory[start : start + len(wanted)].tolist()) == (int(not done), wanted)
    return bool(failed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_changes_are_those_of_lists_of_entries(kind: Kind) -> None:
    chance = Random(str(kind))
    refused = []
    for _ in range(60):
        source = drawn_network(chance, kind)
        row = Entries(kind, [chance.randrange(100) for _ in range(3)], [list(entry) for entry in source.entries])
        # From `first` on, the row may hold what the source has not: 0 once an entry was moved after another was added.
        first, added = len(source.entries), False
        for _ in range(8):
            change = chance.choice(["add", "add", "take" if kind.bag else "discard"])
            message = chance.choice(MESSAGES)
            index = chance.choice([-1, row.index(message)])
            refused.append(refuses(kind, row, source, change, message, index, first))
            added = added or change == "add"
            if change == "discard":
                first = 0 if added else len(row.entries)
    assert set(refused) == {False, True}


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


@pytest.mark.slow
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
