"""DropStale, an abstraction that a model chooses: without what can change nothing any more.

README.md has the argument in full, and `kmc check --verify-abstractions` checks it on whole graphs.
"""

from kmc.spec import spec

from ..consensus.pull_raft.network import (
    KeepsDelivered,
    fetch_answer_is_stale,
    fetch_is_stale,
    is_of_older_epoch,
    vote_answer_is_stale,
    without_unread,
)
from .network import epochs_may_fall
from .types import (
    BeginQuorumRequest,
    EndQuorumRequest,
    FetchRequest,
    FetchResponse,
    RequestVoteResponse,
)


def changes_nothing(to, sender, m):
    """The message can change nothing, now or later, where these are its receiver and its sender.

    A request of an older epoch only makes an answer, which tells of a newer epoch: to a vote request it may matter.
    """
    if isinstance(m, RequestVoteResponse):
        return vote_answer_is_stale(to, m)
    if isinstance(m, FetchResponse):
        return fetch_answer_is_stale(to, m)
    if isinstance(m, FetchRequest):
        return fetch_is_stale(to, sender, m)
    if isinstance(m, BeginQuorumRequest) or isinstance(m, EndQuorumRequest):
        return is_of_older_epoch(to, m)
    return False


@spec.abstraction
def DropStale(st):
    """Without messages that can change nothing any more, and without variables that are set before they are read.

    Epochs never fall, so a message of an old epoch, or an answer that its receiver no longer waits for, does nothing
    whenever it comes. While another disk may be lost epochs may fall, and everything stays. With KeepsDelivered too:
    there a message that was ever sent may disable an action.
    """
    if KeepsDelivered or epochs_may_fall(st):
        return st
    return st.set(
        messages=st.messages.keep(lambda m: not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)),
        servers={i: without_unread(i, me) for i, me in st.servers.items()},
    )
