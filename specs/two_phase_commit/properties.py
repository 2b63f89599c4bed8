"""What two-phase commit promises, under which fairness, what must be possible, and its symmetry."""

from kmc.spec import NEXT, eventually, spec, weak_fairness

from .types import RM, RMState

spec.symmetry("symmRM", RM)


@spec.invariant
def Consistent(st):
    """No resource manager has aborted while another has committed."""
    states = {st.rms[r] for r in RM}
    return not {RMState.ABORTED, RMState.COMMITTED} <= states


@spec.action_property
def DecisionsAreFinal(st, nxt):
    """A resource manager that has committed or aborted stays so."""
    return all(nxt.rms[r] == st.rms[r] for r in RM if st.rms[r] in {RMState.COMMITTED, RMState.ABORTED})


@spec.reachable
def all_committed(st):
    """The transaction can succeed."""
    return all(st.rms[r] == RMState.COMMITTED for r in RM)


@spec.reachable
def all_aborted(st):
    """The transaction can fail."""
    return all(st.rms[r] == RMState.ABORTED for r in RM)


@spec.specification
def Spec():
    """No fairness: all managers may stop for ever."""
    return True


@spec.specification
def FairSpec():
    """Something happens as long as something can."""
    return weak_fairness(NEXT)


@spec.liveness
def Decides():
    """In the end every resource manager has committed or aborted."""
    return eventually(lambda st: all(st.rms[r] in {RMState.COMMITTED, RMState.ABORTED} for r in RM))
