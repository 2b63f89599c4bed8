"""An environment with an installed wheel of kmc, and commands in it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path

_SECONDS_MAX = 300
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\S+")


@dataclass(frozen=True)
class InstalledKmc:
    """An environment in a folder, with a home and a cache of its own."""

    folder: Path

    @property
    def wheels(self) -> Path:
        """The folder of the wheel."""
        return self.folder / "wheels"

    @property
    def wheel(self) -> Path:
        """The wheel."""
        (wheel,) = self.wheels.glob("*.whl")
        return wheel

    @property
    def environment(self) -> Path:
        """The environment that the wheel is installed in."""
        return self.folder / "environment"

    def variables(self) -> dict[str, str]:
        """What a command finds in its environment: nothing of the checkout, and no browser that would open."""
        return {
            "PATH": f"{self.environment / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "VIRTUAL_ENV": str(self.environment),
            "WHEELS": str(self.wheels),
            "HOME": str(self.folder / "home"),
            "KMC_CACHE_DIR": str(self.folder / "cache"),
            "BROWSER": "true",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }

    def run(self, command: str, folder: Path, typed: str = "") -> tuple[int, str]:
        """The exit status of a command of a shell, and all that it printed."""
        ran = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder, env=self.variables(), input=typed, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_SECONDS_MAX,
        )  # fmt: skip
        return ran.returncode, ran.stdout

    def run_until(self, command: str, folder: Path, awaited: str) -> tuple[int, str]:
        """The same of a command that serves a page: it is asked for that, and ended by Ctrl-C."""
        started = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=folder, env=self.variables(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        assert started.stdout is not None
        printed = ""
        for line in started.stdout:
            printed += line
            if awaited in line:
                break
        address = _ADDRESS.search(printed)
        if address is not None:
            with urllib.request.urlopen(address[0], timeout=_SECONDS_MAX) as page:
                printed += f"{page.status} {len(page.read())} bytes\n"
        os.killpg(started.pid, signal.SIGINT)
        rest, _ = started.communicate(timeout=_SECONDS_MAX)
        return started.returncode, printed + rest
