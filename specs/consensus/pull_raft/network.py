"""The network of KRaft.tla's specs: a bag that remembers what was delivered, or the set of messages in flight.

With KeepsDelivered it is KRaft.tla's bag: every message stays, with a count of deliveries, and some are sent only once.
Without, a delivered message is gone, two equal messages in flight are one, and what can change nothing any more may be
dropped. The classes of messages stand in the specs, so each spec says which rule below is for which kind of message.
"""

from kmc.lang import Bool, constant, require

from .types import Server, ServerState

KeepsDelivered = constant(
    "KeepsDelivered",
    Bool,
    "A delivered message is remembered, as in KRaft.tla, which sends some messages once; else it is forgotten",
    True,
)


def send_once(messages, m):
    """_SendOnce(m): disables the action if the message was ever sent."""
    require(m not in messages)
    return messages.add(m)


def send_all_once(messages, msgs):
    """SendMultipleOnce(msgs): disables the action if any of them was ever sent."""
    require(all(m not in messages for m in msgs))
    return messages.add_all(msgs)


def discard(messages, m):
    """Discard(m): the message is delivered. In the bag it stays, with one delivery less."""
    if not KeepsDelivered:
        return messages.discard(m)
    require(messages.count(m) > 0)
    return messages.take(m)


def send_answer(messages, response, once):
    """The second half of Reply(response, request): send the response to a request that is delivered.

    In KRaft.tla a fetch response is never sent twice (`once`), so that empty fetches do not repeat for ever.
    """
    if not KeepsDelivered:
        return messages.send(response)
    require(response not in messages or not once)
    return messages.add(response)


def is_of_older_epoch(to, m):
    """The epoch of the message is older than its receiver's. Epochs never fall, so it stays older."""
    return m.mepoch < to.current_epoch


def vote_answer_is_stale(to, m):
    """A vote answer can change nothing any more, where `to` is its receiver.

    Vote answers are read by candidates, and no server becomes one of an epoch that it is in.
    """
    useless = m.mleader is None and m.merror is None and to.state != ServerState.CANDIDATE
    return m.mepoch < to.current_epoch or (m.mepoch == to.current_epoch and useless)


def fetch_is_stale(to, sender, m):
    """A fetch request can change nothing any more: it only makes an answer, which its sender does not wait for."""
    return m.mepoch < to.current_epoch and sender.pending_fetch != m


def fetch_answer_is_stale(to, m):
    """A fetch response can change nothing any more: its receiver does not wait for it.

    A server may send the same fetch again, but real fetches are numbered: the answer to the first is not one to the
    second.
    """
    return m.correlation != to.pending_fetch


def without_unread(i, me):
    """Server i without what is written before it is read again.

    That is the vote of a server that has not voted, and what only a candidate or a leader counts. A leader that
    restarts has voted, but for itself, and no other server asks for that vote.
    """
    return me.set(
        voted_for=me.voted_for if me.state == ServerState.VOTED and me.voted_for != i else None,
        votes_granted=me.votes_granted if me.state == ServerState.CANDIDATE else set(),
        end_offset=me.end_offset if me.state == ServerState.LEADER else {j: 0 for j in Server},
    )
