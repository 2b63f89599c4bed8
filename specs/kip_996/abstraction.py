"""Abstractions, which a model chooses: what is never read again is dropped from each state, and epochs are renumbered.

README.md proves what they preserve, and `kmc check --verify-abstractions` checks it on whole graphs.
"""

from kmc.lang import Bool, Int, constant, count
from kmc.spec import spec

from ..consensus.kip_996.cluster import MaxValuesPerEpoch
from .mutants import RestartForgetsQuorumState
from .types import (
    BeginQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    FetchResponseDiverging,
    FetchResponseOk,
    LargestEpoch,
    RequestVoteRequest,
    RequestVoteResponse,
    ServerState,
)

LeadersWriteNoRecord = constant(
    "LeadersWriteNoRecord", Bool, "A new leader writes nothing: else a log grows with every leader, for ever", False
)
MostInFlight = constant("MostInFlight", Int(1, 15), "How many messages the constraint FewInFlight allows", 1)

spec.assume(not LeadersWriteNoRecord or MaxValuesPerEpoch == 0)  # a value is committed by a record of its epoch


def tells_of_present_leader(st, m):
    """Its sender leads the epoch that it tells of."""
    sender = st.servers[m.source]
    return sender.state == ServerState.LEADER and sender.current_epoch == m.replica_epoch


def is_refusal_of_present_epoch(st, m):
    """A refused pre-vote that names a leader, of the epoch in which its receiver is."""
    asker = st.servers[m.dest]
    return m.pre_vote and not m.vote_granted and m.leader is not None and asker.current_epoch == m.replica_epoch


def is_read_again(st, m):
    """A processed message that NotLostReqWithReplicaEpoch or LIVENESS_InPrevoteCycle may read."""
    if isinstance(m, BeginQuorumEpochRequest):
        return tells_of_present_leader(st, m)
    if isinstance(m, RequestVoteResponse):
        return is_refusal_of_present_epoch(st, m)
    return False


def is_received_or_read(st, m):
    """A message in flight that its receiver may take, or that a guard may read."""
    receiver = st.servers[m.dest]
    if isinstance(m, BeginQuorumEpochRequest):
        return m.replica_epoch >= receiver.current_epoch or tells_of_present_leader(st, m)
    if isinstance(m, FetchResponse):
        return (
            m.correlation.replica_epoch >= receiver.current_epoch or receiver.fetch_state.pending_fetch == m.correlation
        )
    return True


@spec.abstraction
def DropUnread(st):
    """Without messages that are never read again, and without the number of pre-votes.

    Epochs never fall: so a message of an old epoch is not received, and no guard that looks for a message of the
    present epoch of a server finds it. Where a mutant lets epochs fall, every message stays.
    """
    if RestartForgetsQuorumState:
        return st
    return st.set(
        net_messages=st.net_messages.keep(lambda m: is_received_or_read(st, m)),
        net_messages_processed=st.net_messages_processed.keep(lambda m: is_read_again(st, m)),
        aux_ctrs=st.aux_ctrs.set(prevote_ctr=0),
    )


def epochs_in_fetch(m):
    """The epochs of the fetch request."""
    return {m.replica_epoch, m.last_fetched_epoch}


def epochs_in_message(m):
    """The epochs of the message."""
    if isinstance(m, RequestVoteRequest):
        return {m.replica_epoch, m.last_log_epoch}
    if isinstance(m, FetchRequest):
        return epochs_in_fetch(m)
    if isinstance(m, FetchResponseOk):
        return {m.replica_epoch} | epochs_in_fetch(m.correlation) | {entry.epoch for entry in m.entries}
    if isinstance(m, FetchResponseDiverging):
        return {m.replica_epoch, m.diverging_epoch} | epochs_in_fetch(m.correlation)
    if isinstance(m, FetchResponse):
        return {m.replica_epoch} | epochs_in_fetch(m.correlation)
    return {m.replica_epoch}


def epochs_in_server(me):
    """The epochs that the server has, in its log or elsewhere."""
    pending = me.fetch_state.pending_fetch
    own = {me.current_epoch} | {entry.epoch for entry in me.log}
    return own if pending is None else own | epochs_in_fetch(pending)


def lowest_epoch(st):
    """The lowest epoch of a live server; one that has just started is in none, and leaves it only by a message."""
    return min(
        (me.current_epoch for me in st.servers.values() if me.current_epoch > 0),
        default=LargestEpoch,
    )


def epochs_in_use(st):
    """The epochs that some server or message has."""
    return (
        {e for me in st.servers.values() for e in epochs_in_server(me)}
        | {e for m in st.net_messages for e in epochs_in_message(m)}
        | {e for m in st.net_messages_processed for e in epochs_in_message(m)}
    )


def renumbered(epoch, unused):
    """The epoch when those that are not in use are left out."""
    return epoch - count(e < epoch for e in unused)


def renumbered_fetch(m, unused):
    """The fetch request with its epochs renumbered."""
    return m.set(
        replica_epoch=renumbered(m.replica_epoch, unused),
        last_fetched_epoch=renumbered(m.last_fetched_epoch, unused),
    )


def renumbered_log(log, unused):
    """The entries of a log or of a response with their epochs renumbered."""
    return [entry.set(epoch=renumbered(entry.epoch, unused)) for entry in log]


def renumbered_message(m, unused):
    """The message with its epochs renumbered."""
    same = m.set(replica_epoch=renumbered(m.replica_epoch, unused))
    if isinstance(m, RequestVoteRequest):
        return same.set(last_log_epoch=renumbered(m.last_log_epoch, unused))
    if isinstance(m, FetchRequest):
        return renumbered_fetch(m, unused)
    if isinstance(m, FetchResponseOk):
        return same.set(correlation=renumbered_fetch(m.correlation, unused), entries=renumbered_log(m.entries, unused))
    if isinstance(m, FetchResponseDiverging):
        return same.set(
            correlation=renumbered_fetch(m.correlation, unused),
            diverging_epoch=renumbered(m.diverging_epoch, unused),
        )
    if isinstance(m, FetchResponse):
        return same.set(correlation=renumbered_fetch(m.correlation, unused))
    return same


def renumbered_server(me, unused):
    """The server with its epochs renumbered."""
    pending = me.fetch_state.pending_fetch
    return me.set(
        current_epoch=renumbered(me.current_epoch, unused),
        log=renumbered_log(me.log, unused),
        fetch_state=me.fetch_state.set(
            pending_fetch=renumbered_fetch(pending, unused) if pending is not None else None
        ),
    )


@spec.abstraction
def RenumberEpochs(st):
    """Without the epochs below all live servers that nothing has; together with DropUnread.

    The spec compares epochs and adds one to that of a live server, so only the order of the epochs that are in use
    matters, and the epochs from the lowest live server's on.
    """
    lowest = lowest_epoch(st)
    used = epochs_in_use(st)
    unused = {e for e in range(2, LargestEpoch + 1) if e < lowest and e not in used}  # the text names epochs 0 and 1
    if len(unused) == 0:
        return st
    return st.set(
        servers={s: renumbered_server(me, unused) for s, me in st.servers.items()},
        net_messages={renumbered_message(m, unused) for m in st.net_messages},
        net_messages_processed={renumbered_message(m, unused) for m in st.net_messages_processed},
    )


@spec.constraint
def FewInFlight(st):
    """At most MostInFlight messages are in flight. Old ones may pile up, and no abstraction here merges them."""
    return len(st.net_messages) <= MostInFlight


@spec.constraint
def NoFetchInFlight(st):
    """No fetch is in flight: only a server that does not reach its leader fetches, which loses the fetch."""
    return all(not isinstance(m, FetchRequest) for m in st.net_messages)


@spec.constraint
def EpochsNear(st):
    """No two servers are more than three epochs apart: a server that wins nothing could raise its epoch for ever."""
    return all(a.current_epoch <= b.current_epoch + 3 for a in st.servers.values() for b in st.servers.values())
