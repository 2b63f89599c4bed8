"""The manifest of a saved run: a JSON file, from which every other file in its folder can be found and checked.

A search that records steps for the behaviour graph names files of all of its levels. Each of these levels but the last
is a JSON file of its own, which is written once: so the size of what a save writes does not grow with the levels.

Invariant: the manifest names only whole levels, and only files that were on disk before it was written; it is replaced
as a whole. Words in files have this machine's byte order, which is that of every machine that kmc runs on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kmc.engine.files.typed_json import plain, typed
from kmc.engine.layout.search_outcome import SearchFinding
from kmc.errors import SystemFault

NAME = "run.json"
FORMAT = 13

# The files of words: the fingerprints, and the rows of a level; or those of shards.
SHARD_FILE = (
    r"(rows|bits|run|words|sent|sources|steps|states|found|known|graph|asked|told)-[0-9]{1,9}-[0-9]{1,9}-[0-9a-f]{16}"
)
"""The names of the files of a search in shards; each begins with the kind of file."""

_LEVEL_FILE = re.compile(r"level-[0-9]{1,9}-[0-9a-f]{64}")
_DATA_FILE = re.compile(rf"known|graph|rows-[0-9]{{1,18}}|{SHARD_FILE}|{_LEVEL_FILE.pattern}")
_NOTED, _LEVEL_FILES = "noted", "level_files"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a search at the end of a level: its counters, and its records.

    `generated` counts by action, and initial states last; `cut` are those of them outside of the constraints. `met` is
    the number of violating states that were counted once. `seconds` and `cpu_seconds` are those of all sessions.
    """

    levels: tuple[int, ...]
    generated: tuple[int, ...]
    failed: tuple[int, ...]
    cut: int
    stored: int
    expanded: int
    rows_words: int
    reached: int
    reachable_asked: int
    findings: tuple[SearchFinding, ...]
    counted: tuple[int, ...]
    met: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Extent:
    """`words` words of a file from word `place` on, and their checksum (see `kmc.engine.loops.storage`)."""

    file: str
    place: int
    words: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Frontier:
    """The files of the last level: its blocks, its chunks by place in the blocks' file, the words that have codes."""

    blocks: tuple[Extent, ...]
    chunks: Extent
    dictionary: Extent


@dataclass(frozen=True, slots=True)
class RunManifest:
    """A saved run. `about` comes from the command line, `digests` identify the compiled code; at first no level is
    saved.

    `graph` is the behaviour graph of a search in memory that checks temporal properties. A sharded search saves its
    files in `sharded`; then `known`, `met` and `frontier` are None.
    """

    about: Mapping[str, Any]
    digests: Mapping[str, str] = field(default_factory=dict)
    fingerprint_bits: int = 64
    snapshot: Snapshot | None = None
    known: Extent | None = None
    met: Extent | None = None
    frontier: Frontier | None = None
    graph: Extent | None = None
    sharded: Mapping[str, Any] | None = None

    @property
    def levels(self) -> int:
        """The number of saved levels."""
        return len(self.snapshot.levels) if self.snapshot else 0

    @property
    def extents(self) -> tuple[Extent, ...]:
        """All words in files that it refers to."""
        return tuple(extent for extent in self.all_extents if extent.words)

    @property
    def all_extents(self) -> tuple[Extent, ...]:
        """`extents`, and those without words."""
        extents = [extent for extent in (self.known, self.met, self.graph) if extent is not None]
        if self.frontier is not None:
            extents += [*self.frontier.blocks, self.frontier.chunks, self.frontier.dictionary]
        return tuple(extents)

    @property
    def files(self) -> frozenset[str]:
        """The names of the files that it needs."""
        return frozenset(extent.file for extent in self.extents) | frozenset(_names_in(self.sharded))

    def as_files(self) -> tuple[bytes, dict[str, bytes]]:
        """Return the JSON text, and the files of recorded levels that it refers to, by their names.

        A name has the hash of the content, so that a file of this name need not be written again.
        """
        noted = (self.sharded or {}).get(_NOTED, ())
        if len(noted) < 2:
            return self.as_bytes(), {}
        files = {}
        for depth, level in enumerate(noted[:-1], start=1):
            content = json.dumps(level).encode() + b"\n"
            files[f"level-{depth}-{hashlib.sha256(content).hexdigest()}"] = content
        sharded = {**(self.sharded or {}), _NOTED: noted[-1:], _LEVEL_FILES: list(files)}
        return replace(self, sharded=sharded).as_bytes(), files

    def as_bytes(self) -> bytes:
        """Return the JSON text with all recorded levels in it."""
        run = plain(replace(self, sharded=None))
        run["sharded"] = self.sharded  # it is JSON, and large
        content = {"format": FORMAT, "checksum": _checksum(run), "run": run}
        return json.dumps(content).encode() + b"\n"


def _names_in(saved: Any) -> Iterator[str]:
    """The values of all keys `name` in the state of a sharded search: they name its files."""
    waiting = [saved]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "name" in value:
                yield str(value["name"])
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value


def is_data_file(name: str) -> bool:
    """Whether a run may have a file of words of this name: never a path that leads out of its folder."""
    return _DATA_FILE.fullmatch(name) is not None


def is_level_file(name: str) -> bool:
    """Return whether a file of this name holds a recorded level of a manifest."""
    return _LEVEL_FILE.fullmatch(name) is not None


def _no_file(name: str) -> bytes:
    raise FileNotFoundError(name)


def parse_manifest(data: bytes, path: Path | str, read: Callable[[str], bytes] = _no_file) -> RunManifest:
    """The manifest in the bytes of a file, with the levels that `read` gets from other files beside it.

    SystemFault KMC551 for a damaged one, KMC552 for another format; `read` raises FileNotFoundError.
    """
    try:
        content = json.loads(data)
        made, checksum, run = content["format"], content["checksum"], content["run"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged(path, "it is not a manifest") from None
    if made != FORMAT:
        raise SystemFault(
            "KMC552",
            f"{path} has format {made}, and this kmc reads format {FORMAT}",
            help="resume it with the kmc that made it, or begin anew",
        )
    if checksum != _checksum(run):
        raise damaged(path, "its checksum is wrong")
    try:
        manifest = typed(RunManifest, run)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged(path, "it is not a manifest") from None
    manifest = _with_levels(manifest, path, read)
    _refuse_misleading(manifest, path)
    if manifest.snapshot is not None and (impossible := impossible_counts(manifest.snapshot)):
        raise damaged(path, impossible)
    return manifest


def _with_levels(manifest: RunManifest, path: Path | str, read: Callable[[str], bytes]) -> RunManifest:
    """Return the manifest with the recorded levels that `RunManifest.as_files` put into files."""
    sharded = dict(manifest.sharded or {})
    if _LEVEL_FILES not in sharded:
        return manifest
    names, last = sharded.pop(_LEVEL_FILES), sharded.get(_NOTED)
    if not isinstance(names, list) or not isinstance(last, list):
        raise damaged(path, "it is not a manifest")
    levels = []
    for name in names:
        if not isinstance(name, str) or not is_level_file(name):
            raise damaged(path, f"it names {name!r}, which is not a file of a run")
        content = read(name)
        if hashlib.sha256(content).hexdigest() != name.rpartition("-")[2]:
            raise damaged(path, f"{name} is not the file that was written")
        try:
            levels.append(json.loads(content))
        except (ValueError, RecursionError):
            raise damaged(path, f"{name} is not JSON") from None
    return replace(manifest, sharded={**sharded, _NOTED: [*levels, *last]})


def impossible_counts(snapshot: Snapshot) -> str | None:
    """Tell why no search counts this; None if one may."""
    levels, generated, stored = snapshot.levels, sum(snapshot.generated), snapshot.stored
    if sum(levels) != stored or not levels or not snapshot.generated:
        return "its levels do not add up to its states"
    if snapshot.generated[-1] < levels[0] or generated < stored or generated < snapshot.cut:
        return "it has more states than were generated"
    met_most = generated * len(snapshot.failed)
    if snapshot.expanded > stored or snapshot.met > met_most or any(count > generated for count in snapshot.failed):
        return "it has counts above that of its states"
    if any(not 1 <= finding.level <= len(levels) + 1 for finding in snapshot.findings):
        return "it has a finding outside of its levels"
    return None


def require_lengths(snapshot: Snapshot, generated: int, failed: int) -> None:
    """Raise ValueError unless a snapshot counts by so many actions, and so many properties."""
    if (len(snapshot.generated), len(snapshot.failed)) != (generated, failed):
        raise ValueError("a snapshot counts by other actions or properties")


@contextmanager
def restoring(path: Path | str) -> Iterator[None]:
    """Read from a manifest the values that a search needs; raises SystemFault KMC551 if they do not fit the search."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The cause stays, for `--debug`: it may be a mistake in kmc.
        raise damaged(path, "it does not fit the model that was checked") from error


def _refuse_misleading(manifest: RunManifest, path: Path | str) -> None:
    """Raise KMC551 if a manifest names a path outside its folder or a file of another kind; a checksum detects only
    accidents.
    """
    for extent in manifest.all_extents:
        if not is_data_file(extent.file):
            raise damaged(path, f"it names {extent.file!r}, which is not a file of a run")
    for name in _names_in(manifest.sharded):
        if not is_data_file(name):
            raise damaged(path, f"it names {name!r}, which is not a file of a run")
    there = [value is not None for value in (manifest.snapshot, manifest.known, manifest.met, manifest.frontier)]
    if manifest.sharded is not None:
        is_whole = there == [True, False, False, False]
    else:
        is_whole = all(there) or not any(there)
    if not is_whole:
        raise damaged(path, "a part of the level is missing")
    if manifest.fingerprint_bits not in (64, 128):
        raise damaged(path, "its fingerprints have an unknown width")
    if manifest.frontier is not None and len({block.file for block in manifest.frontier.blocks}) != 1:
        raise damaged(path, "the level is not in one file")


def damaged(path: Path | str, why: str) -> SystemFault:
    """KMC551: a file of a saved run differs from the one that was written."""
    return SystemFault("KMC551", f"the saved run is damaged: {path}: {why}", help="the run cannot go on: begin it anew")


def unread(path: Path | str, error: OSError | ValueError) -> SystemFault:
    """The fault of a file of a saved run that was not read: KMC551 if it is gone or empty, else KMC558.

    Too many open files, no permission or a failing disk say nothing about the content of the file.
    """
    match error:
        case FileNotFoundError() | ValueError():
            return damaged(path, getattr(error, "strerror", None) or str(error))
        case _:
            return SystemFault(
                "KMC558",
                f"cannot read the saved run: {path}: {error.strerror or error}",
                help="nothing says that the run is damaged: remove the cause, then resume it",
            )


def _checksum(run: object) -> str:
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()
