"""A program named `java` that prints what TLC would."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

_JAVA = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
test -f kmc_bench.cfg && test -f %s.tla || exit 9
cat <<'END'
TLC2 Version 2.20 of Day Month 20?? (rev: 1234567)
Progress(7) at 2026-01-01 00:00:00: 400 states generated (400 s/min), 100 distinct states found, 7 states left on queue.
%s
END
"""


def fake_java(folder: Path, monkeypatch: pytest.MonkeyPatch, output: str, module: str) -> list[str]:
    """Put a `java` first in the path that prints a text where the module and a model are; return the words for it.

    It keeps the words of each call in `bin/calls`.
    """
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    java = bin_folder / "java"
    java.write_text(_JAVA % (module, output))
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    (folder / "tla2tools.jar").touch()
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    return ["--tlc", str(folder / "tla2tools.jar")]
