"""How the files of a spec name each other in imports, within the spec's folder and beside it."""

from __future__ import annotations

import ast

import pytest

from kmc.frontend.modules import SpecFile, file_of, is_shared, packages_of

FILES = {
    "the package": SpecFile("", "spec/__init__.py", ast.Module([], []), True),
    "a file": SpecFile("actions", "spec/actions.py", ast.Module([], []), False),
    "a shared file": SpecFile("/functions", "functions.py", ast.Module([], []), False),
    "a shared file in a folder": SpecFile("/logs.epochs", "logs/epochs.py", ast.Module([], []), False),
    "a shared folder": SpecFile("/logs", "logs/__init__.py", ast.Module([], []), True),
}
MODULES = ["", "types", "actions", "/functions", "/logs", "/logs.epochs", "/logs.deep.offsets"]


def imported(file: str, line: str) -> str | None:
    """The module that an import in a file names."""
    (node,) = ast.parse(line).body
    assert isinstance(node, ast.ImportFrom)
    return FILES[file].imported(node)


@pytest.mark.parametrize(
    ("file", "line", "module"),
    [
        ("the package", "from .types import A", "types"),
        ("the package", "from ..logs.epochs import A", "/logs.epochs"),
        ("the package", "from ...logs import A", None),
        ("a file", "from . import A", ""),
        ("a file", "from .types import A", "types"),
        ("a file", "from ..functions import A", "/functions"),
        ("a file", "from ...functions import A", None),
        ("a shared file", "from .logs.epochs import A", "/logs.epochs"),
        ("a shared file", "from ..logs import A", None),
        ("a shared file in a folder", "from . import A", "/logs"),
        ("a shared file in a folder", "from .offsets import A", "/logs.offsets"),
        ("a shared file in a folder", "from ..functions import A", "/functions"),
        ("a shared file in a folder", "from ...functions import A", None),
        ("a shared folder", "from .epochs import A", "/logs.epochs"),
    ],
)
def test_the_dots_of_an_import_mean_what_they_mean_in_python(file: str, line: str, module: str | None) -> None:
    assert imported(file, line) == module


@pytest.mark.parametrize(
    ("file", "module", "spelled"),
    [
        ("a file", "types", ".types"),
        ("a file", "/functions", "..functions"),
        ("a shared file in a folder", "/logs.offsets", ".offsets"),
        ("a shared file in a folder", "/functions", "..functions"),
        ("a shared folder", "/logs.epochs", ".epochs"),
    ],
)
def test_a_module_is_spelled_with_as_few_dots_as_will_do(file: str, module: str, spelled: str) -> None:
    assert FILES[file].spelled(module) == spelled


@pytest.mark.parametrize("file", ["the package", "a file"])
@pytest.mark.parametrize("module", MODULES)
def test_an_import_as_it_is_spelled_names_the_module(file: str, module: str) -> None:
    assert imported(file, f"from {FILES[file].spelled(module)} import A") == module


@pytest.mark.parametrize(
    ("module", "file", "shared", "packages"),
    [
        ("", "__init__.py", False, None),
        ("types", "types.py", False, None),
        ("/functions", "../functions.py", True, []),
        ("/logs.epochs", "../logs/epochs.py", True, ["/logs"]),
        ("/logs.deep.offsets", "../logs/deep/offsets.py", True, ["/logs", "/logs.deep"]),
    ],
)
def test_a_module_is_a_file_in_packages(module: str, file: str, shared: bool, packages: list[str] | None) -> None:
    assert (file_of(module), is_shared(module)) == (file, shared)
    assert packages is None or packages_of(module) == packages
