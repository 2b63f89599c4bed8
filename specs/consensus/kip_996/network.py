"""What both texts of KIP-996 do with a message that is lost or processed, and with connections (network.tla).

What depends on who is connected stands in the specs: in the draft a server is connected to itself.
"""

from .cluster import MaxConnectivityChanges


def can_change_connectivity(st):
    """CanChangeConnectivity, in the draft the first conjunct of ChangeConnectivity(dead_servers)."""
    return st.net_connectivity_ctr < MaxConnectivityChanges


def drop(st, dropped):
    """Drop(msgs): the messages for which `dropped` holds are lost, not processed."""
    return st.set(net_messages=st.net_messages.keep(lambda m: not dropped(m)))


def discard(st, d):
    """Discard(d): the message has been processed."""
    return st.set(
        net_messages=st.net_messages.discard(d),
        net_messages_processed=st.net_messages_processed.send(d),
    )
