"""The syntax trees of functions that are translated, from the files that they were imported from.

Invariant: a tree is that of the function's own code. Each file is compiled again, and the code must be equal: a file
that was edited after its import gives no tree, unless its text was kept before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType

_texts: dict[str, bytes] = {}


def keep_text(path: str, text: bytes) -> None:
    """Keep the text of a file, for the trees of its functions even if it is edited later."""
    _texts.setdefault(path, text)


def syntax_of(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function; TypeError if its file has other code by now."""
    code = function.__code__
    known, tree = _functions_in(code.co_filename).get((code.co_name, code.co_firstlineno), (None, None))
    if tree is None or known != code:
        raise TypeError(f"{code.co_filename}:{code.co_firstlineno}: the file has other code than {code.co_name}")
    return tree


@cache
def _functions_in(path: str) -> dict[tuple[str, int], tuple[CodeType, ast.FunctionDef]]:
    """The functions in a file by name and first line, with their code and their trees."""
    text = _texts.get(path)
    if text is None:
        with open(path, "rb") as file:
            text = file.read()
    tree = ast.parse(text, path)
    codes = {(code.co_name, code.co_firstlineno): code for code in _codes_in(compile(tree, path, "exec"))}
    trees = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {key: (codes[key], node) for node in trees if (key := (node.name, _first_line(node))) in codes}


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes_in(inner)


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
