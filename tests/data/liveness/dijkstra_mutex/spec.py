"""Dijkstra's mutual exclusion: tlaplus/Examples, dijkstra-mutex/DijkstraMutex.tla.

The upstream variable temp is first undefined, then a process or a set of processes: `temp` and `others` here.
"""

from kmc.lang import Bool, Enum, IdentSet, Map, Opt, Record, Set, constant
from kmc.spec import and_, for_all, leads_to, or_, steps, weak_fairness, spec

Proc = constant("Proc", IdentSet(at_most=3), "The processes")


class Label(Enum):
    LI0, LI1, LI2, LI3A, LI3B, LI3C, LI3D, LI4A, LI4B, CS, LI5, LI6, NCS = range(13)


class State(Record):
    b: Map[Proc, Bool]
    c: Map[Proc, Bool]
    k: Proc
    pc: Map[Proc, Label]
    temp: Map[Proc, Opt[Proc]]
    others: Map[Proc, Opt[Set[Proc]]]


@spec.init
def init():
    for k in Proc:
        yield State(
            b={p: True for p in Proc},
            c={p: True for p in Proc},
            k=k,
            pc={p: Label.LI0 for p in Proc},
            temp={p: None for p in Proc},
            others={p: None for p in Proc},
        )


@spec.action
def li0(st, p: Proc):
    if st.pc[p] == Label.LI0:
        yield st.set(b=st.b.set(p, False), pc=st.pc.set(p, Label.LI1))


@spec.action
def li1(st, p: Proc):
    if st.pc[p] == Label.LI1:
        yield st.set(pc=st.pc.set(p, Label.LI2 if st.k != p else Label.LI4A))


@spec.action
def li2(st, p: Proc):
    if st.pc[p] == Label.LI2:
        yield st.set(c=st.c.set(p, True), pc=st.pc.set(p, Label.LI3A))


@spec.action(title="Li3a")
def li3a(st, p: Proc):
    if st.pc[p] == Label.LI3A:
        yield st.set(temp=st.temp.set(p, st.k), others=st.others.set(p, None), pc=st.pc.set(p, Label.LI3B))


@spec.action(title="Li3b")
def li3b(st, p: Proc):
    if st.pc[p] != Label.LI3B:
        return
    seen = st.temp[p]
    if seen is not None:
        yield st.set(pc=st.pc.set(p, Label.LI3C if st.b[seen] else Label.LI3D))


@spec.action(title="Li3c")
def li3c(st, p: Proc):
    if st.pc[p] == Label.LI3C:
        yield st.set(k=p, pc=st.pc.set(p, Label.LI3D))


@spec.action(title="Li3d")
def li3d(st, p: Proc):
    if st.pc[p] == Label.LI3D:
        yield st.set(pc=st.pc.set(p, Label.LI1))


@spec.action(title="Li4a")
def li4a(st, p: Proc):
    if st.pc[p] == Label.LI4A:
        yield st.set(
            c=st.c.set(p, False),
            temp=st.temp.set(p, None),
            others=st.others.set(p, {q for q in Proc if q != p}),
            pc=st.pc.set(p, Label.LI4B),
        )


@spec.action(title="Li4b")
def li4b(st, p: Proc):
    if st.pc[p] != Label.LI4B:
        return
    others = st.others[p]
    if others is None:
        return
    if len(others) == 0:
        yield st.set(pc=st.pc.set(p, Label.CS))
    for q in others:
        yield st.set(others=st.others.set(p, others - {q}), pc=st.pc.set(p, Label.LI4B if st.c[q] else Label.LI1))


@spec.action
def cs(st, p: Proc):
    if st.pc[p] == Label.CS:
        yield st.set(pc=st.pc.set(p, Label.LI5))


@spec.action
def li5(st, p: Proc):
    if st.pc[p] == Label.LI5:
        yield st.set(c=st.c.set(p, True), pc=st.pc.set(p, Label.LI6))


@spec.action
def li6(st, p: Proc):
    if st.pc[p] == Label.LI6:
        yield st.set(b=st.b.set(p, True), pc=st.pc.set(p, Label.NCS))


@spec.action
def ncs(st, p: Proc):
    if st.pc[p] == Label.NCS:
        yield st.set(pc=st.pc.set(p, Label.LI0))


def process(p):
    return or_(
        steps(li0, p), steps(li1, p), steps(li2, p), steps(li3a, p), steps(li3b, p), steps(li3c, p), steps(li3d, p),
        steps(li4a, p), steps(li4b, p), steps(cs, p), steps(li5, p), steps(li6, p), steps(ncs, p),
    )  # fmt: skip


@spec.specification
def LSpec():
    return for_all(Proc, lambda p: weak_fairness(and_(process(p), lambda st: st.pc[p] != Label.NCS)))


@spec.specification
def WfOutsideOfLi1():
    return for_all(Proc, lambda p: weak_fairness(and_(process(p), lambda st: st.pc[p] != Label.LI1)))


@spec.liveness
def DeadlockFreedom():
    return for_all(
        Proc,
        lambda p: leads_to(
            lambda st: st.pc[p] not in {Label.LI5, Label.LI6, Label.NCS},
            lambda st: any(st.pc[q] == Label.CS for q in Proc),
        ),
    )


@spec.liveness
def StarvationFree():
    return for_all(Proc, lambda p: leads_to(lambda st: st.pc[p] == Label.LI0, lambda st: st.pc[p] == Label.CS))
