"""The commitment of a transaction: tlaplus/Examples, transaction_commit/TCommit.tla."""

from kmc.lang import Enum, IdentSet, Map, Record, constant
from kmc.spec import NEXT, and_, eventually, for_all, weak_fairness, spec

RM = constant("RM", IdentSet(at_most=5), "The resource managers")


class RMState(Enum):
    WORKING, PREPARED, COMMITTED, ABORTED = range(4)


class State(Record):
    rm_state: Map[RM, RMState]


@spec.init
def init():
    yield State(rm_state={rm: RMState.WORKING for rm in RM})


def can_commit(st):
    return all(st.rm_state[rm] in {RMState.PREPARED, RMState.COMMITTED} for rm in RM)


def not_committed(st):
    return all(st.rm_state[rm] != RMState.COMMITTED for rm in RM)


@spec.action
def prepare(st, rm: RM):
    if st.rm_state[rm] == RMState.WORKING:
        yield st.set(rm_state=st.rm_state.set(rm, RMState.PREPARED))


@spec.action
def decide(st, rm: RM):
    if st.rm_state[rm] == RMState.PREPARED and can_commit(st):
        yield st.set(rm_state=st.rm_state.set(rm, RMState.COMMITTED))
    if st.rm_state[rm] in {RMState.WORKING, RMState.PREPARED} and not_committed(st):
        yield st.set(rm_state=st.rm_state.set(rm, RMState.ABORTED))


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.specification
def WfEach():
    return for_all(RM, lambda rm: and_(weak_fairness(prepare, rm), weak_fairness(decide, rm)))


@spec.liveness
def Decides():
    return eventually(lambda st: all(st.rm_state[rm] in {RMState.COMMITTED, RMState.ABORTED} for rm in RM))
