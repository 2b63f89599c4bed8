"""What must be reachable, so that no invariant holds only because nothing happens.

No model reaches all of it; the manifest's models together do, and each says what it leaves unreached.
"""

from kmc.spec import spec

from ..consensus.kip_996.cluster import MaxAddReconfigs, MaxRemoveReconfigs
from ..consensus.kip_996.codes import Command
from ..consensus.kip_996.configurations import AddVoter, RemoveVoter, most_recent_command
from ..consensus.kip_996.rules import truncate_log
from ..consensus.reachable import (
    commits_in_own_epoch,
    leads_after_election,
    leads_with_committed_config,
    refuses_pre_vote,
    two_servers_are_in,
)
from .types import FetchResponseDiverging, RequestVoteResponse, Role, ServerState


@spec.reachable
def a_leader_is_elected_after_a_pre_vote(st):
    """Some server leads a later epoch than the first."""
    return any(leads_after_election(me, ServerState.LEADER) for me in st.servers.values())


@spec.reachable
def two_servers_lead(st):
    """A leader has not heard of its successor."""
    return two_servers_are_in(st.servers, ServerState.LEADER)


@spec.reachable
def a_pre_vote_is_refused(st):
    """A server that hears from its leader has refused a pre-vote, and the server that asked will read it (KIP-996)."""
    return any(
        refuses_pre_vote(m) and m.epoch >= st.servers[m.dest].current_epoch
        for m in st.net_messages.of(RequestVoteResponse)
    )


@spec.reachable
def a_value_is_acknowledged(st):
    """A value was replicated to a majority."""
    return len(st.inv_pos_acked) > 0


@spec.reachable
def a_value_is_refused(st):
    """A client was told that its value failed."""
    return len(st.inv_neg_acked) > 0


@spec.reachable
def a_record_is_committed_after_a_failover(st):
    """An elected leader has committed an entry of its own epoch."""
    return any(
        leads_after_election(me, ServerState.LEADER)
        and any(me.log.at(o).epoch == me.current_epoch for o in me.log.offsets() if o <= me.hwm)
        for me in st.servers.values()
    )


@spec.reachable
def a_value_is_committed_after_a_failover(st):
    """An elected leader has committed a client's value of its own epoch."""
    return any(
        leads_after_election(me, ServerState.LEADER) and commits_in_own_epoch(me, Command.APPEND_COMMAND)
        for me in st.servers.values()
    )


def will_truncate(me, m):
    """The follower waits for this answer of its epoch, and its log is longer than what it has in common."""
    return (
        me.state == ServerState.FOLLOWER
        and me.current_epoch == m.epoch
        and me.fetch_state.pending_fetch == m.correlation
        and len(truncate_log(me.log, m)) < len(me.log)
    )


@spec.reachable
def a_log_is_truncated(st):
    """A follower is told that its log diverges, and will cut it where it agrees with the leader's (KIP-595)."""
    return any(will_truncate(st.servers[m.dest], m) for m in st.net_messages.of(FetchResponseDiverging))


@spec.reachable
def a_voter_is_added(st):
    """A leader has committed an AddVoter (KIP-853)."""
    return MaxAddReconfigs > 0 and any(
        leads_with_committed_config(me, ServerState.LEADER) and isinstance(most_recent_command(me.log), AddVoter)
        for me in st.servers.values()
    )


@spec.reachable
def a_voter_is_removed(st):
    """A leader has committed a RemoveVoter, and leads on (KIP-853)."""
    return MaxRemoveReconfigs > 0 and any(
        leads_with_committed_config(me, ServerState.LEADER) and isinstance(most_recent_command(me.log), RemoveVoter)
        for me in st.servers.values()
    )


@spec.reachable
def a_leader_has_removed_itself(st):
    """A leader has committed its own removal, and is an unattached observer (KIP-853)."""
    return MaxRemoveReconfigs > 0 and any(
        me.role == Role.OBSERVER
        and me.state == ServerState.UNATTACHED
        and me.config.committed
        and any(isinstance(entry.value, RemoveVoter) and entry.value.old == s for entry in me.log)
        for s, me in st.servers.items()
    )
