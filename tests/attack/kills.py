"""The part `kills`: a run is killed at a random moment, several times, and must end as one that was left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from attack.checks import said
from attack.kmc_runs import INTERRUPTED, Run, ended, resumable, run_here, started
from attack.small_attacked import MODELS, written

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
FIRST = (
    ("--shards", "1", "--threads", "1"),
    ("--shards", "5", "--threads", "2"),
    ("--shards", "3", "--processes", "2"),
    ("--threads", "1"),
)
IN_SHARDS = (("--shards", "2", "--threads", "1"), ("--shards", "7", "--threads", "2"), ("--processes", "2"), ())
IN_MEMORY = (("--threads", "1"), ("--threads", "2"))
COMPARED: tuple[str, ...] = ("result", "generated", "distinct", "depth", "levels", "initial", "left", "cut")
COMPARED += ("generated_by_action", "invariant", "trace_length", "trace", "properties", "unreached_goals")
COMPARED += ("counterexample",)

STOPPED = (-signal.SIGKILL, INTERRUPTED, -signal.SIGINT)
"""How a killed run ends. Python kills itself with SIGINT if KeyboardInterrupt passed through `exec` of a text."""

KILLS_MAX = 4
LONGEST = 90.0
"""Seconds after which a run counts as one that hangs."""


def attack_kills(seed: int, count: Callable[[int], None], kept: Path | None) -> list[str]:
    """Kill one run again and again; what is wrong with its end."""
    chance = Random(seed)
    model, first = chance.choice(MODELS), chance.choice(FIRST)
    history = chance.choice([None, 0])
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as folder:
        alone = _alone(model)
        scene = _Scene(chance, Path(folder), history, in_shards="--shards" in first)
        run = scene.run_to_the_end(model, first)
        count(scene.runs)
    wrong = difference(alone, run)
    story = "; ".join(scene.story)
    return [f"model {model}, history {history}: {wrong}\n    {story}"] if wrong else []


@cache
def _alone(model: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as folder:
        run = run_here("check", str(written(Path(folder) / "raced")), model, "--threads", "1", "--no-run-dir", "--json")
    assert run.result is not None, said(run)
    return run.result


def difference(alone: dict[str, Any], run: Run) -> str | None:
    """Return what a run that was killed says otherwise than one that was left alone."""
    if run.is_broken or run.result is None:
        return said(run)
    for key in COMPARED:
        if alone[key] != run.result.get(key):
            return f"{key}: expected {alone[key]!r}, got {run.result.get(key)!r}"
    return None


class _Scene:
    """One run that is killed, with its folder."""

    def __init__(self, chance: Random, folder: Path, history: int | None, *, in_shards: bool) -> None:
        self.runs = 0
        self.story: list[str] = []
        self._chance = chance
        self._folder = folder
        self._history = history
        self._others = IN_SHARDS if in_shards else IN_MEMORY

    def run_to_the_end(self, model: str, first: tuple[str, ...]) -> Run:
        """Begin the run, kill it up to so many times, each time resume it with other numbers; its last words."""
        spec, runs = written(self._folder / "raced"), self._folder / "runs"
        begin = ("check", str(spec), model, *first, "--run-dir", str(runs), "--save-every", "0", "--json")
        words, kills = begin, self._chance.randint(1, KILLS_MAX)
        while True:
            run = self._once(words, kills > 0)
            kills -= 1
            if run is not None:
                return run
            saved = resumable(runs)
            again = self._chance.choice(self._others)
            words = ("check", "--resume", str(saved[0]), *again, "--save-every", "0", "--json") if saved else begin

    def _once(self, words: tuple[str, ...], kill: bool) -> Run | None:
        """Run once; None if the run was killed and must go on."""
        self.runs += 1
        process = started(*words, folder=self._folder, history=self._history)
        try:
            after = self._chance.uniform(0.5, 6.0) if kill else LONGEST
            process.wait(after)
        except subprocess.TimeoutExpired:
            sent = self._chance.choice(SIGNALS) if kill else signal.SIGKILL
            self.story.append(f"{signal.Signals(sent).name} after {after:.2f} s of kmc {' '.join(words)}")
            process.send_signal(sent)
            run = self._ended(process, words)
            if not kill:
                return Run(words, 255, run.out, f"it took more than {LONGEST} s")
            return None if run.status in STOPPED else run
        run = self._ended(process, words)
        self.story.append(f"status {run.status} of kmc {' '.join(words)}")
        return run

    @staticmethod
    def _ended(process: subprocess.Popen[str], words: tuple[str, ...]) -> Run:
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end_group(process.pid)
        return ended(process, words)


def _end_group(group: int) -> None:
    """Kill what is left of a run, its processes included, which end by themselves a moment later."""
    for _ in range(50):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            return
        time.sleep(0.02)
