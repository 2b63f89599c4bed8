"""kmc as a user has it: a wheel of this checkout, installed in an environment that knows nothing of the checkout."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands.installed_kmc import InstalledKmc

ROOT = Path(__file__).parents[2]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Every test of this folder needs the wheel; no file can forget to say so."""
    item.add_marker(pytest.mark.wheel)


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of the tests share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def installed(session_folder: Path) -> InstalledKmc:
    """The installed wheel; the first process that asks makes it, and others wait."""
    kmc = InstalledKmc(session_folder)
    done = session_folder / "installed"
    with (session_folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _install(kmc)
            done.touch()
    return kmc


def _install(kmc: InstalledKmc) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # By its path: a package of the name `kmc` that an index has is another one.
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(kmc.wheels), str(ROOT)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(kmc.environment)], check=True)
    wanted = [f"{kmc.wheel}[explore,storage,tables]", "mypy", "pytest"]
    pip[0] = str(kmc.environment / "bin" / "python")
    subprocess.run([*pip, "install", *wanted], check=True, cwd=kmc.folder)
    (kmc.folder / "home").mkdir()
