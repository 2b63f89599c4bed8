"""The Python sources of this checkout, for the tests that hold the layers and the house rules."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path from the root of the checkout, with slashes, and its text."""

    path: str
    text: str

    @property
    def module(self) -> str:
        """The dotted name: `kmc.lang` for kmc/lang/__init__.py, `kmc_spark.x` for distributed/kmc_spark/x.py."""
        parts = self.path.removeprefix("distributed/").removesuffix(".py").split("/")
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self) -> str:
        """The dotted name of the package that relative imports start from."""
        return self.module if self.path.endswith("/__init__.py") else self.module.rpartition(".")[0]

    def at(self, line: int, what: str) -> str:
        """A breach of a rule, as the tests report it."""
        return f"{self.path}:{line}: {what}"


@cache
def tree_of(source: Source) -> ast.Module:
    """The syntax tree of a source."""
    return ast.parse(source.text, filename=source.path)


@cache
def nodes_of(source: Source) -> tuple[ast.AST, ...]:
    """All nodes of the syntax tree of a source: many rules walk it."""
    return tuple(ast.walk(tree_of(source)))


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """The sources under these folders of the checkout, sorted by path; a folder that is not there holds none."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def is_within(module: str, package: str) -> bool:
    """Whether `module` is `package` or lies inside it."""
    return module == package or module.startswith(package + ".")
