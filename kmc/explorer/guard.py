"""Access to the explorer: for pages that it has served, and no others.

Every request must carry the token as the first part of its path, must name this server as its host (else a page
elsewhere could point its own name at 127.0.0.1), and must come from its own origin if the browser sends one. There is
no cross-origin access, nothing is cached, and a body has a limit.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES_MAX = 64 * 1024
_PATIENCE_SECONDS = 1.0
"""The seconds for which the body of a refused request is read."""

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)  # fmt: skip


class Guard:
    """Passes to `application` the requests that have the `token` and name the server at `port`."""

    def __init__(self, application: Application, token: str, port: int) -> None:
        self._application = application
        self._token = token.encode()
        self._hosts = frozenset((f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()))
        self._origins = frozenset(b"http://" + host for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(receive, send, *refusal)
            return
        rest = scope["path"].split("/", 2)[2]
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self._application(inner, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        hosts = [value.lower() for name, value in headers if name == b"host"]
        origins = [value.lower() for name, value in headers if name == b"origin"]
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        segments = scope["path"].split("/", 2)
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "This server answers to 127.0.0.1 only."
        if any(origin not in self._origins for origin in origins) or any(
            site not in (b"same-origin", b"none") for site in sites
        ):
            return 403, "Another page asked."
        if len(segments) < 3 or not hmac.compare_digest(segments[1].encode(), self._token):
            return 404, "Not found. Open the address that kmc explore printed."
        if any(name == b"content-length" and _is_too_much(value) for name, value in headers):
            return 413, f"At most {BODY_BYTES_MAX} bytes."
        return None


def _is_too_much(length: bytes) -> bool:
    return not length.isdigit() or int(length) > BODY_BYTES_MAX


async def _refuse(receive: Receive, send: Send, status: int, text: str) -> None:
    """Answer, then read the rest of the request: closed before, a connection is reset and the answer lost."""
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await _read_to_the_end(receive)
    await send({"type": "http.response.body", "body": b""})


async def _read_to_the_end(receive: Receive) -> None:
    """Read the body of a request to its end, or until it is too long or the client has gone."""
    length = 0
    while length <= BODY_BYTES_MAX:
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body", False):
            return


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *_HEADERS]}
        await send(message)

    return sent
