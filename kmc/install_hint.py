"""The command that installs the packages of an extra, for the help of an error."""

from __future__ import annotations

import shlex
import sys

DISTRIBUTION = "kraft-model-checker"
"""The name under which pip knows kmc: the package `kmc` of the public index is another program."""


def install_command(extra: str) -> str:
    """The command that adds an extra's packages to the Python that runs kmc, whatever environment is active."""
    return f"{shlex.quote(sys.executable)} -m pip install '{DISTRIBUTION}[{extra}]'"
