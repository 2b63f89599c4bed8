"""The place of something in the files of a spec, as a reader can open it: `reg/spec.py:97`.

Paths are those from the working directory; of a shipped spec elsewhere, those from the folder of the shipped specs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from kmc.errors import Span
from kmc.frontend.shipped import is_there, shipped_folder, shipped_specs


def source_place(span: Span | None) -> str:
    """The place as `path:line`; an empty text for None."""
    return "" if span is None else f"{source_path(Path(span.path))}:{span.line}"


def source_path(path: Path) -> str:
    """The path of a file of a spec, from the working directory or the folder of the shipped specs."""
    return _path_from(tuple(_bases()), path)


@cache
def _path_from(bases: tuple[Path, ...], path: Path) -> str:
    resolved = path.resolve()
    for base in bases:
        if resolved.is_relative_to(base):
            return str(resolved.relative_to(base))
    with suppress(OSError, ValueError):
        return min(os.path.relpath(path), str(path), key=len)
    return str(path)


def opened_path(shown: str) -> Path | None:
    """The file that `source_path` has shown as this path; None where there is none."""
    paths = (base / shown for base in _bases())
    return next((path for path in paths if is_there(path.is_file)), None)


def spec_word(root: Path) -> str:
    """The word for this spec on a command line: the name of a shipped spec, else its path, as `./reg`."""
    for name, known in shipped_specs().items():
        if known.resolve() == root.resolve():
            return name
    shown = source_path(root)
    return shown if Path(shown).is_absolute() or shown.startswith("..") else f"./{shown}"


def _bases() -> Iterator[Path]:
    with suppress(OSError):  # the working directory may be gone
        yield Path.cwd().resolve()
    folder = _shipped_folder()
    if folder is not None:
        yield folder


@cache
def _shipped_folder() -> Path | None:
    folder = shipped_folder()
    return None if folder is None else folder.resolve()
