"""What compiled kernels say of whole orbits, held beside permutations of values by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from support.oracles.steps import Kernels, padded

from kmc.reference.states.identity import StateSet
from kmc.runtime.codec import decode_row, encode_row
from kmc.runtime.hashing import fingerprint

ZOO = """
from kmc.lang import Pair, pairs

Server = constant("Server", IdentSet(symmetric=True), "Who")
Value = constant("Value", IdentSet(symmetric=True), "What")


class Role(Enum):
    LOW, HIGH = range(2)


class Entry(Record):
    epoch: Int(0, 3)
    value: Opt[Value]


class Lease(Record):
    holder: Server


class Node(Record):
    role: Role
    voted_for: Opt[Server]
    votes: Set[Server]
    log: Seq[Entry, 2]
    ends: Map[Server, Int(0, 2)]
    acks: PartialMap[Server, Int(0, 1)]


class Look(Record):
    at: Opt[Server]
    over: Set[Server]
    ends: Map[Server, Int(0, 2)]
    lease: Lease | Role | None


class Taste(Record):
    at: Opt[Server]
    likes: Map[Server, Value]


class Wide(Record):
    seen: Map[Server, Seq[Int(0, 7), 5]]
    big: Seq[Entry, 15]
    peer: Server


class Ask(Message):
    source: Server
    dest: Server
    n: Int(0, 1)


class Answer(Message):
    source: Server
    dest: Server
    to: Ask
    entries: Seq[Entry, 2]
    quorum: Set[Server]
    mark: Seq[Entry, 15]


class State(Record):
    nodes: Map[Server, Node]
    looks: Map[Server, Look]
    tastes: Map[Server, Taste]
    wides: Map[Server, Wide]
    some_wides: PartialMap[Server, Wide]
    leader: Opt[Server]
    union: Server | Role | None
    lease: Lease | Entry | None
    talks: Map[Pair[Server], Bool]
    costs: PartialMap[Pair[Server], Int(0, 3)]
    last: Opt[Entry]
    order: Seq[Server, 3]
    owner: Map[Value, Opt[Server]]
    holders: Map[Role, Set[Server]]
    cut: Set[Pair[Server]]
    sent: Set[Value]
    net: MessageSet[Ask | Answer]
    bag: MessageBag[Ask | Answer]


@spec.init
def init():
    node = Node(
        role=Role.LOW, voted_for=None, votes=set(), log=[], ends={s: 0 for s in Server}, acks={},
    )
    first = Server.at(1)
    yield State(
        nodes={s: node for s in Server},
        looks={s: Look(at=None, over=set(), ends={t: 0 for t in Server}, lease=None) for s in Server},
        tastes={s: Taste(at=None, likes={t: Value.at(1) for t in Server}) for s in Server},
        wides={s: Wide(seen={t: [] for t in Server}, big=[], peer=first) for s in Server},
        some_wides={}, leader=None, union=None, lease=None, talks={p: True for p in pairs(Server)}, costs={},
        last=None, order=[], owner={v: None for v in Value}, holders={r: set() for r in Role}, cut=set(), sent=set(),
        net=set(), bag={},
    )


@spec.action
def stay(st):
    yield st


spec.symmetry("servers", Server)
spec.symmetry("values", Value)
spec.symmetry("both", Server, Value)
spec.view("forgetful", drop=["leader", "bag", "wides", "order", "sent"])
"""
"""Members of symmetric types wherever the language takes them; nothing happens."""


SETTLED = 12
"""How many images of an orbit are settled."""


def orbit_faults(kernels: Kernels, states: Iterable[Any]) -> Iterator[str]:
    """Every way in which fingerprints of these states are not one to one with their orbits."""
    model = kernels.model
    known = StateSet(model.spec.state_class, model.symmetry, model.view)
    orbits: dict[int, Any] = {}
    for state in states:
        images = known.images(state)
        rows = [encode_row(image) for image in images]
        prints = {kernels.identity(row) for row in rows}
        if len(prints) != 1:
            yield f"{state!r}: {len(prints)} fingerprints of {len(images)} permutations"
        orbit = frozenset(known.key(image) for image in images)
        for found in prints:
            if orbits.setdefault(found, orbit) != orbit:
                yield f"{state!r} shares a fingerprint with another orbit"
        if model.view is None:
            step = 1 + len(images) // SETTLED
            yield from _settle_faults(kernels, set(images), rows[::step], prints)


def _settle_faults(kernels: Kernels, images: set[Any], rows: list[list[int]], prints: set[int]) -> Iterator[str]:
    """Every way in which rows of an orbit do not settle to one state of it, with the right hash."""
    state_class = kernels.model.spec.state_class
    settled = set()
    for row in rows:
        memory = padded(row)
        kernels.call("settle", [(memory, 0)], (kernels.identity(row),))
        after = memory[: len(row)].tolist()
        state = decode_row(after, state_class)
        settled.add(state)
        if fingerprint(after[0]) not in prints or encode_row(state)[0] != after[0]:
            yield f"{state!r} settles to a row with another hash"
    if len(settled) != 1 or not settled <= images:
        yield f"{min(map(repr, images))} settles to {len(settled)} states"
