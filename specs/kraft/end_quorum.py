"""EndQuorumEpoch: a leader resigns and names its successors, so that one is elected without an election timeout.

KRaft.tla does not have it; both actions are off unless EndQuorum is on. A request whose receiver waits for the end of
its backoff stays in the bag, so the part adds no variable: a voter that has the request and waits does what a voter
does that has not received it yet. Left out: the request of a candidate, INCONSISTENT_VOTER_SET (the list has all other
voters), and the answers, which a leader that shuts down ignores.
"""

from kmc.spec import spec

from ..consensus.pull_raft.network import KeepsDelivered
from ..consensus.pull_raft.types import MaxElections, Server, ServerState
from .actions import ELECTION_TIMEOUT_STATES, standing
from .network import discard, send, send_multiple_once, settled
from .types import (
    BeginQuorumRequest,
    EndQuorum,
    EndQuorumRequest,
    Observers,
    RequestVoteRequest,
    Successors,
)

spec.assume(EndQuorum == Successors.NEVER or not KeepsDelivered)
# All other servers are successors, and an observer would never hear that its leader resigned.
spec.assume(EndQuorum == Successors.NEVER or Observers == 0)
# A list of more than three successors would need more choices than `first` and `second`.
spec.assume(EndQuorum == Successors.NEVER or len(Server) <= 4)


def is_sorted(me, first, second):
    """The leader knows no voter with more of its log than `first`, nor one but `first` with more than `second`."""
    return all(
        (me.end_offset[j] <= me.end_offset[first]) and (j == first or me.end_offset[j] <= me.end_offset[second])
        for j in Server
        if j != me.leader
    )


@spec.action(in_tla=False)
def end_quorum_epoch(st, i: Server):
    """KIP-595, EndQuorumEpoch: a leader resigns and sends its successors, sorted by the offset that it knows of each.

    Voters with equal offsets are sorted in every way. The resigned leader is still a voter.
    """
    me = st.servers[i]
    if EndQuorum == Successors.NEVER or me.state != ServerState.LEADER:
        return
    resigned = me.set(state=ServerState.RESIGNED, end_offset={j: 0 for j in Server})
    others = {j for j in Server if j != i}
    for first in others:
        for second in {j for j in others if j != first} if len(others) > 1 else {first}:
            if is_sorted(me, first, second):
                requests = {
                    EndQuorumRequest(
                        mepoch=me.current_epoch,
                        mrank=0 if j == first else 1 if j == second else 2,
                        mhandled=False,
                        msource=i,
                        mdest=j,
                    )
                    for j in others
                }
                yield settled(
                    st.set(
                        servers=st.servers.set(i, resigned),
                        messages=send_multiple_once(st.messages, requests),
                    )
                )


def has_waited(st, m):
    """The backoff of the receiver's rank is over: every successor of a lower rank has handled its request.

    In time, the receiver also has all requests of candidates and leaders that were sent to it.
    """
    if EndQuorum == Successors.IN_TIME and (
        any(v.mdest == m.mdest for v in st.messages.of(RequestVoteRequest))
        or any(b.mdest == m.mdest for b in st.messages.of(BeginQuorumRequest))
    ):
        return False
    return EndQuorum == Successors.IN_ANY_ORDER or not any(
        e.mepoch == m.mepoch and e.mrank < m.mrank and not e.mhandled for e in st.messages.of(EndQuorumRequest)
    )


@spec.receive(EndQuorumRequest, in_tla=False)
def handle_end_quorum_request(st, m):
    """KIP-595, EndQuorumEpoch Request Handling: a follower of this leader stands, the first at once.

    The others wait for the backoff of their rank. A voter rejects an older epoch, and a leader that it does not know.
    """
    i = m.mdest
    me = st.servers[i]
    if m.mhandled or not has_waited(st, m):
        return
    handled = st.set(messages=send(discard(st.messages, m), m.set(mhandled=True)))
    if m.mepoch != me.current_epoch or me.leader != m.msource or me.state not in ELECTION_TIMEOUT_STATES:
        yield settled(handled)
    elif st.election_ctr < MaxElections:
        yield settled(standing(handled, i))


@spec.invariant
def PreferredIsElectedFirst(st):
    """The epoch after a resigned leader's is led by the first of its successors, or by none.

    KIP-595 (EndQuorumEpoch) wants no more than "a higher chance" for it.
    """
    return not any(
        st.servers[i].state == ServerState.LEADER
        and st.servers[i].current_epoch == m.mepoch + 1
        and m.mrank == 0
        and m.mdest != i
        for m in st.messages.of(EndQuorumRequest)
        for i in Server
    )
