"""Properties that both texts of KIP-996 state of all servers, in part under different names (..._properties.tla)."""

from kmc.spec import for_all, leads_to, spec

from ..logs import has_value, logs_agree
from .cluster import Value


def value_in_server_log(me, v):
    """ValueInServerLog(s, v)."""
    return has_value(me.log, v)


def logs_match(st):
    """Up to the lower of their high watermarks, two logs are equal: LogMatching, in the draft NoLogDivergence."""
    return all(
        logs_agree(node1.log, node2.log, min(node1.hwm, node2.hwm))
        for s1, node1 in st.servers.items()
        for s2, node2 in st.servers.items()
        if s1 != s2
    )


def leaders_agree(st):
    """No servers of one epoch believe in different leaders: ElectionSafety, in the draft NeverTwoLeadersInSameEpoch."""
    return not any(
        s1 != s2
        and node1.leader is not None
        and node2.leader is not None
        and node1.leader != node2.leader
        and node1.current_epoch == node2.current_epoch
        for s1, node1 in st.servers.items()
        for s2, node2 in st.servers.items()
    )


@spec.liveness
def ValuesEventuallyAcked():
    """A value that was sent is eventually acknowledged or refused, and not both."""
    return for_all(
        Value,
        lambda v: leads_to(
            lambda st: v in st.inv_sent,
            lambda st: (v in st.inv_neg_acked) != (v in st.inv_pos_acked),
        ),
    )
