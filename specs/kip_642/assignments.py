"""Which voters a server acts on, and what a leader has committed (KIP-642, Quorum Change Protocol).

An assignment takes effect when it is in the log, and stops to be in effect when it is truncated. The quorum-state file
holds committed assignments only; after a restart the rest is found by scanning the log forward from AppliedOffset.
"""

from ..consensus.pull_raft.rules import new_highwatermark
from .mutants import OldVotersCommit, RestartForgetsUncommitted, TruncationKeepsAssignment, UncommittedIsPersisted
from .readings import AssignmentTakesEffect, Bootstrapping, Reassignment, StartsFounded, TakesEffect
from .types import Assignment, Entry, Value


def is_voter(me, i):
    """Server i is a voter as far as it knows."""
    return not Reassignment or i in me.assignment.current


def is_observer(me, i):
    """Server i is not a voter as far as it knows; it may know no voters at all."""
    return Reassignment and i not in me.assignment.current


def demoted(me, i):
    """A voter that is told that it was removed observes, until another assignment takes effect or it restarts."""
    return me.set(assignment=me.assignment.set(current=me.assignment.current - {i}))


def no_quorum():
    """The assignment of a server that knows of no quorum."""
    return Assignment(current=set(), target=set(), cluster=0)


def blank_epoch():
    """The epoch of a server that has never heard of any: the first cluster is founded in the epoch after it."""
    return 0 if StartsFounded else 1


def first_assignment(plan):
    """What a server acts on whose log has no assignment: the first voters, unless it must find the quorum."""
    if Bootstrapping:
        return no_quorum()
    return Assignment(current=plan.quorum_voters, target=set(), cluster=0)


def newest_between(log, after, last, default):
    """The offset of the newest assignment above `after` and up to `last`, or the default."""
    offsets = range(after + 1, min(last, len(log)) + 1)
    return max((o for o in offsets if isinstance(log.at(o).value, Assignment)), default=default)


def newest_offset(log, last):
    """The offset of the newest assignment up to offset `last`, or 0."""
    return newest_between(log, 0, last, 0)


def newest_assignment(plan, log, last):
    """The newest assignment of a log up to offset `last`, or the first one."""
    offset = newest_offset(log, last)
    return log.at(offset).value if offset > 0 else first_assignment(plan)


def effective_offset(log, applied):
    """The offset of the assignment that is in effect, or 0."""
    return applied if AssignmentTakesEffect == TakesEffect.WHEN_COMMITTED else newest_offset(log, len(log))


def applied_after(me, log, hwm):
    """The AppliedOffset of a server whose log and high watermark become these."""
    return newest_between(log, me.applied, len(log) if UncommittedIsPersisted else hwm, me.applied)


def advanced(me, hwm):
    """The server with this high watermark, and what follows from it."""
    if not Reassignment:
        return me.set(high_watermark=hwm)
    applied = applied_after(me, me.log, hwm)
    raised = me.set(high_watermark=hwm, applied=applied)
    if AssignmentTakesEffect != TakesEffect.WHEN_COMMITTED or applied == me.applied:
        return raised
    return raised.set(assignment=me.log.at(applied).value)


def extended(me, log, hwm):
    """The server with more entries in its log, and perhaps a higher high watermark.

    A server that was told who the voters are, or that it is none, believes it until another assignment takes effect.
    """
    longer = me.set(log=log)
    if Reassignment and AssignmentTakesEffect != TakesEffect.WHEN_COMMITTED:
        newest = newest_between(log, len(me.log), len(log), 0)
        longer = longer.set(assignment=log.at(newest).value if newest > 0 else me.assignment)
    return advanced(longer, hwm)


def truncated(plan, me, log):
    """The server with the beginning of its log: it acts on the assignment before, if it was acting on another."""
    if not Reassignment:
        return me.set(log=log)
    applied = applied_after(me, log, me.high_watermark)
    offset = effective_offset(log, applied)
    reverts = offset != effective_offset(me.log, me.applied) and not TruncationKeepsAssignment
    return me.set(
        log=log,
        assignment=newest_assignment(plan, log, offset) if reverts else me.assignment,
        applied=applied,
    )


def restarted_assignment(plan, me):
    """Bootstrapping Procedure 1: the quorum-state file, and then what the log has beyond AppliedOffset."""
    if not Reassignment:
        return me.assignment
    if RestartForgetsUncommitted or AssignmentTakesEffect == TakesEffect.WHEN_COMMITTED:
        return newest_assignment(plan, me.log, me.applied)
    return newest_assignment(plan, me.log, len(me.log))


def committing_voters(plan, me):
    """The voters of whom a majority must have an entry."""
    if OldVotersCommit:
        return plan.quorum_voters
    if AssignmentTakesEffect == TakesEffect.LEADER_WHEN_COMMITTED:
        return newest_assignment(plan, me.log, me.applied).current
    return me.assignment.current


def committed(plan, i, me):
    """A leader with its high watermark advanced as far as its voters allow.

    KRaft.tla's rule can lower it where a voter joins or leaves that is behind; what is committed stays committed.
    """
    above = me.high_watermark if Reassignment else 0
    return advanced(me, new_highwatermark(me, i, me.end_offset, committing_voters(plan, me), above))


def is_tracked(assignment, j):
    """Observer Promotion: a leader tracks the progress of voters, and of observers only if they shall be voters."""
    return not Reassignment or j in assignment.current or j in assignment.target


def is_pending(acked):
    """acked[v] = FALSE: sent to a leader, not yet acknowledged."""
    return acked is not None and not acked


def acked_by(st, me, leader):
    """The acknowledgements after a leader's high watermark has risen from that of `me` to that of `leader`."""
    return {
        v: any(leader.log.at(o).value == v for o in range(me.high_watermark + 1, leader.high_watermark + 1))
        if is_pending(st.acked[v])
        else st.acked[v]
        for v in Value
    }


def appended(plan, i, me, value):
    """A leader with one more entry; an entry that needs no other voter is committed at once."""
    longer = extended(me, me.log.append(Entry(epoch=me.current_epoch, value=value)), me.high_watermark)
    return committed(plan, i, longer) if Reassignment else longer


def has_committed_in_own_epoch(me):
    """A record of the leader's own epoch is committed: the rule that the draft lacks."""
    return any(me.log.at(o).epoch == me.current_epoch for o in me.log.offsets() if o <= me.high_watermark)


def last_assignment_is_committed(me):
    """The leader's newest assignment is at or below its high watermark."""
    return newest_between(me.log, me.high_watermark, len(me.log), 0) == 0
