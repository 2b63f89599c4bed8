"""Calls that a helper of a recursion writes several times: evaluated once, and handed to a helper of their own.

A helper is compiled into the code of its caller, so two calls of the next helper of a chain would double the code at
every level. A call is shared only below an expression that evaluates it in any case, since what is not evaluated may
fail, and only outside of loops and lambdas, whose names the other helper would not have.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_MARK, _VALUE = "level_mark_", "value_before"


@dataclass(frozen=True, slots=True)
class SharedCall:
    """A body that calls a helper with the value of a call, and the body of that helper, whose last parameter it is."""

    outer: str
    inner: str
    value: str = _VALUE


def shared_call(body: str, level: str, callee: str, helper: str, parameters: Collection[str]) -> SharedCall | None:
    """Return a body in which a call of `callee` is made once; None if none is certain to be made of several.

    `level` is the text in the names `callee` and `helper` that a number replaces. Both take the parameters of the body.
    """
    tree = ast.parse(body.replace(level, _MARK), mode="eval").body
    name = callee.replace(level, _MARK)
    calls = [node for node in ast.walk(tree) if _is_call(node, name) and _names(node) <= {name, *parameters}]
    texts = [ast.unparse(call) for call in calls]
    for text in dict.fromkeys(texts):
        whole = next((node for node in _outside_loops(tree) if texts.count(text) > 1 and _evaluates(node, text)), None)
        if isinstance(whole, ast.expr) and _count(whole, text) > 1:
            inner = ast.unparse(_Replacing(text, _VALUE).visit(ast.parse(ast.unparse(whole), mode="eval").body))
            given = f"{helper.replace(level, _MARK)}({', '.join([*parameters, text])})"
            outer = ast.unparse(_Replacing(ast.unparse(whole), given).visit(tree))
            return SharedCall(f"({outer})".replace(_MARK, level), f"({inner})".replace(_MARK, level))
    return None


def _outside_loops(node: ast.AST) -> Iterator[ast.AST]:
    """Enumerate a node and those inside of it, outer ones first, that are in no lambda and no loop."""
    yield node
    if not isinstance(node, ast.Lambda | ast.GeneratorExp | ast.SetComp | ast.ListComp | ast.DictComp):
        for child in ast.iter_child_nodes(node):
            yield from _outside_loops(child)


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _count(node: ast.AST, text: str) -> int:
    return sum(isinstance(part, ast.Call) and ast.unparse(part) == text for part in ast.walk(node))


def _evaluates(node: ast.AST, text: str) -> bool:
    """Return whether evaluating a node evaluates a call in any case."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _evaluates(test, text) or (_evaluates(body, text) and _evaluates(orelse, text))
        case ast.BoolOp(values=values):
            return _evaluates(values[0], text)
        case ast.Lambda():
            return False
        case ast.GeneratorExp() | ast.SetComp() | ast.ListComp() | ast.DictComp():
            return _evaluates(node.generators[0].iter, text)
        case ast.Call() if ast.unparse(node) == text:
            return True
        case ast.Compare(left=left, comparators=[right, *_]):
            return _evaluates(left, text) or _evaluates(right, text)
        case _:
            return any(_evaluates(child, text) for child in ast.iter_child_nodes(node))


class _Replacing(ast.NodeTransformer):
    """Replaces the expressions of a text by those of another one."""

    def __init__(self, text: str, other: str) -> None:
        self._text = text
        self._other = other

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and ast.unparse(node) == self._text:
            return ast.parse(self._other, mode="eval").body
        visited: ast.AST = super().visit(node)
        return visited
