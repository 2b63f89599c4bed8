"""The files that are part of a spec, and the module that declares its State."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mypy.nodes import Import, ImportAll, ImportFrom, MypyFile

_WORDS = ("kmc.lang", "kmc.spec")
_STATE = re.compile(r"^class State\(", re.MULTILINE)
_IMPORTS_WORDS = re.compile(r"^from kmc\.(lang|spec) import", re.MULTILINE)
_MODELS = "models.toml"
# A file of a spec lies in its folder or one below; a shared file, in a folder beside the specs.
_FOLDERS_UP = 3


def is_spec(file: MypyFile) -> bool:
    """Does kmc load this file? It imports the words of the language, or lies among specs and imports nothing else."""
    if file.is_stub or file.fullname.partition(".")[0] == "kmc":
        return False
    if any(isinstance(node, Import | ImportAll) for node in file.imports):
        return False
    names = [node.id for node in file.imports if isinstance(node, ImportFrom) and node.relative == 0]
    if any(name not in _WORDS for name in names):
        return False
    return bool(names) or _lies_among_specs(Path(file.path).resolve())


def may_be_spec(path: Path) -> bool:
    """As `is_spec`, decided from the text alone; true of some other files too."""
    if path.suffix != ".py" or "site-packages" in path.parts:
        return False
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return _IMPORTS_WORDS.search(text) is not None or _lies_among_specs(path.resolve())


def _lies_among_specs(path: Path) -> bool:
    folders = list(path.parents)[:_FOLDERS_UP]
    return any(_has_models(folder) for folder in folders)


@cache
def _has_models(folder: Path) -> bool:
    return (folder / _MODELS).is_file() or any(folder.glob(f"*/{_MODELS}"))


@dataclass(frozen=True, slots=True)
class StateModule:
    """The module that declares the spec's State: the file itself, or another one of its package."""

    name: str
    is_own: bool


def state_module(file: MypyFile) -> StateModule | None:
    """The module that declares State: the file, a file beside it, or one in the folder above."""
    path = Path(file.path).resolve()
    if _declares_state(path):
        return StateModule(file.fullname, True)
    package = file.fullname if path.stem == "__init__" else file.fullname.rpartition(".")[0]
    for folder in list(path.parents)[:_FOLDERS_UP]:
        for beside in sorted(folder.glob("*.py")):
            if _declares_state(beside):
                return StateModule(f"{package}.{beside.stem}" if package else beside.stem, False)
        if not package or (folder / _MODELS).is_file():
            return None
        package = package.rpartition(".")[0]
    return None


def _declares_state(path: Path) -> bool:
    try:
        return _STATE.search(path.read_text(encoding="utf-8")) is not None
    except (OSError, UnicodeDecodeError):
        return False
