"""Reading the files of a spec: those of its folder except tests, and those beside it that they import.

Invariant: every file read is parsed and passed the checks of the language, alone and with the others, before any of
them is executed. Of the files beside the folder, only those are read that are imported, directly or through another
file.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kmc.errors import Span, SpecError, did_you_mean
from kmc.frontend.checks.subset import check_module
from kmc.frontend.checks.uses import check_uses
from kmc.frontend.modules import SHARED, SpecFile, is_shared, packages_of
from kmc.frontend.refined_specs import refined_names
from kmc.frontend.shipped import FOLDERS_MAX
from kmc.lang.tree import walk
from kmc.spec.declare import SpecFacade
from kmc.spec.places import span_of

_IMPORT_OF_SPEC = "from kmc.spec import spec"
_MAIN_MODULES = ("", "spec", "actions", "types")
_SYNTAX_HELP = "the mistake is here, or at the end of the line before"


@dataclass(frozen=True, slots=True)
class Source:
    """A checked file. Its tree is shared: nothing may change it.

    `meaning` is its text without comments and layout, and without `@spec.majority`, on which only explanations depend.
    """

    path: Path
    text: str
    module: SpecFile
    meaning: str


def read_sources(root: Path) -> dict[str, Source]:
    """The files of the spec at `root` by the names of their modules, its own first.

    Raises SpecError (exit 150) for a file that cannot be read, is not Python or breaks a rule of the language.
    """
    sources = {name: _source(name, path) for name, path in _own_files(root).items()}
    folder = root if root.is_dir() else root.parent
    _add_refined(sources, folder)
    _add_shared(sources, folder)
    _check_together(tuple(sources.values()))
    return sources


def read_doc(root: Path) -> str:
    """The description in the spec at `root`, read without checking or executing the spec; see `spec_doc`.

    Raises SpecError (exit 150) for a file that cannot be read or is not Python.
    """
    paths = _own_files(root)
    return spec_doc(paths, lambda name: _parsed(_text(paths[name]), str(paths[name])))


def spec_doc(names: Iterable[str], tree: Callable[[str], ast.Module]) -> str:
    """The docstring of the first module that has one; modules named as a spec's main module come before the others."""
    known = list(names)
    for name in dict.fromkeys([*(main for main in _MAIN_MODULES if main in known), *known]):
        doc = ast.get_docstring(tree(name))
        if doc:
            return doc
    return ""


def _own_files(root: Path) -> dict[str, Path]:
    """The files of the spec itself by the names of their modules."""
    if root.is_file():
        return {root.stem: root}
    paths = [path for path in _python_files(root) if not _is_test(path)]
    if not paths:
        raise SpecError("KMC191", f"{root} holds no spec: no .py file", help="give the folder of a spec, or its name")
    return {_module_name(path.relative_to(root)): path for path in paths}


def _python_files(root: Path) -> list[Path]:
    """List the Python files in a folder and below, sorted. Folders that vanish or cannot be read have none."""
    paths = []
    for ordinal, (folder, _, names) in enumerate(os.walk(root)):
        if ordinal > FOLDERS_MAX:
            message = f"{root} holds no spec: it has more than {FOLDERS_MAX:,} folders"
            raise SpecError("KMC191", message, help="give the folder of a spec, or its name")
        paths += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(paths)


def _is_test(path: Path) -> bool:
    """Whether pytest owns a file: the tests of a spec may lie in its folder."""
    return path.name == "conftest.py" or path.name.startswith("test_") or path.name.endswith("_test.py")


def _module_name(relative: Path) -> str:
    parts = list(relative.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _source(name: str, path: Path) -> Source:
    return _checked(name, path, _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError("KMC192", f"{path} cannot be read: {error}") from None


# A process that loads a spec for several models checks each text once.
@lru_cache(maxsize=256)
def _checked(name: str, path: Path, text: str) -> Source:
    tree = _parsed(text, str(path))
    check_module(tree, str(path))
    return Source(path, text, SpecFile(name, str(path), tree, path.name == "__init__.py"), _meaning(tree))


def _meaning(tree: ast.Module) -> str:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not any(_is_majority(decorator) for function in functions for decorator in function.decorator_list):
        return ast.dump(tree)
    whole = deepcopy(tree)
    for node in whole.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [each for each in node.decorator_list if not _is_majority(each)]
    if not any(isinstance(node, ast.Name) and node.id == "spec" for node in walk(whole)):
        whole.body = [node for node in whole.body if ast.unparse(node) != _IMPORT_OF_SPEC]
    return ast.dump(whole)


def _is_majority(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Attribute) and ast.unparse(decorator) == "spec.majority"


@lru_cache(maxsize=64)
def _check_together(sources: tuple[Source, ...]) -> None:
    check_uses({source.module.name: source.module for source in sources}, SpecFacade)


def _parsed(text: str, path: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # Python's warnings are about constructs that the checks of the language refuse, or about backslashes in
            # docstrings.
            warnings.simplefilter("ignore")
            tree = ast.parse(text, path)
            # Some mistakes show only here, as a `return` outside of a function.
            compile(tree, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        end_column = error.end_offset if error.end_offset and error.end_lineno == line else 0
        place = Span(path, line, column, line, max(end_column, column + 1))
        raise SpecError("KMC193", f"Python cannot read this: {error.msg}", place, help=_SYNTAX_HELP) from None
    except ValueError as error:
        raise SpecError("KMC193", f"Python cannot read this: {error}", Span(path, 1), help=_SYNTAX_HELP) from None
    return tree


def _add_refined(sources: dict[str, Source], folder: Path) -> None:
    """Read the files of the specs beside the spec's folder that its own files say it refines."""
    beside = _Beside(folder)
    for module in [source.module for source in sources.values()]:
        for abstract, node in refined_names(module.tree):
            for name, path in beside.spec_files(abstract, module, node):
                sources[name] = _source(name, path)


def _add_shared(sources: dict[str, Source], folder: Path) -> None:
    """Read the files beside the spec's folder that the sources import, directly or through another file."""
    beside = _Beside(folder)
    pending = list(sources.values())
    for source in pending:
        for node in source.module.tree.body:
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            target = source.module.imported(node)
            if target is None or not is_shared(target) or target in sources:
                continue
            for name, path in beside.files(target, source.module, node):
                if name not in sources:
                    sources[name] = _source(name, path)
                    pending.append(sources[name])


class _Beside:
    """The files beside a spec's folder."""

    def __init__(self, folder: Path) -> None:
        self._own = folder.resolve().name
        self._home = folder.parent if folder.name not in ("", "..") else folder.resolve().parent

    def files(self, target: str, module: SpecFile, node: ast.ImportFrom) -> list[tuple[str, Path]]:
        """The file of a shared module, after those of its packages that have one."""
        place = span_of(node, module.path)
        if node.module is None:
            raise SpecError("KMC194", "this names no file", place, "write from ..file import name, or from .file")
        if target[1:].split(".")[0] == self._own:
            message = "a shared file belongs to no spec" if is_shared(module.name) else "this is the spec itself"
            raise SpecError("KMC194", message, place, "leave out the name of the folder, or share what both need")
        path = self._file(target)
        if path is None:
            shown = f"there is no '{target[1:].replace('.', '/')}.py' beside the spec's folder"
            near = did_you_mean(target[1:], self._modules())
            raise SpecError("KMC194", shown, place, near)
        around = [(name, self._file(name)) for name in packages_of(target)]
        return [*((name, init) for name, init in around if init is not None), (target, path)]

    def spec_files(self, abstract: str, module: SpecFile, node: ast.AST) -> list[tuple[str, Path]]:
        """All files of a spec, which is one file or a folder, by the names of their modules."""
        path = self._home.joinpath(*abstract.split("."))
        root = path if path.is_dir() else path.with_name(f"{path.name}.py")
        if abstract.split(".")[0] == self._own or not root.exists():
            message = f"there is no spec '{abstract}' beside the spec's folder"
            near = did_you_mean(abstract, [name for name in self._modules() if name.split(".")[0] != self._own])
            raise SpecError("KMC722", message, span_of(node, module.path), near)
        own = _own_files(root) if root.is_dir() else {"": root}
        return [(f"{SHARED}{abstract}{'.' * bool(name)}{name}", file) for name, file in own.items()]

    def _file(self, name: str) -> Path | None:
        path = self._home.joinpath(*(part for part in name[1:].split(".") if part))
        for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
            if file.is_file():
                return file
        return None

    def _modules(self) -> list[str]:
        """The modules beside the folder, one level deep. Other specs and tests among them are harmless."""
        files = [*self._home.glob("*.py"), *self._home.glob("*/*.py")]
        return sorted(_module_name(file.relative_to(self._home)) for file in files)
