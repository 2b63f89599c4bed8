"""Specs for the corners where compiled code once differed from the interpreter, or where Python's rules are missed."""

from __future__ import annotations

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

CORNERS = {"across domains": ACROSS_DOMAINS, "equal elements": EQUAL_ELEMENTS, "sent twice": SENT_TWICE}
