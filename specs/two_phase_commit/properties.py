"""What two-phase commit promises, what must be possible, and its symmetry."""

from kmc.spec import spec

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
