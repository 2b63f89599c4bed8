"""Changes of the voter set (KIP-853): starting a server, adding a voter, removing one."""

from kmc.lang import count
from kmc.spec import spec

from ...consensus.kip_996.cluster import (
    Hosts,
    MaxAddReconfigs,
    MaxClusterSize,
    MaxRemoveReconfigs,
    MaxSpawnedServers,
    MinClusterSize,
)
from ...consensus.kip_996.codes import Command
from ...consensus.kip_996.configurations import AddVoter, Identity, RemoveVoter, ServerId
from ...consensus.kip_996.rules import (
    has_pending_config_command,
    leader_has_committed_offsets_in_current_epoch,
    reconfigured,
)
from ..functions import blank_fetch_state
from ..network import connected, connected_servers, send
from ..types import BeginQuorumEpochRequest, Entry, Error, FetchRequest, Node, Role, ServerState, TestLiveness


@spec.action
def start_new_server(st):
    """StartNewServer: an empty server with the configuration of a leader, to which it sends its first fetch (KIP-853).

    That fetch is of epoch 0: it can only be rejected, and its answer is never handled, because it is not pending.
    """
    if len(st.servers) >= MaxSpawnedServers:
        return
    new_server = ServerId.fresh(st.servers.keys())
    disk_id = st.aux_disk_id_gen + 1
    for host in Hosts:
        for any_leader in st.servers:
            if st.servers[any_leader].state != ServerState.LEADER:
                continue
            node = Node(
                identity=Identity(host=host, disk_id=disk_id),
                config=st.servers[any_leader].config,
                current_epoch=0,
                role=Role.OBSERVER,
                state=ServerState.UNATTACHED,
                voted_for=None,
                leader=None,
                fetch_state=blank_fetch_state(),
                pending_ack=set(),
                log=[],
                hwm=0,
                votes_recv=set(),
                flwr_end_offset={},
            )
            fetch_msg = FetchRequest(
                epoch=0,
                fetch_offset=0,
                last_fetched_epoch=0,
                observer=True,
                source=new_server,
                dest=any_leader,
            )
            yield send(st, fetch_msg).set(servers=st.servers.add(new_server, node), aux_disk_id_gen=disk_id)


def add_voter_check(me, add_server):
    """AddVoterCheck(s, add_server): the error, or None for Ok."""
    if me.state != ServerState.LEADER:
        return Error.NOT_LEADER
    if add_server in me.config.members:
        return Error.ALREADY_MEMBER
    return reconfig_check(me)


def remove_voter_check(me, peer):
    """RemoveVoterCheck(s, peer): the error, or None for Ok."""
    if me.state != ServerState.LEADER:
        return Error.NOT_LEADER
    if peer not in me.config.members:
        return Error.UNKNOWN_MEMBER
    return reconfig_check(me)


def reconfig_check(me):
    """The last part of both checks: one reconfiguration at a time, and only after a commit in this epoch (KIP-853)."""
    if has_pending_config_command(me):
        return Error.RECONFIG_IN_PROGRESS
    if not leader_has_committed_offsets_in_current_epoch(me):
        return Error.LEADER_NOT_READY
    return None


def add_voter_liveness_condition(st, s, add_server):
    """AddVoterLivenessCondition(s, add_server): with TestLiveness the leader keeps a majority that it reaches."""
    if not TestLiveness:
        return True
    members = st.servers[s].config.members
    reached = connected_servers(st, s, members) + (1 if connected(st, s, add_server) else 0)
    return reached > (len(members) + 1) // 2


@spec.action
def accept_add_voter_request(st, s: ServerId):
    """AcceptAddVoterRequest(s): append the command and tell the new voter (KIP-853, AddVoter).

    The leader does not wait until the new server has caught up.
    """
    if st.aux_ctrs.add_reconfig_ctr >= MaxAddReconfigs or s not in st.servers:
        return
    me = st.servers[s]
    for add_server in st.servers:
        if add_voter_check(me, add_server) is not None:
            continue
        if not add_voter_liveness_condition(st, s, add_server):
            continue
        if len(me.config.members) >= MaxClusterSize:
            continue
        command = AddVoter(id=me.config.id + 1, new=add_server, members=me.config.members | {add_server})
        entry = Entry(command=Command.ADD_VOTER_COMMAND, epoch=me.current_epoch, value=command)
        request = BeginQuorumEpochRequest(epoch=me.current_epoch, source=s, dest=add_server)
        yield send(st, request).set(
            servers=st.servers.set(s, reconfigured(me, entry)),
            aux_ctrs=st.aux_ctrs.set(add_reconfig_ctr=st.aux_ctrs.add_reconfig_ctr + 1),
        )


def remove_voter_liveness_condition(st, s, remove_server):
    """RemoveVoterLivenessCondition(s, remove_server): with TestLiveness the leader keeps a majority that it reaches."""
    if not TestLiveness:
        return True
    members = st.servers[s].config.members
    reached = count(
        peer != remove_server and st.servers[peer].role == Role.VOTER and connected(st, s, peer) for peer in members
    )
    return reached > len(members) // 2


@spec.action
def accept_remove_voter_request(st, s: ServerId):
    """AcceptRemoveVoterRequest(s): append the command (KIP-853, RemoveVoter).

    A leader may remove itself: it is an observer at once, and leads until the command is committed.
    """
    if st.aux_ctrs.remove_reconfig_ctr >= MaxRemoveReconfigs or s not in st.servers:
        return
    me = st.servers[s]
    for remove_server in st.servers:
        if remove_voter_check(me, remove_server) is not None:
            continue
        if not remove_voter_liveness_condition(st, s, remove_server):
            continue
        if len(me.config.members) <= MinClusterSize:
            continue
        command = RemoveVoter(id=me.config.id + 1, old=remove_server, members=me.config.members - {remove_server})
        entry = Entry(command=Command.REMOVE_VOTER_COMMAND, epoch=me.current_epoch, value=command)
        role = Role.OBSERVER if s == remove_server else me.role
        yield st.set(
            servers=st.servers.set(s, reconfigured(me, entry).set(role=role)),
            aux_ctrs=st.aux_ctrs.set(remove_reconfig_ctr=st.aux_ctrs.remove_reconfig_ctr + 1),
        )
