"""Init and the names of kraft_kip_996.tla's formulas: an established leader, its followers, and no observer."""

from kmc.lang import pair, pairs
from kmc.spec import spec

from ...consensus.kip_996.cluster import Hosts, InitClusterSize
from ...consensus.kip_996.codes import Command
from ...consensus.kip_996.configurations import Config, Identity, InitCluster, ServerId
from ..types import AuxCtrs, CutOffFromFirst, Entry, FetchState, Node, OldServers, ServerState, State

spec.names(init="Init", next="Next", specifications=["Spec", "LivenessSpec"])


def first_node(n, servers):
    """Server n of InitServerVars, InitCandidateVars, InitLeaderVars and InitLogVars; server 1 leads."""
    first_entry = Entry(command=Command.INIT_CLUSTER_COMMAND, epoch=1, value=InitCluster(id=1, members=servers))
    return Node(
        identity=Identity(host=Hosts.at(n), disk_id=0),
        config=Config(id=1, members=servers, committed=True),
        current_epoch=1,
        state=ServerState.LEADER if n == 1 else ServerState.FOLLOWER,
        voted_for=None,
        leader=ServerId.at(1),
        fetch_state=FetchState(pending_fetch=None, last_fetch_res=None, has_fetch_success=True),
        pending_ack=set(),
        log=[first_entry],
        hwm=1,
        votes_recv=set(),
        flwr_end_offset={s1: 1 for s1 in servers},
        versions_behind=1 if n > InitClusterSize - OldServers else 0,
    )


def first_connections():
    """NetworkInit(servers): every pair that can ever exist is connected, but for CutOffFromFirst."""
    cut = {pair(ServerId.at(1), ServerId.at(InitClusterSize - n)) for n in range(CutOffFromFirst)}
    return {p: p not in cut for p in pairs(ServerId)}


@spec.init
def init():
    """Init: epoch 1, the first configuration committed everywhere."""
    servers = {ServerId.at(n) for n in range(1, InitClusterSize + 1)}
    yield State(
        net_messages=set(),
        net_messages_processed=set(),
        net_connectivity=first_connections(),
        net_connectivity_ctr=0,
        servers={ServerId.at(n): first_node(n, servers) for n in range(1, InitClusterSize + 1)},
        inv_sent=set(),
        inv_pos_acked=set(),
        inv_neg_acked=set(),
        aux_ctrs=AuxCtrs(
            prevote_ctr=0,
            election_ctr=0,
            disruptive_ctr=0,
            crash_ctr=0,
            restart_ctr=0,
            add_reconfig_ctr=0,
            remove_reconfig_ctr=0,
        ),
        aux_disk_id_gen=0,
    )
