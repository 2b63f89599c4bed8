"""The layers of kmc, and the tests of a layer and of the layers above it: what a change of that layer can break.

`python -m support.layers shards` prints the files of tests that reach the layer `kmc.shards` or a higher one by their
imports, those of shared code included. Imports between layers point down, so a file that reaches lower layers only
cannot run a line of that layer. A file that imports nothing of kmc tests texts, and belongs to every layer.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from support.source_tree import Source, nodes_of, sources

# Lowest first. Layers of one row do not know each other; the root holds the version and nothing else.
LAYERS = (
    ("kmc",),
    ("kmc.near_words", "kmc.amounts", "kmc.text_lines", "kmc.ending_signals", "kmc.failpoints", "kmc.cache_folder"),
    ("kmc.errors",),
    ("kmc.process", "kmc.unexplained", "kmc.install_hint"),
    ("kmc.memory_limit", "kmc.error_text", "kmc.budget"),
    ("kmc.compile_log",),
    ("kmc.result",),
    ("kmc.model_files",),
    ("kmc.lang",),
    ("kmc.actions", "kmc.invariants", "kmc.liveness"),
    ("kmc.spec",),
    ("kmc.frontend",),
    ("kmc.tla",),
    ("kmc.runtime",),
    # The oracle does not know the compiler, which is tested against it.
    ("kmc.compiler", "kmc.reference"),
    ("kmc.engine",),
    ("kmc.shards",),
    ("kmc.trace", "kmc.bench", "kmc.tables"),
    ("kmc_spark",),
    ("kmc.story",),
    ("kmc.views",),
    ("kmc.checking",),
    ("kmc.explorer",),
    # Two faces of the same checks; neither knows the other.
    ("kmc.cli", "kmc.api"),
    ("kmc.pytest_plugin", "kmc.mypy_plugin"),
    ("submit",),  # distributed/submit: an application around the command line
    ("kmc.__main__",),
)
RANK = {layer: rank for rank, row in enumerate(LAYERS) for layer in row}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module (absolute; "" for a relative import that leaves its root) and one name taken from it."""

    line: int
    module: str
    name: str | None
    relative: bool

    @property
    def target(self) -> str:
        """The dotted path of what is imported, be it a module or a name inside one."""
        return f"{self.module}.{self.name}" if self.name else self.module


def _absolute(source: Source, node: ast.ImportFrom) -> str:
    """The absolute name of the module that `from ... import` names."""
    if not node.level:
        return node.module or ""
    parts = source.package.split(".")
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, node.module] if kept and node.module else kept)


def _dynamic(node: ast.Call) -> str | None:
    """The module that `import_module("...")` or `__import__("...")` names, if this call is one."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    match node.args:
        case [ast.Constant(value=str(module)), *_] if name in ("import_module", "__import__"):
            return module
    return None


def imports_of(source: Source) -> Iterator[Import]:
    """Every import of a source, at any depth, one per imported name."""
    for node in nodes_of(source):
        match node:
            case ast.Import(names=aliases):
                yield from (Import(node.lineno, alias.name, None, False) for alias in aliases)
            case ast.ImportFrom(names=aliases, level=level):
                module = _absolute(source, node)
                yield from (Import(node.lineno, module, alias.name, level > 0) for alias in aliases)
            case ast.Call() if named := _dynamic(node):
                yield Import(node.lineno, named, None, False)


def layer_of(dotted: str) -> str | None:
    """The layer that a dotted path belongs to, None outside kmc; `kmc.x` when x is in no layer."""
    parts = dotted.split(".")
    if parts[0] in ("kmc_spark", "submit"):
        return parts[0]
    if parts[0] != "kmc":
        return None
    return "kmc" if len(parts) == 1 or parts[1] == "__version__" else ".".join(parts[:2])


@cache
def _tests_and_shared_code() -> dict[str, Source]:
    """The sources below tests/ by the names under which tests import them."""
    found = (source for source in sources("tests") if not source.path.startswith("tests/data/"))
    return {source.module.removeprefix("tests."): source for source in found}


@cache
def _imported(name: str) -> tuple[frozenset[int], frozenset[str]]:
    """The ranks of the layers that a file below tests/ imports itself, and the other files there that it imports."""
    ranks: set[int] = set()
    files: set[str] = set()
    for item in imports_of(_tests_and_shared_code()[name]):
        layer = layer_of(item.target)
        if layer in RANK:
            ranks.add(RANK[layer])
        files |= {item.target, item.module} & (_tests_and_shared_code().keys() - {name})
    return frozenset(ranks), frozenset(files)


def highest_rank(name: str) -> int | None:
    """The rank of the highest layer that a file below tests/ reaches by its imports, None if it reaches no layer."""
    ranks: set[int] = set()
    seen, waiting = {name}, [name]
    while waiting:
        own, files = _imported(waiting.pop())
        ranks |= own
        waiting += files - seen
        seen |= files
    return max(ranks, default=None)


def files_of_tests() -> list[str]:
    """The names of all files of tests."""
    return [name for name in _tests_and_shared_code() if name.rpartition(".")[2].startswith("test_")]


def affected_files(layer: str) -> list[str]:
    """The paths of the files of tests that a change of a layer can make fail."""
    lowest = RANK[layer]
    ranks = {name: highest_rank(name) for name in files_of_tests()}
    return [_tests_and_shared_code()[name].path for name, rank in ranks.items() if rank is None or rank >= lowest]


def main(words: list[str]) -> int:
    """Print the paths of the tests of the layer that is named, with `kmc.` or without."""
    known = [layer for word in words for layer in (word, f"kmc.{word}") if layer in RANK]
    if len(words) != 1 or not known:
        names = ", ".join(layer.removeprefix("kmc.") for layer in RANK)
        print(
            f"error: name one layer: make test-layer LAYER=shards\n  = help: the layers, lowest first: {names}",
            file=sys.stderr,
        )
        return 2
    print("\n".join(affected_files(known[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
