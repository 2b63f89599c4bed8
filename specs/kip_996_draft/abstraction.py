"""An abstraction, which a model chooses: what is never read again is dropped from each state.

README.md says why it preserves what models check; `kmc check --verify-abstractions` checks that on whole graphs.
"""

from kmc.spec import spec

from .types import (
    BeginQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    LargestEpoch,
    RequestVoteResponse,
    ServerState,
    StaleVoteIsNotGiven,
    TestLiveness,
)

LOWEST_ELECTION = 2
"""The lowest epoch of a candidate, since the first leader is not elected."""


def lowest_epoch(me):
    """The lowest epoch that the server can be in from now on, if it lives.

    In the TLA+ text a server falls back to the epoch of a vote request that it refuses, which has at least the second
    epoch: so it falls only from the third or a later one.
    """
    if LargestEpoch <= LOWEST_ELECTION or StaleVoteIsNotGiven:
        return me.current_epoch
    return min(me.current_epoch, LOWEST_ELECTION)


def may_lead(me, epoch):
    """The server leads this epoch, or may lead it later: only a candidate becomes leader, and in its own epoch."""
    leads = me.state == ServerState.LEADER or me.state == ServerState.CANDIDATE
    return epoch > lowest_epoch(me) or (leads and me.current_epoch == epoch)


def may_wait_for(me, fetch):
    """The server waits for the answer to this fetch, or may send the same fetch again."""
    return me.fetch_state.pending_fetch == fetch or fetch.epoch >= lowest_epoch(me)


def counts_or_names_leader(me, m):
    """An answer to a vote request can still change its receiver in the epoch of the answer.

    It names a leader, or it grants a pre-vote, or it grants a vote to the candidate. A server is a candidate of an
    epoch only once, but may ask for pre-votes in its epoch again and again.
    """
    is_candidate = me.state == ServerState.CANDIDATE and me.current_epoch == m.epoch
    return m.leader is not None or (m.vote_granted and (m.pre_vote or is_candidate))


def answer_matters(me, m):
    """An answer to a vote request changes its receiver now or later; with TestLiveness timeouts wait for it, too."""
    if TestLiveness:
        return True
    if m.epoch == lowest_epoch(me):
        return counts_or_names_leader(me, m)
    return m.epoch > lowest_epoch(me)


def is_sent_once(st, m):
    """A guard may look for this BeginQuorumEpochRequest: BecomeLeader in its epoch, with TestLiveness also a resend.

    A dead server is in epoch 0, and sends nothing.
    """
    sender = st.servers[m.source]
    return sender.state != ServerState.DEAD_NO_STATE and (TestLiveness or m.epoch > lowest_epoch(sender))


def is_received_or_read(st, m):
    """A message in flight that changes something when it is received, now or later, or that a guard may read."""
    receiver = st.servers[m.dest]
    if isinstance(m, RequestVoteResponse):
        return answer_matters(receiver, m)
    if isinstance(m, BeginQuorumEpochRequest):
        return m.epoch >= lowest_epoch(receiver) or is_sent_once(st, m)
    if isinstance(m, FetchRequest):
        return TestLiveness or may_lead(receiver, m.epoch) or may_wait_for(st.servers[m.source], m)
    if isinstance(m, FetchResponse):
        return may_wait_for(receiver, m.correlation)
    return True


def is_read_again(st, m):
    """A processed message that a guard may look for."""
    return isinstance(m, BeginQuorumEpochRequest) and is_sent_once(st, m)


@spec.abstraction
def DropUnread(st):
    """Without messages that change nothing any more and that no guard looks for, in flight or processed.

    A message of an epoch that its receiver has left for good changes nothing, or cannot be received.
    """
    return st.set(
        net_messages=st.net_messages.keep(lambda m: is_received_or_read(st, m)),
        net_messages_processed=st.net_messages_processed.keep(lambda m: is_read_again(st, m)),
    )
