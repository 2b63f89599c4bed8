"""Modules by name: found in folders, parsed once, and what each of them declares.

A module is looked for in the folder of the root module, then in the directories of the caller, then in those of the
environment variable TLA_PATH, and at last behind the root module in its file. Standard modules are never looked for, as
TLC replaces them wherever they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from kmc.errors import SpecError
from kmc.near_words import nearest
from kmc.tla.names.builtins import STANDARD_MODULES
from kmc.tla.names.community import with_replaced_operators
from kmc.tla.syntax.modules import parse_module, parse_module_file
from kmc.tla.syntax.tree import DeclarationSyntax, ModuleSyntax, NameSyntax

PATH_VARIABLE = "TLA_PATH"
_OWN_TEXTS = ("Bags",)
"""Standard modules that are read from a text of kmc."""


def library_folders(root: Path, library: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders in which the modules of a root module are looked for, in order."""
    named = [Path(text) for text in os.environ.get(PATH_VARIABLE, "").split(os.pathsep) if text]
    return tuple(dict.fromkeys((root.parent, *library, *named)))


class ModuleLibrary:
    """The modules of one root module, each parsed when it is first named."""

    def __init__(self, root: Path, library: Sequence[Path]) -> None:
        self._folders = library_folders(root, library)
        self._modules: dict[str, ModuleSyntax] = {}
        self._root_path = root
        self.files: list[str] = []
        self.root = self._read(root)
        if self.root.name != root.stem:
            message = f"the file '{root.name}' holds the module {self.root.name}"
            help_line = f"a file has the name of its module: rename the file to {self.root.name}.tla, or the module"
            raise SpecError("KMC005", message, self.root.place, help_line)
        self._modules[self.root.name] = self.root

    def module(self, name: NameSyntax) -> ModuleSyntax:
        """Return the module that is named at a place, KMC006 if there is none; not for modules that kmc implements."""
        known = self._modules.get(name.text)
        if known is None:
            known = self._modules[name.text] = self._load(name)
        return known

    def _load(self, name: NameSyntax) -> ModuleSyntax:
        if name.text in _OWN_TEXTS:
            resource = files("kmc.tla.names").joinpath("standard", f"{name.text}.tla")
            return parse_module(resource.read_text(encoding="utf-8"), str(resource))
        for folder in self._folders:
            path = folder / f"{name.text}.tla"
            if _is_file(path):
                module = self._read(path)
                if module.name == name.text:
                    return module
        behind = self._behind_root(name.text)
        if behind is not None:
            return behind
        near = nearest(name.text, (*STANDARD_MODULES, *_OWN_TEXTS, *self._names_in_folders()))
        hint = f"did you mean '{near}'?" if near is not None else "it is not a standard module"
        folders = ", ".join(str(folder) for folder in self._folders)
        help_line = f"{hint}; modules are looked for in {folders}; set {PATH_VARIABLE} to look in more folders"
        raise SpecError("KMC006", f"the module '{name.text}' was not found", name.place, help_line)

    def _behind_root(self, name: str) -> ModuleSyntax | None:
        """Return the module of a name in the file of the root module, found as TLC finds it; None if there is none."""
        lines = self._root_path.read_text(encoding="utf-8").splitlines()
        head = re.compile(rf"-----*\s*MODULE\s+{re.escape(name)}\s*----*")
        begins = [at for at, line in enumerate(lines) if head.fullmatch(line)]
        if not begins:
            return None
        end = next((at for at in range(begins[0], len(lines)) if lines[at].startswith("====")), len(lines) - 1)
        # Blank lines before it keep the numbers of its lines.
        return parse_module("\n" * begins[0] + "\n".join(lines[begins[0] : end + 1]), str(self._root_path))

    def _names_in_folders(self) -> Iterator[str]:
        for folder in self._folders:
            if folder.is_dir():
                yield from (path.stem for path in folder.glob("*.tla"))

    def _read(self, path: Path) -> ModuleSyntax:
        module = with_replaced_operators(parse_module_file(path), path)
        self.files.append(str(path))
        return module

    def is_builtin(self, name: str) -> bool:
        """Return whether kmc implements this module itself."""
        return name in STANDARD_MODULES

    def extended(self, module: ModuleSyntax) -> tuple[ModuleSyntax, ...]:
        """Return the modules with a text that a module extends, those that they extend included, low ones first."""
        found: dict[str, ModuleSyntax] = {}
        self._collect(module, found, ())
        return tuple(found.values())

    def _collect(self, module: ModuleSyntax, found: dict[str, ModuleSyntax], path: tuple[str, ...]) -> None:
        inner = {unit.name for unit in module.units if isinstance(unit, ModuleSyntax)}
        for name in module.extends:
            if name.text in (*path, module.name):
                cycle = " -> ".join((*path, module.name, name.text))
                message = f"the module '{name.text}' extends itself: {cycle}"
                raise SpecError("KMC007", message, name.place, "remove one of the EXTENDS")
            if not self.is_builtin(name.text) and name.text not in found and name.text not in inner:
                extended = self.module(name)
                self._collect(extended, found, (*path, module.name))
                found[name.text] = extended

    @staticmethod
    def builtins_below(names: Iterable[str]) -> frozenset[str]:
        """Return the modules of kmc among these names, and those that they extend."""
        found: set[str] = set()
        waiting = [name for name in names if name in STANDARD_MODULES]
        while waiting:
            name = waiting.pop()
            found.add(name)
            waiting += STANDARD_MODULES[name].extends
        return frozenset(found)

    def has_parameters(self, name: NameSyntax) -> bool:
        """Return whether a module that is named somewhere, or one that it extends, has constants or variables."""
        return bool(self.parameters(self.module(name)))

    def parameters(self, module: ModuleSyntax) -> frozenset[str]:
        """Return the constants and variables that a module and those that it extends declare."""
        return frozenset(
            name.name
            for part in (*self.extended(module), module)
            for unit in part.units
            if isinstance(unit, DeclarationSyntax) and unit.kind != "RECURSIVE"
            for name in unit.names
        )


def _is_file(path: Path) -> bool:
    """Return whether there is a file, False also for a name that the file system does not take."""
    try:
        return path.is_file()
    except OSError:
        return False
