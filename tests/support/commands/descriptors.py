"""What this process has open."""

from __future__ import annotations

import os
from pathlib import Path


def opened_in(folder: Path) -> set[str]:
    """The descriptors that are open on a folder or below it, with their paths.

    Of all descriptors a test can say nothing: a collection of garbage may close those of other tests at any time.
    """
    links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    opened = {f"{Path(link).name} {os.readlink(link)}" for link in links if os.path.lexists(link)}
    return {name for name in opened if name.partition(" ")[2].startswith(str(folder))}
