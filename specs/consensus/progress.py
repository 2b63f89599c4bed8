"""Temporal properties that both specs of KIP-996 check beside upstream's: values spread, and fetches go on or end.

What a formula ranges over is an argument, since server identifiers and values are those of a spec.
"""

from kmc.spec import always_eventually, eventually, eventually_always, for_all, leads_to, or_

from .logs import has_value


def every_server_gets_every_value(servers, values):
    """Every server gets each value that was sent."""
    return for_all(
        servers,
        lambda s: for_all(
            values,
            lambda v: leads_to(
                lambda st: v in st.inv_sent, lambda st: s in st.servers and has_value(st.servers[s].log, v)
            ),
        ),
    )


def fetches_end():
    """From some time on no fetch is pending."""
    return eventually_always(lambda st: all(me.fetch_state.pending_fetch is None for me in st.servers.values()))


def every_server_fetches_again(servers):
    """Every server has a pending fetch again and again."""
    return for_all(
        servers,
        lambda s: always_eventually(lambda st: s in st.servers and st.servers[s].fetch_state.pending_fetch is not None),
    )


def none_for_ever(servers, condition):
    """No server meets `condition(st, s)` for ever."""
    return for_all(servers, lambda s: leads_to(lambda st: condition(st, s), lambda st: not condition(st, s)))


def some_value_is_sent():
    """Some value is sent."""
    return eventually(lambda st: len(st.inv_sent) > 0)


def or_for_ever(formula, timeouts):
    """The formula holds, or these timeouts happen infinitely often."""
    return or_(formula, always_eventually(timeouts))
