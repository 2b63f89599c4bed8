"""A limit of memory: one that is too low is refused, and others hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.words import write_words

from kmc import memory_limit
from kmc.errors import CommandLineError
from kmc.memory_limit import limit_for, refuse_low_limit, size_word, usable_bytes
from kmc.process import memory_bytes, peak_memory_bytes

MEGABYTE = 1024**2


@pytest.mark.parametrize("limit", [150 * MEGABYTE, 1 << 30, 1 << 40])
@pytest.mark.parametrize("threads", [1, 64])
def test_the_limit_for_what_is_usable_is_the_limit(limit: int, threads: int) -> None:
    assert usable_bytes(1, threads) == 0
    if usable_bytes(limit, threads):
        assert 0 <= limit - limit_for(usable_bytes(limit, threads), threads) <= 2


def test_a_limit_below_what_the_search_begins_with_is_refused_with_one_that_suffices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The memory of this process, which may grow by a page any time.
    taken = memory_bytes()
    monkeypatch.setattr(memory_limit, "memory_bytes", lambda: taken)
    with pytest.raises(CommandLineError, match="a limit of 10 MB of memory is too low: this search begins with") as low:
        refuse_low_limit(10 * MEGABYTE, 50 * MEGABYTE)
    assert low.value.code == "KMC636"
    assert low.value.help is not None
    (word,) = re.findall(r"give --memory (\S+) or more", low.value.help)
    enough = int(float(word[:-1]) * {"M": MEGABYTE, "G": 1024 * MEGABYTE}[word[-1]])
    assert enough > taken + 50 * MEGABYTE
    refuse_low_limit(enough, 50 * MEGABYTE)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_check_with_less_than_it_begins_with_is_refused(engine: str, tmp_path: Path) -> None:
    ran = kmc("check", "die_hard", "--memory", "10M", "--engine", engine, "--run-dir", str(tmp_path / "runs"))
    assert (ran.exit_code, "error[KMC636]: a limit of 10 MB of memory" in ran.stderr) == (2, True)
    # Nothing can go on, so nothing is kept.
    assert [found for found in (tmp_path / "runs").rglob("*") if found.name != "model.cfg" and found.is_file()] == []


@pytest.mark.parametrize(
    ("size", "word"),
    [(1, "50M"), (51 * MEGABYTE, "100M"), (951 * MEGABYTE, "1G"), (1024 * MEGABYTE + 1, "1.5G"), (10 << 30, "10G")],
)
def test_sizes_are_rounded_up(size: int, word: str) -> None:
    assert size_word(size) == word


def checked(folder: Path, *words: str) -> tuple[int, str, str]:
    """The exit status of a check in a process of its own, and what it printed on stdout and stderr."""
    command = [sys.executable, "-m", "kmc", "check", *words, "--threads", "2"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_the_least_limit_works_and_holds(tmp_path: Path) -> None:
    write_words(tmp_path)
    whole = ("words", "whole")
    # What is compiled then is in the cache: the table grows after 163,840 states.
    checked(tmp_path, *whole, "--max-states", "200000", "--memory", "1G")
    status, _, stderr = checked(tmp_path, *whole, "--memory", "1M")
    (least,) = re.findall(r"give --memory (\d+)M or more", stderr)
    assert status == 2
    status, stdout, _ = checked(tmp_path, *whole, "--memory", f"{least}M", "--json")
    found = json.loads(stdout)
    assert (status, found["bound"]) == (20, "memory")
    assert found["distinct"] > 100_000
    assert found["peak_memory_bytes"] <= int(least) * MEGABYTE


@pytest.mark.slow
def test_the_peak_of_memory_is_that_of_this_process_alone() -> None:
    command = [sys.executable, "-c", "from kmc.process import peak_memory_bytes as peak; print(peak())"]
    ballast = bytearray(400 * MEGABYTE)
    ballast[::4096] = b"x" * len(ballast[::4096])
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert peak < len(ballast) < peak_memory_bytes()
