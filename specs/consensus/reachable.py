"""Conditions that the specs of KIP-996 check to be reachable, of one server, one message or all servers.

The server states of the two specs differ, so a condition takes those that it needs as arguments.
"""

FIRST_EPOCH = 1


def leads_after_election(me, leader_state):
    """The server leads by an election, and so by a pre-vote: the first leader was not elected."""
    return me.state == leader_state and me.current_epoch > FIRST_EPOCH


def two_servers_are_in(servers, state):
    """Two servers are in this state at once, in any epochs."""
    return any(
        node1.state == state and node2.state == state and s1 != s2
        for s1, node1 in servers.items()
        for s2, node2 in servers.items()
    )


def refuses_pre_vote(m):
    """This answer to a vote request refuses a pre-vote because its sender hears from a leader (KIP-996)."""
    return m.pre_vote and not m.vote_granted and m.error is None and m.leader is not None


def commits_in_own_epoch(me, command):
    """The server has committed an entry of this command that is of its own epoch."""
    return any(
        me.log.at(o).command == command and me.log.at(o).epoch == me.current_epoch
        for o in me.log.offsets()
        if o <= me.hwm
    )


def leads_with_committed_config(me, leader_state):
    """The server leads, and its newest configuration is committed (KIP-853)."""
    return me.state == leader_state and me.config.committed
