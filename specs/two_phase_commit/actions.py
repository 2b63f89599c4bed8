"""Two-phase commit: a transaction manager lets all resource managers commit once each of them is prepared.

Follows the usual description of the protocol (Gray and Lamport, "Consensus on transaction commit"). Left out:
timeouts, which are choices here, and what a transaction does.
"""

from kmc.spec import spec

from .types import RM, Abort, Commit, CommitWithoutAllPrepared, Manager, Prepared, RMState, State, TMState


@spec.init
def init():
    """All resource managers are working, and no message has been sent."""
    yield State(rms={r: RMState.WORKING for r in RM}, tm=TMState.INIT, prepared=set(), msgs=set())


@spec.action
def rm_prepare(st, r: RM):
    """Resource manager r is ready to commit, and says so."""
    if st.rms[r] != RMState.WORKING:
        return
    yield st.set(rms=st.rms.set(r, RMState.PREPARED), msgs=st.msgs.send(Prepared(source=r, dest=Manager.MANAGER)))


@spec.action
def rm_choose_to_abort(st, r: RM):
    """Resource manager r gives up before it is prepared; it sends no message."""
    if st.rms[r] != RMState.WORKING:
        return
    yield st.set(rms=st.rms.set(r, RMState.ABORTED))


@spec.receive(Prepared, r="source")
def tm_receive_prepared(st, m, r):
    """The transaction manager learns that r is prepared."""
    if st.tm != TMState.INIT:
        return
    yield st.set(prepared=st.prepared | {r})


@spec.action
def tm_commit(st):
    """The transaction manager decides to commit: all are prepared."""
    if st.tm != TMState.INIT:
        return
    if len(st.prepared) < len(RM) and not CommitWithoutAllPrepared:
        return
    decision = {Commit(source=Manager.MANAGER, dest=r) for r in RM}
    yield st.set(tm=TMState.COMMITTED, msgs=st.msgs.send_all(decision))


@spec.action
def tm_abort(st):
    """The transaction manager decides to abort, for any reason."""
    if st.tm != TMState.INIT:
        return
    decision = {Abort(source=Manager.MANAGER, dest=r) for r in RM}
    yield st.set(tm=TMState.ABORTED, msgs=st.msgs.send_all(decision))


@spec.receive(Commit, r="dest")
def rm_receive_commit(st, m, r):
    """Resource manager r obeys."""
    yield st.set(rms=st.rms.set(r, RMState.COMMITTED))


@spec.receive(Abort, r="dest")
def rm_receive_abort(st, m, r):
    """Resource manager r obeys."""
    yield st.set(rms=st.rms.set(r, RMState.ABORTED))
