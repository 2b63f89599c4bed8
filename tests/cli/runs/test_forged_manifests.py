"""A manifest with the right checksum and impossible content is damage: no command fails by it or believes it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.engine.files.run_manifest import RunManifest, _checksum, parse_manifest
from kmc.errors import SystemFault
from kmc.shards.level.run_state import restored_state

RUNS = {
    "memory": (COUNTER, "smoke", "--max-depth", "2"),
    "shards": (COUNTER, "smoke", "--max-depth", "2", "--shards", "2", "--keep-states"),
    "temporal": ("two_phase_commit", "fair", "--max-depth", "2"),
    "temporal shards": ("two_phase_commit", "fair", "--max-depth", "2", "--shards", "2"),
}
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**9, -(2**63), 2**63 - 1, 2**64, 10**40, 1.5, float("nan"), float("inf"), "", "x", "../x",
    [], {}, [None], [[]], {"name": "x"}, [1, 2, 3],
)  # fmt: skip

# Codes that say of a folder that it cannot go on, or that its command line or spec does not fit any more.
DOCUMENTED = ("KMC551", "KMC554", "KMC555", "KMC557")


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that a bound ended, and that can be resumed."""
    folder = tmp_path_factory.mktemp("runs")
    ran = kmc("check", *RUNS[request.param], "--run-dir", str(folder), "--quiet")
    assert ran.exit_code == 20, ran.stderr
    (found,) = folder.iterdir()
    return found


def manifest_of(run: Path) -> dict[str, Any]:
    """The content of the manifest, with all recorded levels in it."""
    found: dict[str, Any] = json.loads(parsed(written(run), run).as_bytes())
    return found


def written(run: Path) -> bytes:
    """The bytes of the manifest's file."""
    return (run / "checkpoint" / "run.json").read_bytes()


def forge(run: Path, found: dict[str, Any]) -> None:
    """Write a manifest with the right checksum."""
    (run / "checkpoint" / "run.json").write_bytes(signed(found))


def signed(found: dict[str, Any]) -> bytes:
    """The bytes of a manifest with the right checksum."""
    return json.dumps({**found, "checksum": _checksum(found["run"])}).encode()


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values of a JSON tree."""
    below = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in below:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(tree: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """The tree after a change of one member of one of its containers; it shares what lies beside with the old one."""
    copy = inner = tree.copy()
    for key in path[:-1]:
        inner[key] = inner[key].copy()
        inner = inner[key]
    change(inner, path[-1])
    return copy


def setting(value: Any) -> Callable[[Any, Any], None]:
    """A change to this value."""
    return lambda inner, key: inner.__setitem__(key, value)


def forgeries(tree: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each value of the tree replaced by each of `VALUES`, removed, and given a neighbour."""
    for path in places(tree):
        for value in VALUES:
            yield (*path, value), changed(tree, path, setting(value))
        yield (*path, "removed"), changed(tree, path, lambda inner, key: inner.__delitem__(key))
        if isinstance(path[-1], str):
            yield (*path, "added"), changed(tree, path, lambda inner, key: inner.update(extra=1))


def parsed(data: bytes, run: Path) -> RunManifest:
    """The manifest of these bytes, and of other files of a run."""
    return parse_manifest(data, "run.json", lambda name: (run / "checkpoint" / name).read_bytes())


def parsed_or_damage(data: bytes, run: Path) -> RunManifest | None:
    """The manifest; None where it is damage."""
    try:
        return parsed(data, run)
    except SystemFault as error:
        if error.code != "KMC551":
            raise
        return None


@pytest.mark.slow
def test_every_forged_manifest_is_read_or_damage(run: Path) -> None:
    found, refused = manifest_of(run), 0
    as_written = json.loads(written(run))
    files = [forgery for forgery in forgeries(as_written["run"]) if "level_files" in forgery[0]]
    assert bool(files) == ("noted" in (found["run"]["sharded"] or {}) and len(found["run"]["sharded"]["noted"]) > 1)
    for what, tree in (*forgeries(found["run"]), *files):
        manifest = parsed_or_damage(signed({**found, "run": tree}), run)
        if manifest is None:
            refused += 1
            continue
        assert manifest.snapshot is None or sum(manifest.snapshot.levels) == manifest.snapshot.stored, what
        if manifest.sharded is not None and manifest.snapshot is not None:
            try:
                restored_state(manifest.sharded, manifest.snapshot)
            except (AttributeError, LookupError, TypeError, ValueError):
                refused += 1
    assert refused > 1000


@pytest.fixture(scope="module")
def honest(run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The counts of the run, resumed as it is."""
    copy = tmp_path_factory.mktemp("honest") / "run"
    shutil.copytree(run, copy)
    return counts(copy)


def counts(run: Path) -> tuple[str, ...]:
    """What the result of a run that went on has counted."""
    ran = kmc("check", "--resume", str(run), "--max-depth", "20", "--json")
    assert ran.exit_code in (0, 12, 13, 20), ran.stderr
    return counts_of(json.loads(ran.stdout))


def counts_of(result: dict[str, Any]) -> tuple[str, ...]:
    """The counts of a result: they follow from the spec alone."""
    names = ("verdict", "distinct", "generated", "levels", "initial", "depth")
    return tuple(json.dumps(result.get(name)) for name in names)


@pytest.mark.slow
def test_a_forged_run_is_refused_or_goes_on_rightly(run: Path, honest: tuple[str, ...], tmp_path: Path) -> None:
    """A part of all forgeries, in which each value stands at some places."""
    found = manifest_of(run)
    chosen = [forgery for number, forgery in enumerate(forgeries(found["run"])) if number % 89 == number // 89 % 89]
    assert len(chosen) > 10
    for number, (what, tree) in enumerate(chosen):
        copy = tmp_path / str(number)
        shutil.copytree(run, copy)
        forge(copy, {**found, "run": tree})
        ran = kmc("check", "--resume", str(copy), "--max-depth", "20", "--json")
        assert ran.exit_code != 255, (what, ran.stderr)
        if ran.exit_code in (0, 12, 13, 20):
            result = json.loads(ran.stdout)
            plausible = result["generated"] >= result["distinct"] == sum(result["levels"]) > 0
            assert plausible, what
            assert result["initial"] <= result["generated"], what
            if what[0] != "snapshot" and what[:2] != ("run", "about"):
                assert counts_of(result)[1:2] == honest[1:2], what
        else:
            assert any(code in ran.stderr for code in DOCUMENTED) or ran.exit_code in (2, 150, 151), (what, ran.stderr)
        for words in (
            ("states", str(copy), "--out", str(tmp_path / f"t{number}")),
            ("runs", "--run-dir", str(copy.parent)),
        ):
            other = kmc(*words)
            assert other.exit_code != 255, (what, words, other.stderr)
        shutil.rmtree(copy)
