"""A spec whose state has a variable of every kind of value; its actions only move them about."""

from kmc.lang import (
    Bool,
    Enum,
    IdentSet,
    Int,
    Map,
    Message,
    MessageBag,
    MessageSet,
    Opt,
    Pair,
    PartialMap,
    Record,
    Seq,
    Set,
    constant,
    pair,
    pairs,
    spawned,
)
from kmc.spec import spec

Node = constant("Node", IdentSet(symmetric=True, at_most=3), "Who there is")
Id = spawned("Id", 2)


class Colour(Enum):
    """Two names, one of two words."""

    RED, DARK_BLUE = range(2)


class Entry(Record):
    """A record with a choice of kinds."""

    epoch: Int(0, 3)
    value: Opt[Node]


class Ping(Message):
    """A message."""

    source: Node
    dest: Node
    hop_count: Int(0, 2)
    seen: Set[Node]


class Cell(Record):
    """A record that is spread over two variables."""

    inner_log: Seq[Entry, 2]
    peers: Set[Node]


class State(Record):
    """A variable of every kind."""

    flag: Bool
    number: Int(-2, 2)
    colour: Colour
    owner: Opt[Node]
    mixed: Entry | Node | None
    cells: Map[Node, Cell]
    by_pair: Map[Pair[Node], Bool]
    link: Opt[Pair[Node]]
    by_id: PartialMap[Id, Int(0, 1)]
    by_number: PartialMap[Int(0, 2), Set[Int(0, 1)]]
    by_colour: Map[Colour, Bool]
    groups: Set[Set[Node]]
    sent: MessageSet[Ping, 4]
    bag: MessageBag[Ping, 4, 2]


spec.variables(
    {
        "flag": "flag",
        "number": "number",
        "colour": "colour",
        "owner": "owner",
        "mixed": "mixed",
        "innerLog": "cells[].inner_log",
        "peers": "cells[].peers",
        "byPair": "by_pair",
        "link": "link",
        "byId": "by_id",
        "byNumber": "by_number",
        "byColour": "by_colour",
        "groups": "groups",
        "sent": "sent",
        "bag": "bag",
    },
    fields="camelCase",
    message_tag="type",
)


@spec.init
def init():
    """Nothing is set."""
    yield State(
        flag=False,
        number=-2,
        colour=Colour.RED,
        owner=None,
        mixed=None,
        cells={n: Cell(inner_log=[], peers=set()) for n in Node},
        by_pair={p: False for p in pairs(Node)},
        link=None,
        by_id={},
        by_number={},
        by_colour={c: False for c in Colour},
        groups=set(),
        sent=set(),
        bag={},
    )


@spec.action
def visit(st, n: Node):
    """Node n writes itself into everything that holds a node."""
    if st.number >= 0:
        return
    cell = st.cells[n]
    entry = Entry(epoch=st.number + 2, value=st.owner)
    yield st.set(
        number=st.number + 1,
        flag=not st.flag,
        colour=Colour.DARK_BLUE,
        owner=n,
        mixed=entry if st.flag else n,
        cells=st.cells.set(n, cell.set(inner_log=cell.inner_log.append(entry), peers=cell.peers | {n})),
        groups=st.groups | {cell.peers},
    )


@spec.action
def number_nodes(st, m: Node, n: Node):
    """The maps grow, and the pair of m and n changes."""
    if m == n or len(st.by_id) == 2:
        return
    fresh = Id.fresh(st.by_id.keys())
    yield st.set(
        by_id=st.by_id.add(fresh, len(st.by_id)),
        by_number=st.by_number.add(2 * len(st.by_id), {len(st.by_id)}),
        by_pair=st.by_pair.set(pair(m, n), True),
        link=pair(m, n),
        by_colour=st.by_colour.set(st.colour, True),
    )


@spec.action
def send(st, m: Node, n: Node):
    """A ping from m to n travels in both networks."""
    ping = Ping(source=m, dest=n, hop_count=len(st.bag), seen={m})
    if m == n or len(st.bag) == 2:
        return
    yield st.set(sent=st.sent.send(ping), bag=st.bag.add(ping))


@spec.receive(Ping, network="bag", sender="source")
def receive(st, m, sender):
    """The ping is gone from the set and counts 0 in the bag."""
    yield st.set(sent=st.sent.discard(m), bag=st.bag.take(m))
