"""The files of a spec as modules: how they are named, and which of them an import names.

A file in the spec's folder has its dotted name there, '' for `__init__.py`. A file that several specs share lies beside
that folder; its name begins with a slash: `/logs.epochs` is `../logs/epochs.py`, seen from that folder. The
dots of an import mean what they mean in Python, with the spec's folder as one of the shared packages.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

SHARED = "/"
"""The first character of a shared module's name."""

_HERE = ""
"""The spec's own folder, as the first part of a path of packages."""


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A file of a spec, under its name."""

    name: str
    path: str
    tree: ast.Module
    is_package: bool

    def imported(self, node: ast.ImportFrom) -> str | None:
        """The name of the module that a relative import names; None if its dots lead too far out."""
        package = self._package()
        up = node.level - 1
        if up > len(package):
            return None
        parts = [*package[: len(package) - up], *((node.module or "").split(".") if node.module else [])]
        return _name(parts)

    def spelled(self, name: str) -> str:
        """The name of another file in an import of this one: '.types', '..functions'."""
        package, parts = self._package(), _parts(name)
        same = 0
        while same < min(len(package), len(parts)) and package[same] == parts[same]:
            same += 1
        return "." * (len(package) - same + 1) + ".".join(parts[same:])

    def _package(self) -> list[str]:
        parts = _parts(self.name)
        return parts if self.is_package else parts[:-1]


def is_shared(name: str) -> bool:
    """Whether a module lies beside the spec's folder."""
    return name.startswith(SHARED)


def file_of(name: str) -> str:
    """A module's file as errors name it, from the spec's folder: 'types.py', '../logs/epochs.py'."""
    if is_shared(name):
        return f"../{name[1:].replace('.', '/')}.py"
    return f"{name or '__init__'}.py"


def packages_of(name: str) -> list[str]:
    """The shared packages that a shared module lies in, outermost first."""
    parts = _parts(name)
    return [_name(parts[:count]) for count in range(1, len(parts))]


def _parts(name: str) -> list[str]:
    if is_shared(name):
        return [part for part in name[1:].split(".") if part]
    return [_HERE, *(name.split(".") if name else [])]


def _name(parts: list[str]) -> str:
    if parts[:1] == [_HERE]:
        return ".".join(parts[1:])
    return SHARED + ".".join(parts)
