"""On a terminal of 80 columns, lines break between words; a line with a command or a path stays whole, to be copied."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

import pytest

COLUMNS = 80
KMC = "import sys; from kmc.cli.main import main; sys.argv = ['kmc', *sys.argv[1:]]; main()"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b]*\x1b\\")
COPIED = re.compile(r"\bkmc [a-z]+ |/")


def shown(*words: str) -> list[str]:
    """The lines that a command writes to a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("COLUMNS", None)
        os.environ["TERM"] = "xterm"
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
        os.execv(sys.executable, [sys.executable, "-c", KMC, *words])
    told = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        told += part
    os.waitpid(child, 0)
    # A live line is erased, and another takes its row: two lines for a person.
    return CONTROL.sub("", told.decode().replace("\x1b[2K", "\n")).replace("\r", "").split("\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("check", "kip_996", "smoke", "--quiet"),
        ("check", "kip_996", "smoke", "--engine", "python", "--max-depth", "3"),
        ("check", "die_hard", "aimless"),
        ("specs", "kraft"),
        ("claims", "6"),
    ],
)
def test_no_line_is_broken_within_a_word(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = shown(*words)
    assert len(lines) > 3
    assert [line for line in lines if len(line) >= COLUMNS and not COPIED.search(line)] == []


@pytest.mark.slow
def test_a_command_to_copy_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = shown(
        "check", "kraft", "restarts", "--set", "MaxRestarts=1", "--set", "MaxElections=1", "--max-states", "999999"
    )
    (again,) = [line for line in lines if line.startswith("Reproduce: ")]
    assert again.endswith("--max-states 999999")
    assert len(again) > COLUMNS
