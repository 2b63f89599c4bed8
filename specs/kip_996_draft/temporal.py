"""Specifications with different fairness, and temporal properties that upstream does not state.

`Spec` and `LivenessSpec` are upstream's. The others show which fairness a property needs. Upstream's four properties
are in `properties`; here they come again, each for behaviours with finitely many pre-votes.
"""

from kmc.spec import (
    FAIR_ACTIONS,
    NEXT,
    always_eventually,
    eventually,
    eventually_always,
    for_all,
    leads_to,
    not_,
    or_,
    spec,
    weak_fairness,
)

from ..consensus.promises import has_value
from .actions.timeouts import voter_election_timeout
from .properties import (
    EventuallyLeaderElected,
    NotStuckInProspective,
    ReconfigurationNotStuck,
    ValuesEventuallyAcked,
)
from .types import ServerId, Value


@spec.specification
def Spec():
    """No fairness: anything may stop for ever."""
    return True


@spec.specification
def LivenessSpec():
    """Upstream's Fairness: each action that is declared `fair`, per server or pair."""
    return FAIR_ACTIONS


@spec.specification
def SNext():
    """Something happens as long as something can."""
    return weak_fairness(NEXT)


@spec.liveness
def CatchUp():
    """Every server gets each value that was sent."""
    return for_all(
        ServerId,
        lambda s: for_all(
            Value,
            lambda v: leads_to(
                lambda st: v in st.inv_sent, lambda st: s in st.servers and has_value(st.servers[s].log, v)
            ),
        ),
    )


@spec.liveness
def FetchEnds():
    """From some time on no fetch is pending."""
    return eventually_always(lambda st: all(me.fetch_state.pending_fetch is None for me in st.servers.values()))


@spec.liveness
def FetchAgain():
    """Every server has a pending fetch again and again."""
    return for_all(
        ServerId,
        lambda s: always_eventually(lambda st: s in st.servers and st.servers[s].fetch_state.pending_fetch is not None),
    )


@spec.liveness
def Sent():
    """Some value is sent."""
    return eventually(lambda st: len(st.inv_sent) > 0)


def or_pre_votes_for_ever(formula):
    """The formula holds, or voters begin pre-votes infinitely often.

    Fairness does not forbid that every election is a draw; the formula excuses these behaviours.
    """
    return or_(formula, always_eventually(voter_election_timeout))


@spec.liveness
def ValuesEventuallyAckedOrPreVotes():
    """ValuesEventuallyAcked, or pre-votes for ever."""
    return or_pre_votes_for_ever(ValuesEventuallyAcked())


@spec.liveness
def ReconfigurationNotStuckOrPreVotes():
    """ReconfigurationNotStuck, or pre-votes for ever."""
    return or_pre_votes_for_ever(ReconfigurationNotStuck())


@spec.liveness
def EventuallyLeaderElectedOrPreVotes():
    """EventuallyLeaderElected, or pre-votes for ever."""
    return or_pre_votes_for_ever(EventuallyLeaderElected())


@spec.liveness
def NotStuckInProspectiveOrPreVotes():
    """NotStuckInProspective, or pre-votes for ever."""
    return or_pre_votes_for_ever(NotStuckInProspective())


@spec.liveness
def PreVotesEnd():
    """Voters begin pre-votes only finitely often."""
    return not_(always_eventually(voter_election_timeout))
