"""The facts that must be the same in the driver and in every process that runs its tasks."""

from __future__ import annotations

import platform
import socket
from dataclasses import asdict, dataclass

from kmc import __version__
from kmc.engine.loops.compiled_loops import engine_digest
from kmc.errors import SystemFault

_TITLES = {"kmc": "version of kmc", "python": "Python", "engine": "build of kmc's engine"}


@dataclass(frozen=True, slots=True)
class Facts:
    """The version of kmc, that of Python, and a digest of the sources of the engine."""

    kmc: str
    python: str
    engine: str

    @classmethod
    def here(cls) -> Facts:
        """Those of this process."""
        return cls(__version__, platform.python_version(), engine_digest())

    def require_here(self) -> None:
        """Raise SystemFault KMC561, which names this host, unless they are those of this process."""
        here, wanted = asdict(self.here()), asdict(self)
        for name, title in _TITLES.items():
            if here[name] != wanted[name]:
                raise SystemFault(
                    "KMC561",
                    f"an executor on {socket.gethostname()} has another {title}: "
                    f"{here[name]}, and the driver has {wanted[name]}",
                    help="install the same kmc and Python on all hosts, and name it by PYSPARK_PYTHON",
                )
