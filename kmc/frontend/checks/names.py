"""The meaning of the names of a spec: the declarations and imports of each file, before anything is executed.

Invariant: after `Names(...)`, every import leads to a declaration, imports have no cycle, and no name is declared twice
in a file. So each name has one meaning in its file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import kmc.lang
import kmc.spec
from kmc.errors import SpecError, did_you_mean
from kmc.frontend.modules import SpecFile, file_of
from kmc.lang.tree import walk
from kmc.spec.places import span_of

Declaration: TypeAlias = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign | ast.ImportFrom


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a name: its own name and the file that declares it, or one of the library's packages."""

    name: str
    module: str
    node: Declaration

    @property
    def is_ours(self) -> bool:
        """Whether it is a word of kmc.lang or kmc.spec."""
        return isinstance(self.node, ast.ImportFrom)


LIBRARY: Mapping[str, tuple[str, ...]] = {
    "kmc.lang": tuple(kmc.lang.__all__),
    "kmc.spec": tuple(kmc.spec.__all__),
}
"""The words that a spec imports from kmc."""


class Names:
    """The names of all files of a spec; raises SpecError (KMC125, KMC187, KMC194) when they are not sound."""

    def __init__(self, modules: Mapping[str, SpecFile]) -> None:
        self.modules = modules
        self._declared = {name: dict(self._declarations(module)) for name, module in modules.items()}
        for module in modules.values():
            for node in module.tree.body:
                if isinstance(node, ast.ImportFrom):
                    self._check_import(module, node)
        self._check_circles()

    def meaning(self, module: str, name: str) -> Meaning | None:
        """The meaning of `name` at the top level of a file, or None if it means nothing there."""
        node = self._declared[module].get(name)
        if not isinstance(node, ast.ImportFrom):
            return None if node is None else Meaning(name, module, node)
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        if node.level == 0:
            return Meaning(original, node.module or "", node)
        target = self._target(self.modules[module], node)
        return self.meaning(target, original) if target in self.modules else None

    def declared(self, module: str) -> Mapping[str, Declaration]:
        """The names that a file binds at its top level."""
        return self._declared[module]

    def imported_file(self, module: str, name: str) -> str | None:
        """The file that `name` is in a file that says `from . import name`, as an import names it: '.types'."""
        node = self._declared[module].get(name)
        if not (isinstance(node, ast.ImportFrom) and node.level and self.meaning(module, name) is None):
            return None
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        folder = self._target(self.modules[module], node)
        file = f"{folder}.{original}" if folder else original
        return self.modules[module].spelled(file) if file in self.modules else None

    def files_with(self, name: str) -> list[str]:
        """The files that declare `name` themselves."""
        return [
            module
            for module, names in self._declared.items()
            if name in names and not isinstance(names[name], ast.ImportFrom)
        ]

    def refuse(self, module: str, node: ast.AST, code: str, message: str, help_line: str | None) -> NoReturn:
        """Raise SpecError at `node` of a file."""
        raise SpecError(code, message, span_of(node, self.modules[module].path), help_line)

    def _declarations(self, module: SpecFile) -> Iterator[tuple[str, Declaration]]:
        first: dict[str, ast.AST] = {}
        for statement in module.tree.body:
            for name, node, place in _bound(statement):
                if name in first:
                    line = getattr(first[name], "lineno", 1)
                    message = f"'{name}' is declared twice in this file"
                    raise SpecError("KMC125", message, span_of(place, module.path), f"line {line} declares it too")
                first[name] = place
                yield name, node

    def _target(self, module: SpecFile, node: ast.ImportFrom) -> str:
        """The name of the file that a relative import names."""
        target = module.imported(node)
        if target is None:
            advice = "one dot for the file's own folder, one more for each folder around it"
            self.refuse(module.name, node, "KMC194", "these dots lead out of the folder that the spec lies in", advice)
        return target

    def _check_import(self, module: SpecFile, node: ast.ImportFrom) -> None:
        known: set[str]
        if node.level == 0:
            target, known = node.module or "", set(LIBRARY[node.module or ""])
        else:
            target = self._target(module, node)
            inside = {name for name in self.modules if name and name.rpartition(".")[0] == target}
            if target not in self.modules and not (inside and node.module is None):
                files = [module.spelled(name) for name in self.modules if name and name != module.name]
                advice = did_you_mean(module.spelled(target), files)
                self.refuse(module.name, node, "KMC194", f"this spec has no file '{file_of(target)}'", advice)
            known = set(self._declared.get(target, ())) | {name.rpartition(".")[2] for name in inside}
        for alias in node.names:
            if alias.name not in known:
                shown = f"'{target}'" if node.level == 0 else f"'{file_of(target)}'"
                advice = self._elsewhere(module.name, alias.name) or did_you_mean(alias.name, known)
                self.refuse(module.name, alias, "KMC194", f"{shown} has no '{alias.name}'", advice)

    def _elsewhere(self, module: str, name: str) -> str | None:
        for package, words in LIBRARY.items():
            if name in words:
                return f"write from {package} import {name}"
        files = self.files_with(name)
        return f"write from {self.modules[module].spelled(files[0])} import {name}" if files else None

    def suggestion(self, module: str, name: str, nearby: set[str]) -> str:
        """The help for a name that means nothing in a file; `nearby` are the names that mean something there."""
        elsewhere = self._elsewhere(module, name)
        if elsewhere is not None:
            return elsewhere
        known = {*nearby, *self._declared[module], *(word for words in LIBRARY.values() for word in words)}
        guess = did_you_mean(name, known)
        return guess if guess.startswith("did you") else "define it, or import it from a file of the spec"

    def _check_circles(self) -> None:
        edges = {
            name: [
                (self._target(module, node), node)
                for node in module.tree.body
                if isinstance(node, ast.ImportFrom) and node.level and node.module
            ]
            for name, module in self.modules.items()
        }
        done: set[str] = set()

        def visit(name: str, path: list[str]) -> None:
            for target, node in edges.get(name, ()):
                if target in path:
                    circle = [file_of(file) for file in [*path[path.index(target) :], target]]
                    advice = "move what both need into a file of its own"
                    self.refuse(name, node, "KMC187", f"files import each other: {' -> '.join(circle)}", advice)
                if target not in done:
                    visit(target, [*path, target])
            done.add(name)

        for name in self.modules:
            visit(name, [name])


def _bound(statement: ast.stmt) -> Iterator[tuple[str, Declaration, ast.AST]]:
    """The names that a statement at the top level binds, with the place of each."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, statement, statement
        case ast.ImportFrom(names=names):
            for alias in names:
                yield alias.asname or alias.name, statement, alias
        case ast.Assign() | ast.AnnAssign():
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                for node in walk(target):
                    if isinstance(node, ast.Name):
                        yield node.id, statement, node
