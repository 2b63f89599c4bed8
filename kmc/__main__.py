"""`python -m kmc` is the program `kmc`."""

from __future__ import annotations

from kmc.cli.main import main

if __name__ == "__main__":
    main()
