"""The tree of a spec: its files as Python's `ast` reads them, and the questions that all readers of that tree ask.

Invariant: no reader changes a tree that this module returns, since it is shared until the file changes; a reader that
rewrites nodes copies them first. Each node with a place also has its file (`file_of`), because a comprehension or a
lambda is often read in a function of another file.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

LAMBDA = "<lambda>"
"""The name of a lambda."""

MADE = "kmc_made"
"""The attribute of a function that kmc made from an author's function: its own definition."""

_Node = TypeVar("_Node", bound=ast.AST)


_FIELDS_WITH_NODES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Attribute: ("value", "ctx"),
    ast.Constant: (),
    ast.Name: ("ctx",),
    ast.arg: ("annotation",),
    ast.keyword: ("value",),
}
"""The fields of common nodes that hold nodes, for `children`; of other nodes it reads all fields."""


def children(node: ast.AST) -> list[ast.AST]:
    """Return what `ast.iter_child_nodes` yields, in a quarter of its time: loading a spec asks for 100,000 nodes."""
    found: list[ast.AST] = []
    for name in _FIELDS_WITH_NODES.get(type(node), node._fields):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """Return what `ast.walk` yields, in the same order: a node and all inside it."""
    found = [node]
    for inner in found:  # which grows meanwhile
        found += children(inner)
    return found


def tree_of(path: str) -> ast.Module | None:
    """Return the tree of a file as it is now; None if the file is gone, or not Python any more."""
    parsed = _parsed_file(path)
    return None if parsed is None else parsed.tree


def definition_of(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """Return the definition of a function; None for a lambda, or if its file no longer has it there."""
    made: ast.FunctionDef | None = getattr(function, MADE, None)
    if made is not None:
        return made
    code = function.__code__
    parsed = _parsed_file(code.co_filename)
    return None if parsed is None else parsed.definitions.get((code.co_firstlineno, code.co_name))


def lambda_of(function: Callable[..., Any]) -> ast.Lambda | None:
    """Return the source of a lambda; None for any other function, or if its file no longer has it there."""
    code = function.__code__
    parsed = _parsed_file(code.co_filename) if code.co_name == LAMBDA else None
    if parsed is None:
        return None
    ranges = [span for span in map(_Range.of, code.co_positions()) if span is not None]
    candidates = [
        node
        for node in parsed.lambdas.get(code.co_firstlineno, ())
        if all(_Range.of_node(node.body).holds(each) for each in ranges)
    ]
    # Of nested lambdas, the code of the outer one makes the inner one, which is more than the inner one's body.
    return max(candidates, key=lambda node: (node.lineno, node.col_offset), default=None)


@dataclass(frozen=True, slots=True)
class _ParsedFile:
    """The tree of a file with its functions by first line, decorators included, and name, and its lambdas by line."""

    tree: ast.Module
    definitions: dict[tuple[int, str], ast.FunctionDef]
    lambdas: dict[int, list[ast.Lambda]]


def _parsed_file(path: str) -> _ParsedFile | None:
    try:
        status = os.stat(path)  # a Path takes as long to make, and each call of a function asks
        return _parsed_version(path, (status.st_mtime_ns, status.st_size))
    except (OSError, SyntaxError, ValueError):  # a ValueError is of text that is not UTF-8, or has null characters
        return None


@lru_cache(maxsize=256)
def _parsed_version(path: str, version: tuple[int, int]) -> _ParsedFile:
    """Parse a file; `version` is its time and its size, so that a changed file is read again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the loader decides which mistakes are errors
        parsed = _ParsedFile(ast.parse(Path(path).read_text(encoding="utf-8"), path), {}, {})
    for node in walk(parsed.tree):
        if hasattr(node, "lineno"):  # other nodes are one object wherever they occur
            node.kmc_file = path  # type: ignore[attr-defined]  # read by `file_of` only
        match node:
            case ast.FunctionDef(name=name):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                parsed.definitions[first, name] = node
            case ast.Lambda():
                parsed.lambdas.setdefault(node.lineno, []).append(node)
    return parsed


@dataclass(frozen=True, slots=True)
class _Range:
    """A range of the text: from (line, column) to (line, column)."""

    start: tuple[int, int]
    end: tuple[int, int]

    @classmethod
    def of(cls, position: tuple[int | None, int | None, int | None, int | None]) -> _Range | None:
        """The range of an instruction; None where it has none of its own."""
        line, end_line, column, end_column = position
        if line is None or end_line is None or column is None or end_column is None or not end_column:
            return None
        return cls((line, column), (end_line, end_column))

    @classmethod
    def of_node(cls, node: ast.expr) -> _Range:
        """The range of an expression."""
        return cls((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0))

    def holds(self, other: _Range) -> bool:
        """Whether the other range is a part of this one."""
        return self.start <= other.start and other.end <= self.end


def file_of(node: ast.AST) -> str | None:
    """Return the file that contains a node, if the file was recorded in the node."""
    return getattr(node, "kmc_file", None)


def placed_like(made: _Node, written: ast.AST) -> _Node:
    """Give `made`, a new node, the place and the file of one that the author wrote."""
    file = file_of(written)
    if file is not None:
        made.kmc_file = file  # type: ignore[attr-defined]  # read by `file_of` only
    return ast.copy_location(made, written)


def expression_at(text: str, written: ast.AST) -> ast.expr:
    """The tree of an expression of kmc's own, all of it in the place of a node that the author wrote."""
    made = ast.parse(text, mode="eval").body
    for node in walk(made):
        placed_like(node, written)
    return made


def function_at(text: str, written: ast.AST) -> ast.FunctionDef:
    """The tree of a function of kmc's own, all of it in the place of a node that the author wrote."""
    (made,) = ast.parse(text).body
    assert isinstance(made, ast.FunctionDef), "the text is that of a function"
    for node in ast.walk(made):
        placed_like(node, written)
    return made


def parameters(arguments: ast.arguments) -> Iterator[str]:
    """The names of the parameters of a function or lambda."""
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield argument.arg


def decorator_words(function: ast.FunctionDef) -> set[str]:
    """The words of `spec` that a function is declared with."""
    named = [node.func if isinstance(node, ast.Call) else node for node in function.decorator_list]
    return {node.attr for node in named if isinstance(node, ast.Attribute)}


def body_of(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function without its docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """These nodes and all inside them, without those of functions inside."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting.extend(children(node))


@lru_cache(maxsize=1024)  # asked at every call of the function
def yields(function: ast.FunctionDef) -> bool:
    """Return whether the function is a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function.body))


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that these nodes bind in their own scope: not those of comprehensions and functions inside."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name):
                names.add(name)
                continue
            case ast.Lambda() | ast.GeneratorExp() | ast.SetComp() | ast.ListComp() | ast.DictComp():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
        waiting.extend(children(node))
    return names


def names_in(target: ast.AST) -> list[str]:
    """All names in a part of the tree, from the outside in, such as those that a target of a `for` binds."""
    return [node.id for node in walk(target) if isinstance(node, ast.Name)]


def operation_of(change: ast.AugAssign) -> ast.BinOp:
    """The operation whose value `name op= value` stores: `name op value`, in the same place."""
    assert isinstance(change.target, ast.Name), "a spec changes names only"
    reading = placed_like(ast.Name(change.target.id, ast.Load()), change.target)
    return placed_like(ast.BinOp(reading, change.op, change.value), change)
