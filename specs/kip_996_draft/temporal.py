"""Specifications with different fairness, and temporal properties that upstream does not state.

`Spec` and `LivenessSpec` are upstream's. The others show which fairness a property needs. Upstream's four properties
are in `properties`; here they come again, each for behaviours with finitely many pre-votes.
"""

from kmc.spec import (
    FAIR_ACTIONS,
    NEXT,
    always_eventually,
    not_,
    spec,
    weak_fairness,
)

from ..consensus.kip_996.cluster import Value
from ..consensus.kip_996.configurations import ServerId
from ..consensus.kip_996.properties import ValuesEventuallyAcked
from ..consensus.progress import (
    every_server_fetches_again,
    every_server_gets_every_value,
    fetches_end,
    or_for_ever,
    some_value_is_sent,
)
from .actions.timeouts import voter_election_timeout
from .properties import EventuallyLeaderElected, NotStuckInProspective, ReconfigurationNotStuck


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
    return every_server_gets_every_value(ServerId, Value)


@spec.liveness
def FetchEnds():
    """From some time on no fetch is pending."""
    return fetches_end()


@spec.liveness
def FetchAgain():
    """Every server has a pending fetch again and again."""
    return every_server_fetches_again(ServerId)


@spec.liveness
def Sent():
    """Some value is sent."""
    return some_value_is_sent()


def or_pre_votes_for_ever(formula):
    """The formula holds, or voters begin pre-votes infinitely often.

    Fairness does not forbid that every election is a draw; the formula excuses these behaviours.
    """
    return or_for_ever(formula, voter_election_timeout)


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
