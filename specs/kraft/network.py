"""The bag of messages: a function from messages to delivery counts that keeps every message (KRaft.tla, Helpers)."""

from kmc.lang import require

from .types import BeginQuorumRequest, FetchResponse, RequestVoteRequest


def send_no_restriction(messages, m):
    """_SendNoRestriction(m): send even if an identical message was sent before."""
    return messages.add(m)


def send_once(messages, m):
    """_SendOnce(m): disables the action if the message was ever sent."""
    require(m not in messages)
    return messages.add(m)


def send(messages, m):
    """Send(m): vote and begin-quorum requests at most once, others without restriction."""
    if isinstance(m, RequestVoteRequest) or isinstance(m, BeginQuorumRequest):
        return send_once(messages, m)
    return send_no_restriction(messages, m)


def send_multiple_once(messages, msgs):
    """SendMultipleOnce(msgs): disables the action if any of them was ever sent."""
    require(all(m not in messages for m in msgs))
    return messages.add_all(msgs)


def discard(messages, m):
    """Discard(m): one delivery less; the message stays with count 0."""
    require(messages.count(m) > 0)
    return messages.take(m)


def reply(messages, response, request):
    """Reply(response, request): discard the request and send the response.

    A fetch response is never sent twice, so that empty fetches do not repeat for ever.
    """
    require(messages.count(request) > 0)
    require(response not in messages or not isinstance(response, FetchResponse))
    return messages.take(request).add(response)
