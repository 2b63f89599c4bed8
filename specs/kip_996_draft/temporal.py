"""Temporal properties that upstream does not state, each for behaviours with finitely many pre-votes.

Upstream's four properties are in `properties`; here they come again. The specifications, with the properties that
`kip_996` has too, are in `../consensus/kip_996/temporal.py`.
"""

from kmc.spec import always_eventually, not_, spec

from ..consensus.kip_996.properties import ValuesEventuallyAcked
from ..consensus.kip_996.temporal import (  # noqa: F401  # declared for both specs of KIP-996
    CatchUp,
    FetchAgain,
    FetchEnds,
    LivenessSpec,
    Sent,
    SNext,
    Spec,
)
from ..consensus.progress import or_for_ever
from .actions.timeouts import voter_election_timeout
from .properties import EventuallyLeaderElected, NotStuckInProspective, ReconfigurationNotStuck


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
