"""What must be reachable, so that no invariant holds only because nothing happens.

No model reaches all of it; the manifest's models together do, and each says what it leaves unreached.
"""

from kmc.spec import spec

from ..consensus.kip_996.cluster import MaxAddReconfigs, MaxRemoveReconfigs
from ..consensus.kip_996.codes import Command
from ..consensus.kip_996.configurations import AddVoter, InitCluster, RemoveVoter, most_recent_command
from ..consensus.kip_996.rules import truncate_log
from ..consensus.reachable import (
    commits_in_own_epoch,
    leads_after_election,
    leads_with_committed_config,
    refuses_pre_vote,
    two_servers_are_in,
)
from .functions import is_observer, is_voter
from .types import FetchResponseDiverging, RequestVoteResponse, ServerState


@spec.reachable
def a_leader_is_elected_after_a_pre_vote(st):
    """Some server leads a later epoch than the first."""
    return any(leads_after_election(me, ServerState.LEADER) for me in st.servers.values())


@spec.reachable
def two_servers_lead(st):
    """A leader has not heard of its successor."""
    return two_servers_are_in(st.servers, ServerState.LEADER)


@spec.reachable
def two_candidates_compete(st):
    """Two candidates ask for votes in one epoch."""
    return any(
        s1 != s2
        and node1.state == ServerState.CANDIDATE
        and node2.state == ServerState.CANDIDATE
        and node1.current_epoch == node2.current_epoch
        for s1, node1 in st.servers.items()
        for s2, node2 in st.servers.items()
    )


@spec.reachable
def a_pre_vote_is_refused(st):
    """A server that hears from its leader has refused a pre-vote, and that answer is on its way (KIP-996)."""
    return any(refuses_pre_vote(m) for m in st.net_messages.of(RequestVoteResponse))


@spec.reachable
def a_value_is_acknowledged(st):
    """A value was replicated to a majority."""
    return len(st.inv_pos_acked) > 0


@spec.reachable
def a_value_is_refused(st):
    """A client was told that its value failed."""
    return len(st.inv_neg_acked) > 0


@spec.reachable
def a_refused_value_is_committed(st):
    """A client was told that its value failed, and it is committed all the same: a refusal says nothing certain."""
    return any(
        leads_after_election(me, ServerState.LEADER)
        and any(me.log.at(o).value == v for o in me.log.offsets() if o <= me.hwm)
        for v in st.inv_neg_acked
        for me in st.servers.values()
    )


@spec.reachable
def a_record_is_committed_after_a_failover(st):
    """An elected leader has committed a client's record of its own epoch."""
    return any(
        leads_after_election(me, ServerState.LEADER) and commits_in_own_epoch(me, Command.APPEND_COMMAND)
        for me in st.servers.values()
    )


def is_awaited(me, m):
    """The response answers the fetch that its receiver waits for; a server that stopped waits for none."""
    return me.state != ServerState.DEAD_NO_STATE and me.fetch_state.pending_fetch == m.correlation


@spec.reachable
def a_log_is_truncated(st):
    """A follower is told that its log diverges, and will cut it where it agrees with the leader's (KIP-595)."""
    return any(
        is_awaited(st.servers[m.dest], m) and len(truncate_log(st.servers[m.dest].log, m)) < len(st.servers[m.dest].log)
        for m in st.net_messages.of(FetchResponseDiverging)
    )


@spec.reachable
def a_voter_is_added(st):
    """A leader has committed an AddVoter (KIP-853)."""
    return MaxAddReconfigs > 0 and any(
        leads_with_committed_config(me, ServerState.LEADER) and isinstance(most_recent_command(me.log), AddVoter)
        for me in st.servers.values()
    )


@spec.reachable
def an_added_voter_leads(st):
    """A server was elected that was not among the first voters."""
    return MaxAddReconfigs > 0 and any(
        leads_after_election(me, ServerState.LEADER)
        and any(isinstance(entry.value, InitCluster) and s not in entry.value.members for entry in me.log)
        for s, me in st.servers.items()
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
    """A leader has committed its own removal and resigned (KIP-853)."""
    return MaxRemoveReconfigs > 0 and any(
        me.state == ServerState.RESIGNED and me.config.committed and is_observer(me, s) for s, me in st.servers.items()
    )


@spec.reachable
def a_leader_follows_a_leader_that_removed_itself(st):
    """The cluster goes on without the leader that removed itself."""
    return MaxRemoveReconfigs > 0 and any(
        leads_after_election(me, ServerState.LEADER)
        and me.config.committed
        and is_voter(me, s)
        and s1 not in me.config.members
        for s, me in st.servers.items()
        for s1, other in st.servers.items()
        if is_observer(other, s1)
    )
