"""The folders below one folder that have models, or a spec without any.

Invariant: a manifest beside Python is found at any depth, as pytest finds it, and so is a spec that has no manifest: a
job over a folder leaves out nothing without a word. Hidden folders, environments and build outputs are not entered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kmc.spec.shipped import MANIFEST_NAME

# As pytest's `norecursedirs`.
_NOT_ENTERED = ("build", "dist", "node_modules", "venv", "CVS", "_darcs", "{arch}", "__pycache__")
_USES_KMC = re.compile(r"^\s*(?:from|import)\s+kmc\b", re.MULTILINE)
_HAS_INITIAL_STATES = re.compile(r"^@(?:\w+\.)?init\b", re.MULTILINE)


def spec_folders(root: Path) -> list[Path]:
    """The folders at and below `root` with a manifest of a spec, or with a spec that has none; sorted."""
    found: set[Path] = set()
    for folder, has_manifest in _walk(root, False):
        if (folder / MANIFEST_NAME).is_file():
            if folder == root or _any_source(folder, _USES_KMC):
                found.add(folder)
        elif not has_manifest and _any_source(folder, _HAS_INITIAL_STATES):
            found.add(_whole_spec(folder, root))
    return sorted(found)


def _walk(folder: Path, has_manifest: bool, around: tuple[Path, ...] = ()) -> Iterator[tuple[Path, bool]]:
    """Each folder to look at, and whether it, or one around it, has a manifest. A link in a circle ends."""
    real = folder.resolve()
    if real in around:
        return
    has_manifest = has_manifest or (folder / MANIFEST_NAME).is_file()
    yield folder, has_manifest
    below: list[str] = []
    with suppress(PermissionError), os.scandir(folder) as entries:
        below = sorted(entry.name for entry in entries if entry.is_dir() and _is_entered(entry.name))
    for name in below:
        if not (folder / name / "pyvenv.cfg").is_file():
            yield from _walk(folder / name, has_manifest, (*around, real))


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and not name.endswith(".egg") and name not in _NOT_ENTERED


def _any_source(folder: Path, pattern: re.Pattern[str]) -> bool:
    sources = (path for path in sorted(folder.glob("*.py")) if not _is_test(path.name))
    return any(pattern.search(path.read_text(encoding="utf-8", errors="replace")) for path in sources)


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def _whole_spec(folder: Path, root: Path) -> Path:
    """The folder of the spec that this one is a part of: the files of a spec may lie in folders of their own."""
    while folder != root and folder.parent != root and any(folder.parent.glob("*.py")):
        folder = folder.parent
    return folder
