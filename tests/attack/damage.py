"""The part `damage`: files of saved runs that are flipped, cut, swapped, removed or forged; an error, or the result."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from attack.checks import SpecChecks, Way, said
from attack.drawing import drawn
from attack.kmc_runs import MANIFEST, Run, resumable, run_here

ROUNDS = 12
"""How many times the run of one spec is damaged."""

REFUSED = (2, 75, 76, 150, 151, 153)
"""The exit statuses of an error with a code."""

ABSURD: tuple[Any, ...] = (
    None,
    -1,
    "x",
    [],
    {},
    True,
    1 << 70,
    -(1 << 63),
    1.5,
    [[]],
    {"a": None},
    "../../../etc/passwd",
)


def attack_damage(seed: int, count: Callable[[int], None], kept: Path | None) -> list[str]:
    """Damage the saved run of a drawn spec in several ways; what is wrong with the answers."""
    chance = Random(seed)
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as name:
        folder = Path(name)
        checks = SpecChecks(drawn(seed), folder)
        first = chance.choice([("--shards", "3", "--threads", "1"), ("--shards", "1"), ("--threads", "1")])
        words = (*first, "--max-depth", "2", "--keep-states") if "--shards" in first else (*first, "--max-depth", "2")
        run = run_here("check", str(checks.folder), "m", *words, "--run-dir", str(folder / "runs"), "--json")
        count(1)
        saved = resumable(folder / "runs")
        if not saved:
            return [f"a bounded run: {said(run)}"] if run.is_broken else []
        found: list[str] = []
        for number in range(ROUNDS):
            copy = folder / "damaged" / str(number)
            shutil.copytree(saved[0], copy)
            how = chance.choice(DAMAGES)(copy, chance)
            found += _judged(checks, copy, how, chance, count)
    return found


def _judged(checks: SpecChecks, run: Path, how: str, chance: Random, count: Callable[[int], None]) -> list[str]:
    count(1)
    other = chance.choice(
        [
            ("states", str(run), "--out", str(run / "tables")),
            ("trace", str(run)),
            ("runs", "--run-dir", str(run.parent)),
        ]
    )
    if chance.random() < 0.2:
        said_of = run_here(*other)
        return [f"{how}; kmc {' '.join(other)}: {said(said_of)}"] if said_of.is_broken else []
    is_forged = how.startswith("forged")
    found = run_here("check", "--resume", str(run), "--max-depth", str(checks.spec.levels or 1000), "--json")
    if found.is_broken:
        return [f"{how}; kmc {' '.join(found.words)}: {said(found)}"]
    if found.status in REFUSED:
        return []
    if is_forged:
        return _absurd(found, how)
    way = Way(how, ())
    return [str(each) for each in checks.compared(way, found, checks.answer(keep_going=False, depth=None))]


def _absurd(run: Run, how: str) -> list[str]:
    """Return what cannot be among the counters of a run whose manifest was forged with a right checksum."""
    result = run.result or {}
    counters = [result.get(key, 0) for key in ("generated", "distinct", "depth", "initial", "left", "cut")]
    counters += [*result.get("levels", ()), *result.get("generated_by_action", {}).values()]
    if all(isinstance(each, int) and 0 <= each < 1 << 63 for each in counters) and counters[0] >= counters[1]:
        return []
    return [f"{how}; kmc {' '.join(run.words)}: absurd counters {counters}"]


def _files(run: Path) -> list[Path]:
    return sorted(path for path in run.rglob("*") if path.is_file())


def flipped(run: Path, chance: Random) -> str:
    """Flip a bit of a file."""
    path = chance.choice([path for path in _files(run) if path.stat().st_size])
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    return f"bit flipped at {place} of {path.name}"


def cut(run: Path, chance: Random) -> str:
    """Cut a file short."""
    path = chance.choice(_files(run))
    size = chance.choice([0, path.stat().st_size // 2, max(0, path.stat().st_size - 8)])
    path.write_bytes(path.read_bytes()[:size])
    return f"{path.name} cut to {size} bytes"


def appended(run: Path, chance: Random) -> str:
    """Append to a file."""
    path = chance.choice(_files(run))
    path.write_bytes(path.read_bytes() + chance.randbytes(8))
    return f"8 bytes appended to {path.name}"


def removed(run: Path, chance: Random) -> str:
    """Remove a file."""
    path = chance.choice(_files(run))
    path.unlink()
    return f"{path.name} removed"


def swapped(run: Path, chance: Random) -> str:
    """Put one file in the place of another."""
    path, other = chance.choice(_files(run)), chance.choice(_files(run))
    path.write_bytes(other.read_bytes())
    return f"{other.name} in the place of {path.name}"


def replaced(run: Path, chance: Random) -> str:
    """Put a folder in the place of a file."""
    path = chance.choice(_files(run))
    path.unlink()
    path.mkdir()
    return f"a folder in the place of {path.name}"


def forged(run: Path, chance: Random) -> str:
    """Write something absurd into the manifest, with a right checksum."""
    path = run / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    places = [where for where in _places(manifest["run"], ()) if where]
    where, value = chance.choice(places), chance.choice(ABSURD)
    holder = manifest["run"]
    for key in where[:-1]:
        holder = holder[key]
    holder[where[-1]] = value
    manifest["checksum"] = hashlib.sha256(json.dumps(manifest["run"], sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return f"forged {'.'.join(map(str, where))} = {value!r}"


def _places(value: Any, where: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [where, *(place for key, item in inner for place in _places(item, (*where, key)))]


DAMAGES: tuple[Callable[[Path, Random], str], ...] = (
    flipped,
    cut,
    appended,
    removed,
    swapped,
    replaced,
    forged,
    forged,
)
