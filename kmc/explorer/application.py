"""The explorer's pages and its JSON, over HTTP. The rules of the walk are in `session`, those of access in `guard`.

| request | answer |
|---|---|
| GET /, /assets/NAME | the page, its scripts and styles |
| POST /api/sessions | a new session: `{"session": id, "frame": ...}` |
| GET /api/sessions/ID | `{"frame": ..., "view": ...}`: what never changes, and all that the page shows |
| POST /api/sessions/ID | carries out a command (`kmc.explorer.commands`); `{"view": ...}` |
| GET /api/sessions/ID/initial?from=N | initial states from place N on |
| GET /api/sessions/ID/disabled | the instances of actions that are not enabled, with what stopped them |
| GET /api/sessions/ID/search | how far the search is |
| POST /api/sessions/ID/cancel | ends the search |
| POST /api/sessions/ID/save | writes the path as a trace; the file and the commands that go on from it |
| GET /api/sessions/ID/trace.itf.json | the path as a trace |

An error is `{"error": {"code", "message", "help", "notes", "place", "source"}}`, with status 400 for a wrong request,
404 for an unknown address, 413 for a body that is too large, 422 if the spec fails, 500 for a mistake of kmc.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from threading import Lock, Thread
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kmc.errors import CommandLineError, KmcError, SystemFault
from kmc.explorer.commands import RunUntil, WalkRandomly, command_of, refused
from kmc.explorer.ground import Ground
from kmc.explorer.guard import BODY_BYTES_MAX
from kmc.explorer.page_files import asset, page
from kmc.explorer.saving import SavingPlace, commands_from, save_walk, walked_trace
from kmc.explorer.session import ExplorerSession, InitialStates
from kmc.explorer.shown import disabled_data, error_data, frame_of, initial_data, search_data, view_of
from kmc.trace.itf import itf_text

SESSIONS_MAX = 32
"""The most sessions that are kept: a new one ends the one that was used least recently."""

Json = dict[str, Any]
Answer = Callable[[ExplorerSession, Request, Any], Json | Response]


class Sessions:
    """The sessions of one explorer, by their random names."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._initial = InitialStates(ground.explored)
        self._sessions: OrderedDict[str, ExplorerSession] = OrderedDict()
        self._lock = Lock()

    def begin(self) -> tuple[str, ExplorerSession]:
        """A new session, in the only initial state if there is but one and no trace was opened."""
        session = ExplorerSession(self._ground, self._initial)
        if session.tree.at is None and len(self._initial.first(2)) == 1:
            session.begin_at_once()
        name = secrets.token_urlsafe(9)
        with self._lock:
            self._sessions[name] = session
            while len(self._sessions) > SESSIONS_MAX:
                _, oldest = self._sessions.popitem(last=False)
                oldest.cancel()
        return name, session

    def find(self, name: str) -> ExplorerSession | None:
        """The session with this name."""
        with self._lock:
            if name in self._sessions:
                self._sessions.move_to_end(name)
            return self._sessions.get(name)

    def end(self) -> None:
        """Cancel all searches: the server ends."""
        with self._lock:
            for session in self._sessions.values():
                session.cancel()


def explorer_application(ground: Ground, place: SavingPlace) -> tuple[Starlette, Sessions]:
    """The application, to be put behind a `Guard`, and its sessions."""
    sessions = Sessions(ground)
    of_session = "/api/sessions/{session}"
    routes = [
        Route("/", _page),
        Route("/assets/{name}", _asset),
        Route("/api/sessions", _answering(partial(_begin, sessions)), methods=["POST"]),
        Route(of_session, _in_session(sessions, _look), methods=["GET"]),
        Route(of_session, _in_session(sessions, _command), methods=["POST"]),
        Route(f"{of_session}/initial", _in_session(sessions, _initial), methods=["GET"]),
        Route(f"{of_session}/disabled", _in_session(sessions, _disabled), methods=["GET"]),
        Route(f"{of_session}/search", _in_session(sessions, _search, waits=False), methods=["GET"]),
        Route(f"{of_session}/cancel", _in_session(sessions, _cancel, waits=False), methods=["POST"]),
        Route(f"{of_session}/save", _in_session(sessions, partial(_save, place)), methods=["POST"]),
        Route(f"{of_session}/trace.itf.json", _in_session(sessions, _download), methods=["GET"]),
    ]
    return Starlette(routes=routes), sessions


def _page(request: Request) -> Response:
    return Response(page(), media_type="text/html")


def _asset(request: Request) -> Response:
    known = asset(request.path_params["name"])
    if known is None:
        return _missing("there is no such file")
    text, media_type = known
    return Response(text, media_type=media_type)


def _missing(message: str) -> JSONResponse:
    return JSONResponse({"error": _remark(message, "load the page again")}, 404)


def _remark(message: str, help: str) -> Json:
    """An error that has no code."""
    return {"code": "", "message": message, "help": help, "notes": [], "place": "", "source": None}


def _answering(work: Callable[[Request, Any], Json | Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads JSON, works in a thread, and answers an error with its text for the page."""

    async def endpoint(request: Request) -> Response:
        try:
            body = await _body_of(request)
            answer = await run_in_threadpool(work, request, body)
        except _TooLarge:
            return JSONResponse({"error": _remark(f"a command has at most {BODY_BYTES_MAX} bytes", "shorten it")}, 413)
        except KmcError as error:
            return JSONResponse({"error": error_data(error)}, _status_of(error))
        except Exception as error:  # whatever the error, the person sees it, and can continue
            message = f"a mistake of kmc: {type(error).__name__}: {error}"
            return JSONResponse({"error": _remark(message, "undo, or load the page again")}, 500)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    return endpoint


class _TooLarge(Exception):
    """A body that is larger than any command."""


def _status_of(error: KmcError) -> int:
    match error:
        case CommandLineError():
            return 400
        case SystemFault():
            return 500
        case _:
            return 422


async def _body_of(request: Request) -> Any:
    if request.method != "POST":
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise _TooLarge
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise refused("this is not JSON", "send a command as an object of JSON") from None


def _in_session(sessions: Sessions, answer: Answer, *, waits: bool = True) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint of one session; with `waits`, one request of a session is answered after another."""

    def work(request: Request, body: Any) -> Json | Response:
        session = sessions.find(request.path_params["session"])
        if session is None:
            return _missing("this session has ended")
        if not waits:
            return answer(session, request, body)
        with session.lock:
            return answer(session, request, body)

    return _answering(work)


def _begin(sessions: Sessions, request: Request, body: Any) -> Json:
    name, session = sessions.begin()
    return {"session": name, "frame": frame_of(session)}


def _look(session: ExplorerSession, request: Request, body: Any) -> Json:
    return {"frame": frame_of(session), "view": view_of(session)}


def _command(session: ExplorerSession, request: Request, body: Any) -> Json:
    match command_of(body):
        case (WalkRandomly() | RunUntil()) as command:
            search = session.start_search(command)
            start = session.tree.visited[search.start].state
            Thread(target=session.run_search, args=(search, command, start), daemon=True).start()
        case command:
            session.carry_out(command)
    return {"view": view_of(session)}


def _initial(session: ExplorerSession, request: Request, body: Any) -> Json:
    given = request.query_params.get("from", "0")
    if not given.isascii() or not given.isdigit() or len(given) > 6:
        raise refused("'from' is not a number", "leave it out to begin at the first")
    return initial_data(session, int(given))


def _disabled(session: ExplorerSession, request: Request, body: Any) -> Json:
    return disabled_data(session)


def _search(session: ExplorerSession, request: Request, body: Any) -> Json:
    return {"search": None if session.search is None else search_data(session.search)}


def _cancel(session: ExplorerSession, request: Request, body: Any) -> Json:
    session.cancel()
    return _search(session, request, body)


def _save(place: SavingPlace, session: ExplorerSession, request: Request, body: Any) -> Json:
    path = save_walk(session, place, datetime.now())
    return {
        "file": str(path),
        "commands": commands_from(path, len(session.tree.trace()), place, session.watching.texts),
    }


def _download(session: ExplorerSession, request: Request, body: Any) -> Response:
    name = f"{session.ground.model.spec.name}.itf.json"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(itf_text(walked_trace(session)), media_type="application/json", headers=headers)
