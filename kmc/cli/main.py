"""The entry point of the installed program: it hears Ctrl-C from the first moment on, while all else is imported."""

from __future__ import annotations

import sys
from typing import NoReturn

from kmc.errors import ExitStatus

INTERRUPTED = "Interrupted before there was a result."


def main() -> NoReturn:
    """Run the command line of this process and exit; see `kmc.cli.program`."""
    try:
        # Imported here: the commands take half a second.
        from kmc.cli.program import cli
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        sys.exit(ExitStatus.INTERRUPTED)
    cli.main()
