"""The folders below one folder that have models, or a spec without any.

Invariant: a manifest beside Python is found at any depth, as pytest finds it, and so is a spec that has no manifest: a
job over a folder leaves out nothing without a word. Hidden folders, environments and build outputs are not entered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kmc.errors import CommandLineError
from kmc.frontend.shipped import FOLDERS_MAX, MANIFEST_NAME, is_there

# As pytest's `norecursedirs`.
_NOT_ENTERED = ("build", "dist", "node_modules", "venv", "CVS", "_darcs", "{arch}", "__pycache__")
_USES_KMC = re.compile(r"^\s*(?:from|import)\s+kmc\b", re.MULTILINE)
_HAS_INITIAL_STATES = re.compile(r"^@(?:\w+\.)?init\b", re.MULTILINE)


def spec_folders(root: Path) -> list[Path]:
    """List the folders at and below `root` with a manifest of a spec, or with a spec that has none; sorted.

    CommandLineError KMC629 if there are too many folders to look at.
    """
    specs: set[Path] = set()
    for folder, has_manifest in _walk(root):
        if _is_file(folder / MANIFEST_NAME):
            if folder == root or _any_source(folder, _USES_KMC):
                specs.add(folder)
        elif not has_manifest and _any_source(folder, _HAS_INITIAL_STATES):
            specs.add(_whole_spec(folder, root))
    return sorted(specs)


def _walk(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yield each folder to look at, and whether it, or one around it, has a manifest.

    A folder that links lead to as well is entered once, so no circle of links goes on. Folders may vanish meanwhile,
    as those of processes in /proc do.
    """
    entered: set[tuple[int, int]] = set()
    waiting = [(root, False)]
    while waiting:
        folder, has_manifest = waiting.pop()
        identity = _identity(folder)
        if identity is None or identity in entered or (folder != root and _is_file(folder / "pyvenv.cfg")):
            continue
        entered.add(identity)
        if len(entered) > FOLDERS_MAX:
            raise CommandLineError(
                "KMC629",
                f"{root} has more than {FOLDERS_MAX:,} folders in it",
                help="go to the folder of your specs, or name it",
            )
        has_manifest = has_manifest or _is_file(folder / MANIFEST_NAME)
        yield folder, has_manifest
        # The last one is entered first: real folders before links, in the order of their names.
        waiting += [(folder / name, has_manifest) for name in reversed(_below(folder))]


def _below(folder: Path) -> list[str]:
    """List the folders in a folder, links last."""
    try:
        with os.scandir(folder) as entries:
            below = [
                (entry.is_symlink(), entry.name) for entry in entries if _is_entered(entry.name) and _is_folder(entry)
            ]
    except OSError:
        return []
    return [name for _, name in sorted(below)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return is_there(entry.is_dir)


def _is_file(path: Path) -> bool:
    return is_there(path.is_file)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and not name.endswith(".egg") and name not in _NOT_ENTERED


def _any_source(folder: Path, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(_text(path)) for path in _sources(folder) if not _is_test(path.name))


def _sources(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob("*.py") if path.is_file())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def _whole_spec(folder: Path, root: Path) -> Path:
    """The folder of the spec that this one is a part of: the files of a spec may lie in folders of their own."""
    while folder != root and folder.parent != root and _sources(folder.parent):
        folder = folder.parent
    return folder
