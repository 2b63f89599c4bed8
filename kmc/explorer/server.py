"""Serving the explorer on 127.0.0.1, on a port of the system's choice, until Ctrl-C.

Starlette and uvicorn, because they are small, pure Python and well kept, and leave nothing of HTTP to be written here.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from kmc.errors import CommandLineError
from kmc.explorer.application import explorer_application
from kmc.explorer.ground import Ground
from kmc.explorer.guard import Guard
from kmc.explorer.saving import SavingPlace

HOST = "127.0.0.1"


class ExplorerServer:
    """One explorer with its address, which holds the token that every request needs."""

    def __init__(self, ground: Ground, place: SavingPlace, port: int = 0) -> None:
        """Takes the port (0: any that is free); CommandLineError KMC674 where it cannot be had."""
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{self.port}/{token}/"
        application, self._sessions = explorer_application(ground, place)
        config = uvicorn.Config(
            Guard(application, token, self.port),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self, ready: Callable[[str], None]) -> None:
        """Serve until Ctrl-C or `stop`; `ready` is called with the address once the port is open."""
        ready(self.address)
        try:
            # uvicorn raises the signal that ended it once more when it has closed its connections.
            with suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            self._sessions.end()
            self._socket.close()

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(128)
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise CommandLineError(
            "KMC674", f"port {port} cannot be used: {reason}", help="leave out --port, and a free one is taken"
        ) from None
    return made
