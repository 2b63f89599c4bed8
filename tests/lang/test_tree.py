"""The trees of the functions of a spec: which node a function was made of, and what readers of a tree ask."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kmc.frontend.shipped import find_spec_root
from kmc.lang.tree import (
    body_of,
    children,
    decorator_words,
    definition_of,
    expression_at,
    file_of,
    lambda_of,
    names_in,
    operation_of,
    own_nodes,
    stored,
    tree_of,
    walk,
    yields,
)

TWO_ON_A_LINE = "first, second = lambda x: x + 1, lambda x: x + 2\n"
NESTED = "made = lambda x: (lambda y: x + y)\n"
DECORATED = """\
def plain(function): return function

@plain
@plain
def action(st):
    \"\"\"What it does.\"\"\"
    yield st
"""


def loaded(folder: Path, text: str) -> tuple[Path, dict[str, Any]]:
    """A file with this text, and the names that it defines."""
    path = folder / "spec.py"
    path.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)  # its functions are those whose trees are asked for
    return path, names


def written(function: Callable[..., Any]) -> str:
    """The body of a lambda as it is written."""
    node = lambda_of(function)
    assert node is not None
    return ast.unparse(node.body)


def function_in(text: str) -> ast.FunctionDef:
    """The first function of a text."""
    return next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))


def test_a_lambda_is_distinguished_from_another_on_its_line(tmp_path: Path) -> None:
    _, names = loaded(tmp_path, TWO_ON_A_LINE)
    assert (written(names["first"]), written(names["second"])) == ("x + 1", "x + 2")


def test_a_lambda_is_distinguished_from_the_one_around_it(tmp_path: Path) -> None:
    _, names = loaded(tmp_path, NESTED)
    assert (written(names["made"]), written(names["made"](1))) == ("lambda y: x + y", "x + y")


def test_a_definition_is_found_by_its_first_decorator(tmp_path: Path) -> None:
    path, names = loaded(tmp_path, DECORATED)
    node = definition_of(names["action"])
    assert node is not None
    assert node.name == "action"
    assert file_of(node) == str(path)
    assert definition_of(lambda: 1) is None
    assert lambda_of(names["action"]) is None


@pytest.mark.parametrize("text", ["# a comment\n" + DECORATED, "def action(:\n", "\0", "# nothing is left\n"])
def test_a_function_whose_file_has_changed_has_no_tree(tmp_path: Path, text: str) -> None:
    path, names = loaded(tmp_path, DECORATED)
    assert definition_of(names["action"]) is not None
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert definition_of(names["action"]) is None


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"\xff\n")])
def test_a_file_that_cannot_be_read_has_no_tree(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    path, names = loaded(tmp_path, TWO_ON_A_LINE)
    assert tree_of(str(path)) is not None
    damage(path)
    assert tree_of(str(path)) is None
    assert lambda_of(names["first"]) is None


def test_the_tree_of_an_unchanged_file_is_one_object(tmp_path: Path) -> None:
    path, names = loaded(tmp_path, DECORATED)
    tree = tree_of(str(path))
    assert tree is tree_of(str(path))
    assert tree is not None
    assert definition_of(names["action"]) in tree.body


def test_the_parts_of_a_definition_are_those_that_readers_ask_for() -> None:
    function = function_in(
        "@spec.receive(M, s='dest')\n@spec.fair\ndef f(st):\n    '''A.'''\n    x, y = 1, 2\n    yield st"
    )
    assert decorator_words(function) == {"receive", "fair"}
    assert len(body_of(function)) == 2
    assert stored(function.body) == {"x", "y"}
    assert names_in(function.body[1]) == ["x", "y"]


def test_a_function_yields_only_by_its_own_nodes() -> None:
    outer = function_in("def f():\n    def g():\n        yield 1\n    return [z for z in g()]")
    assert not yields(outer)
    assert yields(next(n for n in own_nodes(outer.body) if isinstance(n, ast.FunctionDef)))
    assert stored(outer.body) == {"g"}


def test_a_change_in_place_is_an_operation_in_its_place(tmp_path: Path) -> None:
    path, _ = loaded(tmp_path, "n = 1\nn += 2\n")
    tree = tree_of(str(path))
    assert tree is not None
    change = tree.body[1]
    assert isinstance(change, ast.AugAssign)
    operation = operation_of(change)
    assert ast.unparse(operation) == "n + 2"
    assert {(node.lineno, file_of(node)) for node in (operation, operation.left)} == {(2, str(path))}
    made = expression_at("{x for x in xs}", change)
    assert {file_of(node) for node in ast.walk(made) if isinstance(node, ast.expr)} == {str(path)}


def test_nodes_are_those_of_python_in_its_order() -> None:
    for name in ("kraft", "kip_996"):
        for path in sorted(find_spec_root(name).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = walk(tree)
            assert nodes == list(ast.walk(tree))
            assert all(children(node) == list(ast.iter_child_nodes(node)) for node in nodes)
