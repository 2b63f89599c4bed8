"""Peterson's mutual exclusion: tlaplus/Examples, locks_auxiliary_vars/Peterson.tla."""

from kmc.lang import Bool, Enum, Int, Map, Record, ways
from kmc.spec import NEXT, always_eventually, and_, for_all, leads_to, or_, steps, weak_fairness, spec


Proc = Int(1, 2)


class Label(Enum):
    A0, A1, A2, A3, CS, A4 = range(6)


class State(Record):
    pc: Map[Proc, Label]
    c: Map[Proc, Bool]
    turn: Proc


@spec.init
def init():
    yield State(pc={p: Label.A0 for p in range(1, 3)}, c={p: False for p in range(1, 3)}, turn=1)


@spec.action
def a0(st, p: Proc):
    if st.pc[p] == Label.A0:
        yield st.set(pc=st.pc.set(p, Label.A1))


@spec.action
def a1(st, p: Proc):
    if st.pc[p] == Label.A1:
        yield st.set(pc=st.pc.set(p, Label.A2), c=st.c.set(p, True))


@spec.action
def a2(st, p: Proc):
    if st.pc[p] == Label.A2:
        yield st.set(pc=st.pc.set(p, Label.A3), turn=3 - p)


@spec.action
def a3(st, p: Proc):
    if st.pc[p] == Label.A3:
        for _ in ways(not st.c[3 - p], st.turn == p):
            yield st.set(pc=st.pc.set(p, Label.CS))


@spec.action
def cs(st, p: Proc):
    if st.pc[p] == Label.CS:
        yield st.set(pc=st.pc.set(p, Label.A4))


@spec.action
def a4(st, p: Proc):
    if st.pc[p] == Label.A4:
        yield st.set(pc=st.pc.set(p, Label.A0), c=st.c.set(p, False))


def process(p):
    return or_(steps(a0, p), steps(a1, p), steps(a2, p), steps(a3, p), steps(cs, p), steps(a4, p))


@spec.specification
def WfEach():
    return for_all(range(1, 3), lambda p: weak_fairness(process(p)))


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.specification
def WfEachOutsideOfA0():
    return for_all(range(1, 3), lambda p: weak_fairness(and_(process(p), lambda st: st.pc[p] != Label.A0)))


@spec.liveness
def Enters():
    return for_all(range(1, 3), lambda p: leads_to(lambda st: st.pc[p] == Label.A1, lambda st: st.pc[p] == Label.CS))


@spec.liveness
def EntersAgain():
    return for_all(range(1, 3), lambda p: always_eventually(lambda st: st.pc[p] == Label.CS))
