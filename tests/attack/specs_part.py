"""The part `specs`: drawn specs on every kind of search. A spec that kmc gets wrong is made smaller and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from attack.checks import SOME, WAYS, Difference, SpecChecks, Way, ways_of
from attack.drawing import drawn
from attack.drawn_spec import DrawnSpec
from attack.known_cases import KNOWN
from attack.shrinking import shrunken


def attack_specs(seed: int, count: Callable[[int], None], kept: Path | None) -> list[str]:
    """Check the spec of a seed; the differences as text. `count` is told how many checks were made."""
    spec = drawn(seed)
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as folder:
        checks = SpecChecks(spec, Path(folder))
        ways = {way.name: way for way in ways_of(Random(seed))}
        found = list(checks.differences(list(ways.values())))
        count(checks.runs)
    if found and kept is not None:
        first = min(found, key=lambda each: each.what == "another trace")
        keep(spec, ways[first.way], first, kept)
    return [str(each) for each in found]


def attack_known(seed: int, count: Callable[[int], None], kept: Path | None) -> list[str]:
    """Check the spec of `known_cases` that has this number, on all ways but the slow ones."""
    name = list(KNOWN)[seed % len(KNOWN)]
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as folder:
        checks = SpecChecks(KNOWN[name], Path(folder))
        found = list(checks.differences([*WAYS, *SOME]))
        count(checks.runs)
    return [f"{name}: {each}" for each in found]


def keep(spec: DrawnSpec, way: Way, found: Difference, folder: Path) -> None:
    """Write the spec, as small as it gets, with the command and the difference."""

    def is_wrong(candidate: DrawnSpec) -> bool:
        return any(each.kind == found.kind for each in differences_of(candidate, [way]))

    small = shrunken(spec, is_wrong) if is_wrong(spec) else spec
    again = next(iter(differences_of(small, [way])), found)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.py").write_text(small.source(), encoding="utf-8")
    (folder / "models.toml").write_text(small.manifest(), encoding="utf-8")
    (folder / "drawn.txt").write_text(f"{small!r}\n", encoding="utf-8")
    (folder / "difference.txt").write_text(f"{again}\n\nas drawn: {found}\n", encoding="utf-8")


def differences_of(spec: DrawnSpec, ways: list[Way]) -> list[Difference]:
    """Return what is wrong with a spec; nothing where taking a part away has left no spec."""
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as folder:
        try:
            checks = SpecChecks(spec, Path(folder))
            checks.answer(keep_going=False, depth=None)  # which fails in a moment where no spec is left
            return list(checks.differences(ways))
        except (KeyError, IndexError, AttributeError, TypeError, ValueError, StopIteration, AssertionError):
            return []
