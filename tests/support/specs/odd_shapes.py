"""Specs of unusual shapes, each with a model that fails: empty, endless, nested, long, or named like words of views."""

from __future__ import annotations

STUCK_AT_ONCE = (
    """
Server = constant("Server", IdentSet(), "s")


class Node(Record):
    log: Seq[Int(0,3), 2]


class State(Record):
    nodes: Map[Server, Node]


@spec.init
def init():
    yield State(nodes={s: Node(log=[]) for s in Server})


@spec.action
def go(st, s: Server):
    if len(st.nodes[s].log) > 0:
        yield st
""",
    "CONSTANT Server = {n1}",
)
"""The initial state has no successor."""

FORTY = (
    """
Process = Int(1, 40)


class Ping(Message):
    source: Process
    dest: Process


class State(Record):
    net: MessageSet[Ping]
    seen: Map[Process, Bool]


@spec.init
def init():
    yield State(net={Ping(source=1, dest=40)}, seen={p: False for p in range(1, 41)})


@spec.receive(Ping, p="dest")
def got(st, m, p):
    yield st.set(net=st.net.discard(m), seen=st.seen.set(p, True))


@spec.invariant
def Few(st):
    return not st.seen[40]
""",
    "INVARIANT Few CHECK_DEADLOCK FALSE",
)
"""More processes than a line has room for; two of them talk."""

NO_PROCESSES_PRESENT = (
    """
Id = spawned("Id", 3)


class Node(Record):
    n: Int(0, 2)


class State(Record):
    nodes: PartialMap[Id, Node]
    n: Int(0, 3)


@spec.init
def init():
    yield State(nodes={}, n=0)


@spec.action
def up(st):
    if st.n < 3:
        yield st.set(n=st.n + 1)


@spec.invariant
def Few(st):
    return st.n < 2
""",
    "INVARIANT Few CHECK_DEADLOCK FALSE",
)
"""A map of processes that stays empty."""

INBOXES = (
    """
Server = constant("Server", IdentSet(), "s")


class Ping(Message):
    n: Int(0, 2)
    source: Server
    dest: Server


class State(Record):
    inbox: Map[Server, Seq[Ping, 3]]
    links: Map[Pair[Server], Bool]
    slots: Map[Int(1, 2), Opt[Ping]]


@spec.init
def init():
    links = {pair(a, b): True for a in Server for b in Server if a != b}
    yield State(inbox={s: [] for s in Server}, links=links, slots={1: None, 2: None})


@spec.action
def send(st, a: Server, b: Server):
    if a != b and len(st.inbox[b]) < 3 and st.links[pair(a, b)]:
        inbox = st.inbox.set(b, st.inbox[b].append(Ping(n=1, source=a, dest=b)))
        yield st.set(inbox=inbox, links=st.links.set(pair(a, b), False))


@spec.action
def take(st, a: Server):
    if len(st.inbox[a]) > 0:
        yield st.set(slots=st.slots.set(2, st.inbox[a].at(1)))


@spec.invariant
def Few(st):
    return st.slots[2] is None
""",
    "CONSTANT Server = {n1, n2} INVARIANT Few CHECK_DEADLOCK FALSE",
)
"""Messages wait in sequences, not in a network."""

KEYS_OF_EVERY_KIND = (
    """
Server = constant("Server", IdentSet(), "s")


class Side(Enum):
    LEFT, RIGHT = range(2)


class Node(Record):
    on: Bool
    peers: PartialMap[Server, Map[Side, Int(-3, 3)]]


class State(Record):
    by_number: Map[Int(-1, 1), Node]
    by_pair: PartialMap[Pair[Server], Node]
    by_side: Map[Side, Set[Set[Server]]]
    by_server: PartialMap[Server, PartialMap[Server, Seq[Node, 1]]]


@spec.init
def init():
    n = Node(on=False, peers={})
    yield State(by_number={i: n for i in range(-1, 2)}, by_pair={}, by_side={s: set() for s in Side}, by_server={})


@spec.action
def up(st, s: Server, i: Int(-1, 1)):
    for t in Server:
        if s != t and s not in st.by_server and i == -1:
            n = Node(on=True, peers={t: {x: 2 for x in Side}})
            by_side = st.by_side.set(Side.LEFT, {{s, t}, {s}})
            by_server = st.by_server.add(s, {t: [n]})
            by_number = st.by_number.set(i, n)
            yield st.set(by_number=by_number, by_pair={pair(s, t): n}, by_side=by_side, by_server=by_server)


@spec.invariant
def Few(st):
    return len(st.by_server) < 2
""",
    "CONSTANT Server = {n1, n2} INVARIANT Few CHECK_DEADLOCK FALSE",
)
"""Maps whose keys are numbers, pairs, members of an enumeration and identifiers."""

TWO_NETWORKS = (
    """
Server = constant("Server", IdentSet(), "s")


class A(Message):
    source: Server
    dest: Opt[Int(0, 2)]


class B(Message, source="frm", dest="to"):
    frm: Opt[Bool]
    to: Server


class State(Record):
    messages: MessageSet[A]
    message: MessageBag[A | B]
    done: MessageSet[B]
    id: Int(0, 3)


@spec.init
def init():
    yield State(messages={A(source=Server.at(1), dest=None)}, message={}, done=set(), id=0)


@spec.receive(A, network="messages")
def one(st, m):
    if st.id < 3:
        more = st.message.add(m).add(B(frm=True, to=m.source)).add(B(frm=None, to=m.source))
        yield st.set(messages=st.messages.discard(m), message=more, id=st.id + 1)


@spec.receive(B, network="message")
def two(st, m):
    if st.id < 3:
        messages = st.messages.send(A(source=m.to, dest=1))
        yield st.set(message=st.message.take(m), done=st.done.send(m), messages=messages, id=st.id + 1)


@spec.receive(A, network="message")
def three(st, m):
    if st.id < 3:
        yield st.set(message=st.message.take(m), id=3)


@spec.action_property
def Few(st, nxt):
    return nxt.id < 3
""",
    "CONSTANT Server = {n1, n2} PROPERTY Few CHECK_DEADLOCK FALSE",
)
"""Two networks and an archive; ends of several types, and missing."""

WORDS = (
    """
Server = constant("Server", IdentSet(), "s")


class lane(Record):
    id: Int(0, 2)
    state: Bool
    type: Int(0, 1)
    source: Server
    dest: Server


class State(Record):
    messages: Int(0, 3)
    id: Map[Server, lane]
    action: Opt[lane]
    state: Set[lane]
    level: Seq[lane, 2]
    index_: Int(0, 3)
    constructor: Bool
    loop: Bool
    steps: Map[Server, Map[Server, Bool]]
    n1: Map[Server, Int(0, 2)]


@spec.init
def init():
    for s in Server:
        x = lane(id=0, state=False, type=0, source=s, dest=s)
        steps = {t: {u: True for u in Server} for t in Server}
        yield State(
            messages=0, id={t: x for t in Server}, action=None, state=set(), level=[], index_=0, constructor=False,
            loop=False, steps=steps, n1={t: 0 for t in Server},
        )


@spec.action
def end(st, p1: Server, messages: Int(0, 1)):
    if st.messages < 3 and messages == 1:
        x = st.id[p1].set(id=1, type=1)
        steps = st.steps.set(p1, st.steps[p1].set(p1, False))
        yield st.set(
            messages=st.messages + 1, id=st.id.set(p1, x), action=x, state={x}, level=[x], constructor=True,
            loop=not st.loop, n1=st.n1.set(p1, 1), steps=steps,
        )


@spec.invariant
def n2(st):
    return st.messages < 2
""",
    "CONSTANT Server = {n1, n2} INVARIANT n2 CHECK_DEADLOCK FALSE",
)
"""Variables, fields, parameters and properties called like words of the views, and like a process."""

STUTTERS = (
    """
from kmc.spec import eventually


class State(Record):
    n: Int(0, 1)


@spec.init
def init():
    yield State(n=0)


@spec.action
def stay(st):
    yield st


@spec.liveness
def Up():
    return eventually(lambda st: st.n == 1)
""",
    "PROPERTY Up",
)
"""A behaviour in which nothing ever happens."""

ERROR = (
    """
Process = Int(0, 2)


class State(Record):
    f: PartialMap[Process, Int(0, 3)]
    g: Map[Process, Int(0, 3)]


@spec.init
def init():
    yield State(f={1: 0}, g={p: 0 for p in range(0, 3)})


@spec.action
def go(st, p: Process):
    yield st.set(f=st.f.set(p, st.f[p] + 1))
""",
    "CHECK_DEADLOCK FALSE",
)
"""A step fails."""

ASSERTION = (
    """
Process = Int(0, 2)


class State(Record):
    f: PartialMap[Process, Int(0, 3)]
    g: Map[Process, Int(0, 3)]


@spec.init
def init():
    yield State(f={1: 0}, g={p: 0 for p in range(0, 3)})


@spec.action
def go(st, p: Process):
    assert p in st.f
    yield st.set(f=st.f.set(p, st.f[p] + 1))
""",
    "CHECK_DEADLOCK FALSE",
)
"""An assertion fails."""

LONG = (
    """
Process = constant("Process", IdentSet(), "s")


class Note(Message):
    text: Seq[Seq[Int(0, 99999), 9], 9]
    source: Process
    dest: Process


class State(Record):
    messages_that_one_process_has_sent_to_another: MessageSet[Note]
    log: Map[Process, Seq[Seq[Int(0, 99999), 9], 9]]
    n: Int(0, 9)


@spec.init
def init():
    yield State(messages_that_one_process_has_sent_to_another=set(), log={p: [] for p in Process}, n=0)


@spec.action
def send(st, p: Process):
    if st.n < 2:
        for q in Process:
            x = [[99999, 99998, 99997, 99996, 99995], [1, 2, 3, 4, 99999, 5, 6], [88888, 88888, 88888], [], [1]]
            sent = st.messages_that_one_process_has_sent_to_another.send(Note(text=x, source=p, dest=q))
            yield st.set(messages_that_one_process_has_sent_to_another=sent, log=st.log.set(p, x), n=st.n + 1)


@spec.receive(Note)
def got(st, m):
    left = st.messages_that_one_process_has_sent_to_another.discard(m)
    yield st.set(messages_that_one_process_has_sent_to_another=left, n=5)


@spec.invariant
def Few(st):
    return st.n < 5
""",
    f"CONSTANT Process = {{{'a_name_that_is_long_' * 5}, b}} INVARIANT Few CHECK_DEADLOCK FALSE",
)
"""A name and values that are longer than a line."""

POOL = (
    """
some = constant("some", IdentSet(), "s")


class Call(Message, source=None, dest=None):
    dest: Int(0, 1)


class Answer(Message, source="by", dest=None):
    by: some
    of: Opt[Pair[some]]


class Named(Message, dest=None):
    source: Opt[some]


class State(Record):
    heard: Map[some, Bool]
    net: MessageSet[Call | Answer | Named]
    late: MessageBag[Call, 3, 2]


@spec.init
def init():
    yield State(heard={p: False for p in some}, net=set(), late={})


@spec.action
def call(st):
    if len(st.late) == 0:
        yield st.set(net=st.net.send(Call(dest=1)).send(Named(source=None)), late=st.late.add(Call(dest=0)))


@spec.receive(Call, network="net", at="dest")
def answer(st, m, of: Opt[Pair[some]], at, p: some):
    if not st.heard[p] and (of is None or p in of) and at == 1:
        yield st.set(heard=st.heard.set(p, True), net=st.net.send(Answer(by=p, of=of)))


@spec.receive(Answer, network="net", by="by")
def lose(st, m, by, side: Bool):
    if side and m.of is not None and all(st.heard.values()):
        yield st.set(net=st.net.keep(lambda other: isinstance(other, Call)))


@spec.receive(Named)
def named(st, m, of: Opt[some]):
    if m.source == of:
        yield st.set(net=st.net.discard(m))


@spec.receive(Call, network="late", n="dest")
def drain(st, m, k: Int(-1, 1), n):
    if k < n and st.net == {Call(dest=1)}:
        yield st.set(late=st.late.take(m))


@spec.invariant
def StillLate(st):
    return all(count > 0 for _, count in st.late.counts())
""",
    "CONSTANT some = {some, dest} INVARIANT StillLate CHECK_DEADLOCK FALSE",
)
"""Messages without ends in several networks, received by parameters that are numbers, pairs or nothing."""

SHAPES = {
    "pool": POOL,
    "stuck at once": STUCK_AT_ONCE,
    "forty": FORTY,
    "no processes present": NO_PROCESSES_PRESENT,
    "inboxes": INBOXES,
    "keys of every kind": KEYS_OF_EVERY_KIND,
    "two networks": TWO_NETWORKS,
    "words": WORDS,
    "stutters": STUTTERS,
    "error": ERROR,
    "assertion": ASSERTION,
    "long": LONG,
}
"""Each shape with its source and its model, by name."""
