"""The map of the tests is true: it names every folder, marker and target there is, and each folder has fast tests."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TypeGuard

import pytest
from support.source_tree import ROOT

TESTS = ROOT / "tests"
MAP = (TESTS / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WITHOUT_TESTS = {"support", "data"}
RUNNERS = ("-m pytest", "$(PYTEST", "-m attack")


def folders_in(folder: Path) -> set[str]:
    """The names of the folders that hold a file which is not a cache."""
    files = [path.relative_to(folder).parts for path in folder.rglob("*.*") if path.is_file()]
    return {parts[0] for parts in files if len(parts) > 1 and "__pycache__" not in parts}


FOLDERS = sorted(folders_in(TESTS) - WITHOUT_TESTS)
DIVIDED = sorted({path.parents[1].name for path in TESTS.glob("*/*/*.py")} - {"data"})


def marks_of(node: ast.FunctionDef | ast.ClassDef | ast.Module) -> set[str]:
    """The names of the marks that decorate a test, or stand in `pytestmark`."""
    if isinstance(node, ast.Module):
        texts = [ast.unparse(item.value) for item in node.body if isinstance(item, ast.Assign) and _is_mark(item)]
    else:
        texts = [ast.unparse(item) for item in node.decorator_list]
    return {name for text in texts for name in re.findall(r"pytest\.mark\.(\w+)", text) if "parametrize(" not in text}


def _is_mark(assignment: ast.Assign) -> bool:
    return ast.unparse(assignment.targets[0]) == "pytestmark"


def fast_tests(text: str) -> list[str]:
    """The tests of a file that `make test-fast` runs, as far as marks of whole tests say."""
    tree = ast.parse(text)
    if "slow" in marks_of(tree):
        return []
    found = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and "slow" not in marks_of(node):
            found += [f"{node.name}.{item.name}" for item in node.body if _is_fast(item)]
        elif _is_fast(node):
            found.append(node.name)
    return found


def _is_fast(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not marks_of(node) & {"slow"}


def test_the_map_has_a_row_for_every_folder_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)/` \|", MAP, re.MULTILINE)
    assert sorted(rows) == sorted(folders_in(TESTS))


def test_the_map_names_every_folder_of_data() -> None:
    (line,) = re.findall(r"^`data/` holds .*$", MAP, re.MULTILINE)
    assert sorted(set(re.findall(r"`(\w+)/`", line)) - {"data"}) == sorted(folders_in(TESTS / "data"))


@pytest.mark.parametrize("folder", DIVIDED)
def test_the_map_has_a_row_for_every_room_and_no_other(folder: str) -> None:
    rows = re.findall(rf"^\| `{folder}/(\w+)/` \|", MAP, re.MULTILINE)
    assert sorted(rows) == sorted(folders_in(TESTS / folder))


@pytest.mark.parametrize("folder", sorted(set(DIVIDED) - WITHOUT_TESTS))
def test_no_test_file_lies_beside_the_rooms_of_its_folder(folder: str) -> None:
    assert [path.name for path in (TESTS / folder).glob("test_*.py")] == []


def test_the_starting_points_in_support_exist() -> None:
    (paragraph,) = re.findall(r"The starting points: (.*?)\. A helper", MAP, re.DOTALL)
    named = re.findall(r"`([\w/]+)`(?= \(| and)", paragraph)
    assert len(named) > 8
    assert [name for name in named if not (TESTS / "support" / f"{name}.py").is_file()] == []


def test_the_map_names_every_marker() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    declared = {marker.partition(":")[0] for marker in options["markers"]}
    assert set(re.findall(r"^- `(\w+)`:", MAP, re.MULTILINE)) == declared | {"hypothesis"}


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make ([\w-]+)`", MAP))))
def test_a_target_that_the_map_names_exists(target: str) -> None:
    assert re.search(rf"^{target}:.*## ", MAKEFILE, re.MULTILINE)


def test_the_map_has_a_row_for_every_target_that_runs_tests() -> None:
    recipes = re.findall(r"^([\w-]+):.*##.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    running = {target for target, recipe in recipes if any(word in recipe for word in RUNNERS)}
    assert running == set(re.findall(r"^\| `make ([\w-]+)[^`]*` \|", MAP, re.MULTILINE))


def test_every_test_file_lies_in_a_folder() -> None:
    assert [path.name for path in TESTS.glob("test_*.py")] == []


def test_no_shared_code_is_collected_as_a_test() -> None:
    assert [path.name for name in WITHOUT_TESTS for path in (TESTS / name).rglob("test_*.py")] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_has_tests_that_are_fast(folder: str) -> None:
    assert any(fast_tests(path.read_text(encoding="utf-8")) for path in (TESTS / folder).rglob("test_*.py"))


MARKED = """
import pytest

@pytest.mark.slow
def test_a(): ...

@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_b(n): ...

def helper(): ...

class TestC:
    def test_d(self): ...

    @pytest.mark.slow
    def test_e(self): ...

@pytest.mark.slow
class TestF:
    def test_g(self): ...
"""


def test_a_test_is_fast_unless_it_its_class_or_its_file_is_marked() -> None:
    assert fast_tests(MARKED) == ["test_b", "TestC.test_d"]
    assert fast_tests("pytestmark = [pytest.mark.hypothesis, pytest.mark.slow]" + MARKED) == []
    assert fast_tests("pytestmark = pytest.mark.slow" + MARKED) == []
