"""`python -m attack`: look for defects for so many minutes, with seeds that are printed and can be repeated."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path
from random import SystemRandom

import click

from attack.damage import attack_damage
from attack.inputs import attack_inputs
from attack.kills import attack_kills
from attack.kmc_runs import INTERRUPTED
from attack.known_cases import KNOWN
from attack.modules_part import attack_modules
from attack.specs_part import attack_known, attack_specs

Part = Callable[[int, Callable[[int], None], Path | None], list[str]]

PARTS: dict[str, tuple[Part, int]] = {
    "known": (attack_known, 1),
    "specs": (attack_specs, 12),
    "modules": (attack_modules, 6),
    "kills": (attack_kills, 3),
    "damage": (attack_damage, 2),
    "inputs": (attack_inputs, 3),
}
"""Each part with its share of the time; `known` comes first, and each of its cases once."""

SEEDS = 1 << 30
FAILURES_SHOWN = 4
TOLD_SECONDS = 30


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--minutes", type=float, default=60.0, show_default=True, help="How long to attack.")
@click.option("--seed", type=int, help="The seed of the first attack; the next ones follow. Default: a random one.")
@click.option("--only", default=",".join(PARTS), show_default=True, help="Parts, with commas between them.")
@click.option("--count", type=int, help="End after so many attacks of each part, too.")
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes, with seeds of their own."
)
@click.option("--keep", type=click.Path(path_type=Path), default=Path("build/attack"), show_default=True)
def main(minutes: float, seed: int | None, only: str, count: int | None, jobs: int, keep: Path) -> None:
    """Attack kmc: drawn specs beside a brute force, TLA+ modules in three ways, kills, damaged files, hostile inputs.

    Each failure is printed with the command that repeats it, and a repro is written below --keep. Exit status 1 if
    anything failed.
    """
    first = SystemRandom().randrange(SEEDS) if seed is None else seed
    names = [name.strip() for name in only.split(",")]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise click.BadParameter(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}", param_hint="--only")
    if jobs > 1:
        sys.exit(max(_in_processes(jobs, first, ["--minutes", str(minutes), "--only", only, "--keep", str(keep)])))
    click.echo(f"Attacking for {minutes:g} minutes, {', '.join(names)}; seed {first}", err=True)
    attack = Attack(names, first, time.monotonic() + minutes * 60, count, keep)
    failed = attack.run()
    sys.exit(1 if failed else INTERRUPTED if attack.is_interrupted else 0)


def _in_processes(jobs: int, first: int, words: list[str]) -> list[int]:
    """Attack in several processes at a time; their exit statuses."""
    command = [sys.executable, "-m", "attack", *words]
    running = [subprocess.Popen([*command, "--seed", str(first + SEEDS * number)]) for number in range(jobs)]
    return [process.wait() for process in running]


class Attack:
    """One run of all parts, in turns by their shares of the time."""

    def __init__(self, names: list[str], seed: int, until: float, count: int | None, keep: Path) -> None:
        self.is_interrupted = False
        self._names = names
        self._seed = seed
        self._until = until
        self._limit = inf if count is None else count
        self._limits = {"known": min(self._limit, len(KNOWN))}
        self._keep = keep
        self._spent = dict.fromkeys(names, 0.0)
        self._attacks: Counter[str] = Counter()
        self._checks: Counter[str] = Counter()
        self._failed: list[str] = []
        self._told = time.monotonic()

    def run(self) -> list[str]:
        """Attack until the time is over, or Ctrl-C; the commands that repeat what failed."""
        try:
            while time.monotonic() < self._until and (waiting := self._waiting()):
                self._one(min(waiting, key=lambda name: (name != "known", self._spent[name] / PARTS[name][1])))
                if time.monotonic() - self._told > TOLD_SECONDS:
                    self._tell()
        except KeyboardInterrupt:
            self.is_interrupted = True
        self._tell()
        for command in self._failed:
            click.echo(f"failed: {command}")
        return self._failed

    def _waiting(self) -> list[str]:
        return [name for name in self._names if self._attacks[name] < self._limits.get(name, self._limit)]

    def _one(self, name: str) -> None:
        seed = self._seed + self._attacks[name]
        self._attacks[name] += 1
        began = time.monotonic()

        def count(checks: int) -> None:
            self._checks[name] += checks

        folder = self._keep / f"{name}-{seed}"
        try:
            found = PARTS[name][0](seed, count, folder)
        except Exception as error:  # whatever an attack meets belongs to its seed, and the next one is made
            found = [f"the attack itself failed: {type(error).__name__}: {error}"]
        self._spent[name] += time.monotonic() - began
        if found:
            command = (
                f"PYTHONPATH=tests {os.path.relpath(sys.executable)} -m attack --only {name} --seed {seed} --count 1"
            )
            self._failed.append(command)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "failed.txt").write_text("\n".join([command, *found, ""]), encoding="utf-8")
            click.echo(f"FAILED {name}, seed {seed}; repeat it: {command}\n  kept: {folder}")
            for text in found[:FAILURES_SHOWN]:
                click.echo("  " + text)

    def _tell(self) -> None:
        self._told = time.monotonic()
        told = [f"{name} {self._attacks[name]} ({self._checks[name]} checks)" for name in self._names]
        click.echo(f"{', '.join(told)}; {len(self._failed)} failed", err=True)


if __name__ == "__main__":
    main()
