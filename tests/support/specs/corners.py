"""Specs for the corners where compiled code once differed from the interpreter, or where Python's rules are missed."""

from __future__ import annotations

from support.specs.odd_shapes import POOL

ACROSS_DOMAINS = (
    "CONSTANT Server = {s1, s2}",
    """
Server = constant("Server", IdentSet(), "x")
class Pos(Record):
    n: Int(0, 3)
class State(Record):
    a: Opt[Int(0, 3)]
    b: Int(1, 4)
    c: Opt[Server]
    xs: Seq[Int(0, 3), 2]
    big: Seq[Int(0, 3), 3]
    p: Opt[Pos]
    s: Set[Int(1, 4)]
    t: Set[Int(0, 3)]

@spec.init
def init():
    yield State(a=None, b=1, c=None, xs=[], big=[], p=None, s=set(), t=set())

@spec.action
def seta(st):
    for n in range(0, 4):
        yield st.set(a=n)
@spec.action
def setb(st):
    yield st.set(b=st.b + 1)
@spec.action
def compare(st):
    if st.a == 2:
        yield st.set(a=None)
    if st.a == st.b:
        yield st.set(a=0, p=Pos(n=st.a))
    if st.a == st.c:
        yield st.set(c=st.c)
@spec.action
def seqs(st):
    if st.xs == [1, 2]:
        yield st.set(xs=[])
    if st.xs == st.big and len(st.xs) < 2:
        yield st.set(xs=st.xs.append(1))
@spec.action
def grow(st):
    if len(st.big) < 3:
        yield st.set(big=st.big.append(st.b - 1))
@spec.action
def copy(st):
    if st.big != []:
        yield st.set(xs=st.big)
@spec.action
def sets(st):
    yield st.set(s=st.t)
@spec.action
def sets2(st):
    yield st.set(t={n for n in range(0, 4) if n < st.b})
    if st.s == st.t:
        yield st.set(s={1, st.b})
@spec.invariant
def Chain(st):
    return 0 < len(st.xs) <= st.xs.at(1) or len(st.xs) == 0
@spec.invariant
def U(st):
    return st.p != st.a and (st.p is None or st.p == Pos(n=st.b - 1))
""",
)
"""Values of one domain compared with and stored in another: numbers, sequences, sets, optional values, records."""

EQUAL_ELEMENTS = (
    "",
    """
class State(Record):
    n: Int(0, 3)
    k: Int(0, 9)
@spec.init
def init():
    yield State(n=0, k=0)
@spec.action
def dup(st):
    for n in {k // 2 for k in range(0, 4)}:
        yield st.set(n=n)
@spec.action
def cnt(st):
    yield st.set(k=count(n >= 0 for n in {k // 2 for k in range(0, 4)}))
@spec.action
def cnt2(st):
    yield st.set(k=len({k // 2 for k in range(0, 4)}) + sum(n for n in {k // 2 for k in range(0, 4)}))
""",
)
"""A set comprehension whose elements are equal for several choices holds each once, in a choice, a count and a sum."""

SENT_TWICE = (
    "CONSTANT Server = {s1, s2}",
    """
Server = constant("Server", IdentSet(), "x")
class Hi(Message):
    source: Server
    dest: Server
    n: Int(0, 3)
class State(Record):
    net: MessageBag[Hi, 6, 3]
    mset: MessageSet[Hi, 6]
    n: Int(0, 3)
@spec.init
def init():
    yield State(net={}, mset=set(), n=0)
def hi(i, n):
    return Hi(source=i, dest=i, n=n)
@spec.action
def dup(st, i: Server):
    yield st.set(net=st.net.add_all({Hi(source=i, dest=i, n=n) for n in range(0, 4)}))
@spec.action
def duptake(st, i: Server):
    if st.net.count(hi(i, 0)) > 0:
        yield st.set(net=st.net.take(hi(i, 0)).add_all({Hi(source=i, dest=i, n=n) for n in range(0, 2)}))
@spec.action
def lit(st, i: Server):
    yield st.set(mset=st.mset.send_all({hi(i, 1), hi(i, st.n)}))
@spec.action
def up(st):
    if st.n < 3:
        yield st.set(n=st.n + 1)
""",
)
"""A message that is sent together with an equal one, or taken and sent at once."""

MAPS_OF_OTHER_PLACES = (
    "",
    """
K = Int(0, 4)
V = Int(0, 1000000000)
class Cell(Record):
    big: Map[K, V]
    n: Int(0, 9)
class State(Record):
    a: Map[K, V]
    b: Map[K, V]
    maps: Map[Int(0, 2), Map[K, V]]
    cells: Map[Int(0, 2), Cell]
    n: Int(0, 3)
@spec.init
def init():
    yield State(
        a={k: 1 for k in range(0, 5)},
        b={k: 2 for k in range(0, 5)},
        maps={i: {k: i + 1 for k in range(0, 5)} for i in range(0, 3)},
        cells={i: Cell(big={k: i + 1 for k in range(0, 5)}, n=i) for i in range(0, 3)},
        n=0,
    )
@spec.action
def other(st, k: K):
    if st.n < 2:
        yield st.set(a=st.b.set(k, 7 + k), n=st.n + 1)
@spec.action
def inner(st, k: K, i: Int(0, 2)):
    if st.n < 1:
        yield st.set(maps=st.maps.set(i, st.maps[(i + 1) % 3].set(k, 7)), n=3)
@spec.action
def cell(st, k: K, i: Int(0, 2)):
    if st.n < 1:
        changed = st.cells[i].set(big=st.cells[(i + 1) % 3].big.set(k, 7))
        yield st.set(cells=st.cells.set(i, changed), n=3)
@spec.action
def twice(st, k: K, i: Int(0, 2)):
    if st.n < 1:
        changed = st.cells[i].set(big=st.cells[i].big.set(k, 7).set((k + 1) % 5, 8), n=9)
        yield st.set(cells=st.cells.set(i, changed), n=3)
@spec.action
def same(st, k: K, j: K):
    if st.n < 1:
        yield st.set(a=st.a.set(k, 7).set(j, 8), n=3)
""",
)
"""A map that becomes that of another place but for an entry, where several entries share a word."""

PLACES_MADE_SURE_OF = (
    "",
    """
K = Int(0, 9)
class State(Record):
    log: Seq[Int(0, 1099511627776), 5]
    j: Int(0, 1125899906842624)
    n: Int(0, 3)
@spec.init
def init():
    yield State(log=[1, 2], j=35184372088832, n=0)
    yield State(log=[1, 2], j=2, n=0)
@spec.action
def plain(st, k: K, i: K):
    require(0 < st.j <= len(st.log))
    require(st.log.at(st.j) * 3 % 7 == 6)
    yield st.set(n=k % 3)
@spec.action
def named(st, k: K, i: K):
    require(0 < st.j <= len(st.log))
    last = st.log.at(st.j)
    require(k == 3)
    require(last == 2)
    require(i == st.n)
    yield st.set(n=k % 3)
""",
)
"""A guard that reads only where one before it makes sure that something is."""

SUBSETS = (
    "CONSTANT Server = {s1, s2}",
    """
Server = constant("Server", IdentSet(), "x")
class State(Record):
    some: Set[Server]
    kept: Set[Server]
    n: Int(0, 5)
@spec.init
def init():
    yield State(some=set(), kept=set(), n=0)
@spec.action
def grow(st, s: Server):
    yield st.set(some=st.some | {s})
@spec.action
def choose(st):
    for q in subsets(st.some):
        yield st.set(kept=q, n=len(q))
@spec.action
def choose_of_all(st):
    for q in subsets(Server):
        if q <= st.some:
            yield st.set(kept=q, n=4)
@spec.action
def choose_of_none(st):
    for q in subsets(set()):
        yield st.set(kept=q, n=5)
@spec.action
def choose_of_numbers(st):
    for q in subsets({1, 2, st.n}):
        if sum(q) <= 5:
            yield st.set(n=sum(q))
""",
)
"""The subsets of a variable, of a constant, of the empty set and of numbers."""

TUPLES = (
    "",
    """
class State(Record):
    x: Int(0, 3)
    y: Int(0, 3)

@spec.init
def init():
    yield State(x=0, y=0)

def place(st):
    return st.x, st.y

@spec.action
def right(st):
    if (st.x, st.y) != (1, 1) and st.x < 3:
        yield st.set(x=st.x + 1)
@spec.action
def up(st):
    if st.y < 3 and not place(st) == (2, 2):
        yield st.set(y=st.y + 1)
@spec.action
def back(st):
    if place(st) in {(3, 3), (3, 2)} or (st.x, st.y) == (1, 1, 1):
        yield st.set(x=0)
@spec.action
def swap(st):
    if ((st.x, 1), st.y) == ((3, 1), 0):
        yield st.set(x=st.y, y=st.x)

@spec.invariant
def NeverAtTwoThree(st):
    return place(st) != (2, 3)
""",
)
"""A pair written with parentheses is equal to a pair, part by part."""

FULL_WORDS = (
    "CONSTANT Server = {s1, s2} SYMMETRY Symmetry",
    """
Server = constant("Server", IdentSet(symmetric=True), "All servers")
Wide = Int(0, 4294967295)
Only = Int(7, 7)
spec.symmetry("Symmetry", Server)


class Inner(Record):
    a: Wide
    b: Wide
    last: Only


class Note(Message):
    source: Wide
    dest: Wide
    last: Only


class Nothing(Message):
    source: Only
    dest: Only


class State(Record):
    one: Inner
    many: Map[Server, Inner]
    maybe: Opt[Inner]
    listed: Seq[Inner, 2]
    net: MessageSet[Note | Nothing, 4]
    n: Int(0, 3)
    end: Only


def inner(n):
    return Inner(a=n, b=4294967295, last=7)


@spec.init
def init():
    yield State(one=inner(0), many={i: inner(0) for i in Server}, maybe=None, listed=[], net=set(), n=0, end=7)


@spec.action
def step(st, i: Server):
    n = st.n + 1
    require(n <= 3)
    sent = {Note(source=n, dest=4294967295, last=7), Nothing(source=7, dest=7)}
    changed = st.set(one=st.one.set(a=n), many=st.many.set(i, inner(n)), maybe=inner(n), n=n)
    yield changed.set(listed=[inner(n)], net=st.net.send_all(sent))


@spec.action
def lengthen(st, i: Server):
    require(len(st.listed) == 1)
    last = st.listed.at(1).last
    yield st.set(listed=st.listed.append(st.one), maybe=None, one=st.many[i], end=last)


@spec.receive(Note)
def take(st, m):
    yield st.set(net=st.net.discard(m), one=st.one.set(a=m.source, last=m.last))


@spec.receive(Nothing)
def take_nothing(st, m):
    yield st.set(net=st.net.discard(m), one=st.one.set(b=m.dest, last=m.source))
""",
)
"""Records that fill their words, so that the place of a last field of one value is behind them."""

CORNERS = {
    "pool": ("CONSTANT Server = {s1, s2}", f"from kmc.lang import Pair\n{POOL[0].replace('some', 'Server')}"),
    "tuples": TUPLES,
    "across domains": ACROSS_DOMAINS,
    "equal elements": EQUAL_ELEMENTS,
    "sent twice": SENT_TWICE,
    "maps of other places": MAPS_OF_OTHER_PLACES,
    "places made sure of": PLACES_MADE_SURE_OF,
    "subsets": SUBSETS,
    "full words": FULL_WORDS,
}
