"""The context of a measurement: the machine, its load, and the commit of kmc."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

import kmc

_PACKAGES = ("llvmlite", "numpy")


def machine() -> dict[str, Any]:
    """CPU model, logical cores this process may use, memory in bytes, system and versions."""
    return {
        "cpu": _cpu_model(),
        "cores": cores(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "kmc": kmc.__version__,
    }


def cores() -> int:
    """The logical cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float:
    """The load: processes running or ready to run, on average over the last minute."""
    return round(os.getloadavg()[0], 2)


def commit() -> dict[str, Any] | None:
    """The commit of this checkout of kmc, and whether its sources differ from it; None outside a checkout."""
    folder = Path(kmc.__file__).resolve().parents[1]
    if not (folder / ".git").exists():
        return None
    head = _git(folder, "rev-parse", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", "kmc", "specs")
    return None if head is None else {"id": head, "changed": bool(changed)}


def _git(folder: Path, *words: str) -> str | None:
    try:
        ran = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
