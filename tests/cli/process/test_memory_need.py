"""What a search needs that its limit of memory stopped: the estimate, its words, and a run that goes on with it."""

from __future__ import annotations

import io
import json
import math
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.commands.cli_runner import kmc
from support.faults.full_memory import LIMIT, use_up_memory
from support.specs.words import STATES, write_words

from kmc.checking.memory_need import MemoryNeed, memory_need, memory_warning, need_lines, table_bytes
from kmc.cli.text.progress import Progress, StatusLine
from kmc.cli.text.progress_text import Scale
from kmc.memory_limit import limit_for
from kmc.result import Bound, Counters, Result, Verdict

MEGABYTE = 1024**2
GIGABYTE = 1024**3
BELL = tuple(round(1e6 * math.exp(-(((level - 30) / 9) ** 2))) for level in range(6, 32))
STOPPED = Result(
    verdict=Verdict.BOUND_REACHED,
    counters=Counters(sum(BELL) * 3, sum(BELL), 1000, len(BELL), 10.0, 300 * MEGABYTE),
    initial=1,
    levels=BELL,
    generated_by_action={},
    properties=(),
    violation=None,
    bound=Bound.MEMORY,
    unreached=(),
    never_fired=(),
    collision_bound=0.0,
    cpu_seconds=10.0,
    peak_memory_bytes=300 * MEGABYTE,
    engine="native",
    fingerprint_bits=64,
    table_bytes=100 * MEGABYTE,
    rows_bytes=30 * sum(BELL),
)


def need_of(expected: int | None = None, has_files: bool = True, has_graph: bool = False, **changes: Any) -> MemoryNeed:
    """What the stopped search needs, changed."""
    stopped = replace(STOPPED, **changes)
    found = memory_need(stopped, 300 * MEGABYTE, expected, None, threads=2, has_files=has_files, has_graph=has_graph)
    assert found is not None
    return found


def lines_of(need: MemoryNeed, machine: int = 64 * GIGABYTE) -> list[str]:
    """The advice."""
    return list(need_lines(need, BELL, machine, ("check", "my_spec", "large")))


def test_expected_states_take_a_table_and_what_the_process_takes() -> None:
    need = need_of(100_000_000)
    # The table grows by a quarter whenever it is five eighths full; 200 MB are taken besides, and 4 MB by each thread.
    slots = 1 << 20
    while 5 / 8 * slots < 101_000_000:
        slots += slots // 4
    assert need.bytes == pytest.approx(limit_for(slots * 8 + 208 * MEGABYTE, 2), abs=4096)
    assert lines_of(need) == [
        "Needed: about 1.6 GB of memory, for the 100.0 M states that the manifest expects at 15 bytes a state."
    ]
    assert need.size == "2G"


def test_wide_fingerprints_and_what_the_process_takes_are_counted() -> None:
    large = replace(STOPPED.counters, memory_bytes=900 * MEGABYTE)
    narrow, wide = need_of(10**8), need_of(10**8, fingerprint_bits=128)
    assert wide.bytes - narrow.bytes == pytest.approx(table_bytes(101_000_000, 8) * 32 / 31, abs=4)
    assert need_of(10**8, counters=large).bytes - narrow.bytes == pytest.approx(600 * MEGABYTE * 32 / 31, abs=4)


def test_the_behavior_graph_of_temporal_properties_is_counted() -> None:
    # Three steps a state.
    assert need_of(10**8, has_graph=True).bytes_per_state == 15 + 64 + 3 * 36


def test_rows_need_memory_where_there_are_no_files() -> None:
    more = need_of(10**8, has_files=False).bytes - need_of(10**8).bytes
    assert more == pytest.approx(2 * max(BELL) * 30 * 32 / 31, abs=4)


def test_the_levels_stand_for_an_expected_count() -> None:
    need = need_of()
    assert need.states is None
    assert need.guessed is not None
    assert need.guessed.high is not None
    assert need.bytes == need_of(need.guessed.high).bytes
    (line,) = lines_of(need)
    assert line.endswith("11.0 to 25.0 M states at 15 bytes a state: a guess from the size of its levels.")


def test_levels_without_an_end_give_twice_the_memory() -> None:
    levels = tuple(2**level for level in range(18))
    need = need_of(levels=levels, counters=replace(STOPPED.counters, distinct=sum(levels)))
    assert need.bytes == 600 * MEGABYTE
    assert list(need_lines(need, levels, GIGABYTE, ())) == [
        "Needed: unknown: levels growing by 2.0, with no end in sight. Twice the memory: 600M hold about 22.9 M states "
        "at 13 bytes a state."
    ]
    few = need_of(levels=(1, 2), counters=replace(STOPPED.counters, distinct=3))
    assert lines_of(few)[0].startswith("Needed: unknown: there are too few levels to tell. Twice the memory: 600M")


def test_states_of_the_interpreter_are_measured() -> None:
    counters = replace(STOPPED.counters, distinct=20_000, memory_bytes=110 * MEGABYTE + 20_000 * 3_000)
    assert need_of(10**6, fingerprint_bits=0, counters=counters).bytes_per_state == 3_000
    few = replace(counters, distinct=1)
    assert need_of(10**6, fingerprint_bits=0, counters=few).bytes_per_state == 4_000


def test_a_machine_with_less_is_told_of_files() -> None:
    told = lines_of(need_of(10**9), 8 * GIGABYTE)[1]
    assert told == (
        "This machine has 8.0 GB of memory for it. Anew, with the states on disk: kmc check my_spec large --shards 16"
    )


@pytest.mark.parametrize("bound", [Bound.STATES, Bound.TIME, Bound.DEPTH, None])
def test_another_end_needs_nothing(bound: Bound | None) -> None:
    assert memory_need(replace(STOPPED, bound=bound), GIGABYTE, 10**8, None, threads=2, has_files=True) is None


def test_too_little_memory_for_the_expected_states_is_warned_of() -> None:
    assert memory_warning(499_181_537, 300 * MEGABYTE, 64) == (
        "Warning: The 499.2 M states that the manifest expects take about 6.6 GB of memory, more than the 300 MB there "
        "are: the search will stop before its end. --shards 16 keeps its states on disk."
    )
    for expected, limit, bits in ((499_181_537, 10 * GIGABYTE, 64), (None, 1, 64), (10**9, None, 64), (10**9, 1, 0)):
        assert memory_warning(expected, limit, bits) is None


@pytest.mark.parametrize(("rows_bytes", "times"), [(1, 1), (0, 0)])
def test_the_warning_comes_once_and_not_to_the_interpreter(rows_bytes: int, times: int) -> None:
    now, stream = [0.0], io.StringIO()
    with StatusLine(Console(file=stream, width=80, soft_wrap=True), seconds=lambda: now[0]) as line:
        progress = Progress(line, lambda: datetime(2026, 11, 20), Scale(expected=10**9, memory_bytes=GIGABYTE))
        for _ in range(3):
            now[0] += 20
            progress(replace(STOPPED.counters, rows_bytes=rows_bytes))
    assert stream.getvalue().count("Warning: The 1.0 G states") == times


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "words"), [("150M", ()), ("170M", ("--fingerprint-bits", "128"))])
def test_a_run_that_memory_stopped_goes_on_with_what_it_said(
    limit: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    # In processes of their own: the memory of this one counts too, and depends on the tests before.
    def checked(*words: str) -> tuple[int, dict[str, Any]]:
        command = [sys.executable, "-m", "kmc", "check", *words, "--json", "--quiet"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout)

    write_words(tmp_path)
    # The first one compiles, which takes memory too. The table grows after 163,840 states.
    checked("words", "whole", "--max-states", "200000", "--memory", "1G", *words)
    status, stopped = checked("words", "whole", "--memory", limit, "--threads", "2", *words)
    assert (status, stopped["bound"]) == (20, "memory")
    status, found = checked(*shlex.split(stopped["resume"])[2:])
    assert (status, found["bound"], found["distinct"]) == (20, "depth", STATES)
    # It holds, and is not far too much.
    given = int(stopped["resume"].partition("--memory ")[2].partition("M")[0]) * MEGABYTE
    assert 0.6 * given < found["peak_memory_bytes"] <= given


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_search_that_cannot_go_on_says_how_to_begin_again(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_up_memory(monkeypatch)
    words = ("--no-run-dir", "--engine", engine, "--memory", LIMIT)
    ran = kmc("check", "die_hard", *words)
    assert f"Begin again: kmc check die_hard --no-run-dir --engine {engine} --memory" in ran.stdout
    found = json.loads(kmc("check", "die_hard", "--json", *words).stdout)
    assert found["memory_needed_bytes"] > 110 * MEGABYTE
