"""Majorities: any two of one ensemble have a member in common."""

from kmc.spec import spec


@spec.majority
def majority_count(ensemble):
    """MajorityCount(ensemble): the least number of members that are a majority."""
    return len(ensemble) // 2 + 1


@spec.majority
def is_quorum(votes, ensemble):
    """votes in Quorum(ensemble): a majority of the ensemble, without other voters."""
    return votes <= ensemble and len(votes) >= majority_count(ensemble)
