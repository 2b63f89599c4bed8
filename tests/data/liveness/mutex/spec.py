"""Two processes request, enter and leave a critical section."""

from kmc.lang import Int, Map, Record
from kmc.spec import always_eventually, and_, for_all, leads_to, strong_fairness, weak_fairness, spec

Process = Int(1, 2)


class State(Record):
    p: Map[Process, Int(0, 2)]


@spec.init
def init():
    yield State(p={1: 0, 2: 0})


@spec.action
def req(st, i: Process):
    if st.p[i] == 0:
        yield st.set(p=st.p.set(i, 1))


@spec.action
def ent(st, i: Process):
    if st.p[i] == 1 and st.p[3 - i] != 2:
        yield st.set(p=st.p.set(i, 2))


@spec.action
def lea(st, i: Process):
    if st.p[i] == 2:
        yield st.set(p=st.p.set(i, 0))


@spec.specification
def SfOfFirst():
    return and_(strong_fairness(ent, 1), weak_fairness(ent, 2), weak_fairness(lea, 1), weak_fairness(lea, 2))


@spec.specification
def SfOfBoth():
    return for_all(range(1, 3), lambda i: and_(strong_fairness(ent, i), weak_fairness(lea, i)))


@spec.liveness
def EachEnters():
    return for_all(range(1, 3), lambda i: leads_to(lambda st: st.p[i] == 1, lambda st: st.p[i] == 2))


@spec.liveness
def FirstEnters():
    return leads_to(lambda st: st.p[1] == 1, lambda st: st.p[1] == 2)


@spec.liveness
def EachEntersAgain():
    return for_all(range(1, 3), lambda i: always_eventually(lambda st: st.p[i] == 2))
