"""Prisoners, one switch: tlaplus/Examples, Prisoners_Single_Switch/Prisoner.tla, prisoners A, B and E; A counts."""

from kmc.lang import Bool, Enum, Int, Map, Record, Set, constant
from kmc.spec import NEXT, eventually, for_all, weak_fairness, spec

Light_Unknown = constant("Light_Unknown", Bool, "The light may be on at first")


class Prisoner(Enum):
    A, B, E = range(3)


SIGNAL_LIMIT = 2 if Light_Unknown else 1
VICTORY_THRESHOLD = 5 if Light_Unknown else 3


class State(Record):
    count: Int(1, 9)
    announced: Bool
    signalled: Map[Prisoner, Int(0, 2)]
    light_is_on: Bool
    has_visited: Set[Prisoner]


@spec.init
def init():
    dark = State(count=1, announced=False, signalled={p: 0 for p in Prisoner}, light_is_on=False, has_visited=set())
    yield dark
    if Light_Unknown:
        yield dark.set(light_is_on=True)


@spec.action
def warden_action(st, p: Prisoner):
    visited = st.set(has_visited=st.has_visited | {p})
    if p == Prisoner.A:
        count = st.count + 1 if st.light_is_on else st.count
        yield visited.set(light_is_on=False, count=count, announced=count >= VICTORY_THRESHOLD)
    elif not st.light_is_on and st.signalled[p] < SIGNAL_LIMIT:
        yield visited.set(light_is_on=True, signalled=st.signalled.set(p, st.signalled[p] + 1))
    else:
        yield visited


@spec.specification
def Spec():
    return for_all(Prisoner, lambda p: weak_fairness(warden_action, p))


@spec.specification
def WithoutB():
    return for_all({Prisoner.A, Prisoner.E}, lambda p: weak_fairness(warden_action, p))


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def Terminating():
    return eventually(lambda st: st.announced)
