"""A request that is refused is answered at once, and read to its end before the connection is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, MutableMapping
from itertools import chain, repeat
from typing import Any

import pytest

from kmc.explorer import guard
from kmc.explorer.guard import BODY_BYTES_MAX, Guard

Message = MutableMapping[str, Any]

SCOPE: Message = {"type": "http", "path": "/", "headers": [(b"host", b"127.0.0.1:80")]}


def parts_of(sizes: Iterable[int]) -> Iterator[Message]:
    """The messages that the parts of a body come in, of which none is said to be the last."""
    return ({"type": "http.request", "body": bytes(size), "more_body": True} for size in sizes)


def events(messages: Iterable[Message]) -> list[str]:
    """What happens, in order; after the messages nothing comes any more."""
    told: list[str] = []
    left = iter(messages)

    async def receive() -> Message:
        message = next(left, None)
        if message is None:
            await asyncio.sleep(60)
            raise AssertionError("it was waited for too long")
        told.append("receive")
        return message

    async def send(message: Message) -> None:
        more = ", more to come" if message.get("more_body") else ""
        told.append(f"send {message.get('status', len(message.get('body', b'')) > 0)}{more}")

    async def application(*_: object) -> None:
        raise AssertionError("it was refused")

    asyncio.run(Guard(application, "token", 80)(SCOPE, receive, send))
    return told


ANSWER = ["send 404", "send True, more to come"]
END = "send False"


def test_the_answer_does_not_wait_for_the_body_and_its_end_does() -> None:
    last = {"type": "http.request", "body": b"{}", "more_body": False}
    assert events(chain(parts_of([2, 3]), [last])) == [*ANSWER, "receive", "receive", "receive", END]


def test_a_client_that_has_gone_sends_no_more() -> None:
    assert events([{"type": "http.disconnect"}]) == [*ANSWER, "receive", END]


def test_a_body_without_end_is_left() -> None:
    told = events(parts_of(repeat(BODY_BYTES_MAX // 4)))
    assert told == [*ANSWER, *["receive"] * 5, END]


def test_a_client_that_sends_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_PATIENCE_SECONDS", 0.0)
    assert events(parts_of([1])) in ([*ANSWER, "receive", END], [*ANSWER, END])
