"""ClusterIds: who validates them, and against what (KIP-642, ClusterId generation)."""

from .assignments import newest_offset
from .mutants import IdsAreNotValidated
from .readings import BlankClusterIdPasses, Bootstrapping, FollowersValidate, ValidatesUncommitted
from .types import ServerState


def known_cluster(me):
    """The ClusterId of a server's newest assignment, committed or not; 0 if it knows none."""
    return me.assignment.cluster


def validated_cluster(me):
    """The ClusterId that a server validates requests against, or 0: the text waits until it is committed."""
    if ValidatesUncommitted:
        return known_cluster(me)
    offset = newest_offset(me.log, me.applied)
    return me.log.at(offset).value.cluster if offset > 0 else 0


def wrong_cluster(me, m):
    """A request is refused because it names another cluster; only leaders check, as the text has it."""
    if not Bootstrapping or IdsAreNotValidated:
        return False
    if me.state != ServerState.LEADER and not FollowersValidate:
        return False
    own = validated_cluster(me)
    if own == 0 or m.mcluster == own:
        return False
    return m.mcluster != 0 or not BlankClusterIdPasses
