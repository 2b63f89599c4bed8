"""What compiled kernels say of whole orbits, held beside permutations of values by brute force."""

from __future__ import annotations

import itertools
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
    tick: Int(0, 3)
    beats: Map[Role, Int(0, 5)]


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
        net=set(), bag={}, tick=0, beats={r: 0 for r in Role},
    )


@spec.action
def stay(st):
    yield st


spec.symmetry("servers", Server)
spec.symmetry("values", Value)
spec.symmetry("both", Server, Value)
spec.view("forgetful", drop=["leader", "bag", "wides", "order", "sent"])
spec.view("timeless", drop=["tick", "beats"])
"""
"""Members of symmetric types wherever the language takes them; nothing happens."""


SETTLED = 12
"""How many images of an orbit are settled."""


def orbit_faults(kernels: Kernels, states: Iterable[Any]) -> Iterator[str]:
    """Every way in which fingerprints of these states are not one to one with their orbits, nor ranks within a view."""
    model = kernels.model
    known = StateSet(model.spec.state_class, model.symmetry, model.view)
    orbits: dict[int, Any] = {}
    ranked: dict[tuple[int, int], Any] = {}
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
        whole, ranks = frozenset(images), {rank_of(kernels, row) for row in rows}
        if len(ranks) != 1:
            yield f"{state!r}: {len(ranks)} ranks of {len(images)} permutations"
        for found, rank in itertools.product(prints, ranks):
            if model.view is not None and ranked.setdefault((found, rank), whole) != whole:
                yield f"{state!r} shares a rank with another orbit of its view"
        if model.symmetry:
            step = 1 + len(images) // SETTLED
            yield from _settle_faults(kernels, known, whole, rows[::step])


def rank_of(kernels: Kernels, row: list[int]) -> int:
    """The order of a state among those of its view; 0 without a view."""
    return kernels.call("rank", [(padded(row), 0)]) if kernels.model.view is not None else 0


def _settle_faults(kernels: Kernels, known: StateSet, images: frozenset[Any], rows: list[list[int]]) -> Iterator[str]:
    """Every way in which rows of an orbit do not settle to states of it with one view, fingerprint and rank."""
    state_class = kernels.model.spec.state_class
    views, settled = set(), set()
    for row in rows:
        memory, found = padded(row), kernels.identity(row)
        kernels.call("settle", [(memory, 0)], (found,))
        after = memory[: len(row)].tolist()
        state = decode_row(after, state_class)
        settled.add(state)
        views.add(known.key(state))
        if (kernels.model.view is None and fingerprint(after[0]) != found) or encode_row(state)[0] != after[0]:
            yield f"{state!r} settles to a row with another hash"
        if (kernels.identity(after), rank_of(kernels, after)) != (found, rank_of(kernels, row)):
            yield f"{state!r} settles to a row with another fingerprint or rank"
    if len(views) != 1 or not settled <= images:
        yield f"{min(map(repr, images))} settles to {len(views)} views"
