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


def is_in_fetch(m, epoch):
    """The fetch request has this epoch."""
    return m.replica_epoch == epoch or m.last_fetched_epoch == epoch


def is_in_message(m, epoch):
    """The message has this epoch."""
    if isinstance(m, RequestVoteRequest):
        return m.replica_epoch == epoch or m.last_log_epoch == epoch
    if isinstance(m, FetchRequest):
        return is_in_fetch(m, epoch)
    if isinstance(m, FetchResponse):
        return (
            m.replica_epoch == epoch
            or is_in_fetch(m.correlation, epoch)
            or (isinstance(m, FetchResponseOk) and any(entry.epoch == epoch for entry in m.entries))
            or (isinstance(m, FetchResponseDiverging) and m.diverging_epoch == epoch)
        )
    return m.replica_epoch == epoch


def is_in_server(me, epoch):
    """The server has this epoch, in its log or elsewhere."""
    pending = me.fetch_state.pending_fetch
    return (
        me.current_epoch == epoch
        or any(entry.epoch == epoch for entry in me.log)
        or (pending is not None and is_in_fetch(pending, epoch))
    )


def lowest_epoch(st):
    """The lowest epoch of a live server; one that has just started is in none, and leaves it only by a message."""
    return min(
        (me.current_epoch for me in st.servers.values() if me.current_epoch > 0),
        default=LargestEpoch,
    )


def is_in_use(st, epoch):
    """Some server or message has this epoch. The text names epochs 0 and 1."""
    return (
        epoch <= 1
        or any(is_in_server(me, epoch) for me in st.servers.values())
        or any(is_in_message(m, epoch) for m in st.net_messages)
        or any(is_in_message(m, epoch) for m in st.net_messages_processed)
    )


def renumbered_fetch(m, numbers):
    """The fetch request with its epochs renumbered."""
    return m.set(
        replica_epoch=numbers[m.replica_epoch],
        last_fetched_epoch=numbers[m.last_fetched_epoch],
    )


def renumbered_log(log, numbers):
    """The entries of a log or of a response with their epochs renumbered."""
    return [entry.set(epoch=numbers[entry.epoch]) for entry in log]


def renumbered_message(m, numbers):
    """The message with its epochs renumbered."""
    same = m.set(replica_epoch=numbers[m.replica_epoch])
    if isinstance(m, RequestVoteRequest):
        return same.set(last_log_epoch=numbers[m.last_log_epoch])
    if isinstance(m, FetchRequest):
        return renumbered_fetch(m, numbers)
    if isinstance(m, FetchResponseOk):
        return same.set(
            correlation=renumbered_fetch(m.correlation, numbers), entries=renumbered_log(m.entries, numbers)
        )
    if isinstance(m, FetchResponseDiverging):
        return same.set(
            correlation=renumbered_fetch(m.correlation, numbers),
            diverging_epoch=numbers[m.diverging_epoch],
        )
    if isinstance(m, FetchResponse):
        return same.set(correlation=renumbered_fetch(m.correlation, numbers))
    return same


def renumbered_server(me, numbers):
    """The server with its epochs renumbered."""
    pending = me.fetch_state.pending_fetch
    return me.set(
        current_epoch=numbers[me.current_epoch],
        log=renumbered_log(me.log, numbers),
        fetch_state=me.fetch_state.set(
            pending_fetch=renumbered_fetch(pending, numbers) if pending is not None else None
        ),
    )


@spec.abstraction
def RenumberEpochs(st):
    """Without the epochs below all live servers that nothing has; together with DropUnread.

    The spec compares epochs and adds one to that of a live server, so only the order of the epochs that are in use
    matters, and the epochs from the lowest live server's on. Compiled code for this would take hours to make, and is
    refused at once for a map of so many numbers (KMC811): the interpreter applies it.
    """
    lowest = lowest_epoch(st)
    unused = {e for e in range(2, LargestEpoch + 1) if e < lowest and not is_in_use(st, e)}
    if len(unused) == 0:
        return st
    numbers = {e: e - count(u < e for u in unused) if e <= LargestEpoch else 0 for e in range(0, 256)}
    return st.set(
        servers={s: renumbered_server(me, numbers) for s, me in st.servers.items()},
        net_messages={renumbered_message(m, numbers) for m in st.net_messages},
        net_messages_processed={renumbered_message(m, numbers) for m in st.net_messages_processed},
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
