"""The folder of what kmc makes once and uses again: compiled code, translated modules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return KMC_CACHE_DIR, else `kmc` under XDG_CACHE_HOME, else ~/.cache/kmc; None without a home directory."""
    if chosen := environment.get("KMC_CACHE_DIR"):
        return Path(chosen)
    shared = environment.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    if os.path.isabs(shared):
        return Path(shared) / "kmc"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "kmc" if os.path.isabs(home) else None
