"""What tests of the explorer share: sessions of small models, and a server in a thread of this process."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from kmc.explorer.commands import RunUntil, WalkRandomly, command_of
from kmc.explorer.ground import Ground
from kmc.explorer.python_specs.opening import ground_of
from kmc.explorer.saving import SavingPlace
from kmc.explorer.server import ExplorerServer
from kmc.explorer.session import ExplorerSession, InitialStates, RunningSearch
from kmc.frontend.model import Model


def session_of(model: Model, ground: Ground | None = None) -> ExplorerSession:
    """A session that has begun in the first initial state, unless `ground` opens elsewhere."""
    return session_on(ground or ground_of(model))


def session_on(ground: Ground) -> ExplorerSession:
    """A session that has begun in the first initial state, unless `ground` opens elsewhere."""
    session = ExplorerSession(ground, InitialStates(ground.explored))
    if session.tree.at is None:
        session.begin_at_once()
    return session


def do(session: ExplorerSession, what: str, /, **given: Any) -> None:
    """Carry out a command; a search runs to its end."""
    command = command_of({"do": what, **given})
    if isinstance(command, WalkRandomly | RunUntil):
        search = session.start_search(command)
        session.run_search(search, command, session.tree.visited[search.start].state)
    else:
        session.carry_out(command)


def long_command(what: str, /, **given: Any) -> WalkRandomly | RunUntil:
    """A command that starts a search."""
    command = command_of({"do": what, **given})
    assert isinstance(command, WalkRandomly | RunUntil)
    return command


def searched(session: ExplorerSession, **given: Any) -> RunningSearch:
    """The search of a `run until`, ended."""
    do(session, "until", **{"what": "property", "name": "", **given})
    assert session.search is not None
    return session.search


HANGS_SECONDS = 600
"""No step of an explorer takes so long on any machine: it hangs."""


@contextmanager
def serving(ground: Ground, folder: Path) -> Iterator[str]:
    """The address of an explorer that serves in another thread."""
    server = ExplorerServer(ground, SavingPlace(folder, (ground.model.spec.name,)))
    is_ready = Event()
    thread = Thread(target=server.run, args=(lambda address: is_ready.set(),))
    thread.start()
    try:
        assert is_ready.wait(HANGS_SECONDS)
        yield server.address
    finally:
        server.stop()
        thread.join(HANGS_SECONDS)
        assert not thread.is_alive()


class HttpAnswer:
    """An answer: `status`, `headers`, and `text`."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def json(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)


def asked(
    address: str,
    path: str = "",
    body: object = None,
    *,
    method: str | None = None,
    headers: dict[str, str] | None = None,
) -> HttpAnswer:
    """What the server answers to a request below its address, or at an absolute path; a body makes it a POST."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=HANGS_SECONDS)
    try:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Host": place.netloc} | (headers or {})
        chosen = method or ("GET" if data is None else "POST")
        connection.putrequest(chosen, path if path.startswith("/") else place.path + path, skip_host=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        if data is not None and "Content-Length" not in sent and "Transfer-Encoding" not in sent:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        return HttpAnswer(connection.getresponse())
    finally:
        connection.close()
