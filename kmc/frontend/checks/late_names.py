"""Names that a function inside another function reads: each has its value before that function, and keeps it.

Python looks such a name up when the inner function is called, so it would read a value given later, in one branch
perhaps. Compiled code reads the value that the name had. Invariant: in a spec that passes, both are the same value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from kmc.frontend.checks.flow import Refuse
from kmc.lang.tree import children, parameters, walk

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp, ast.SetComp, ast.ListComp, ast.DictComp)


def check_late_names(function: ast.FunctionDef, refuse: Refuse) -> None:
    """Refuse (KMC123) a value for a name that a function defined above it, in `function`, reads."""
    bound = list(_bound(function.body))
    for inner in bound:
        if not isinstance(inner, ast.FunctionDef):
            continue
        read = _read_from_outside(inner)
        for node in bound:
            name = node.id if isinstance(node, ast.Name) else node.name
            if name in read and (node.lineno, node.col_offset) > (inner.lineno, inner.col_offset):
                advice = f"give this value another name, or pass '{name}' to '{inner.name}' as an argument"
                message = f"'{name}' gets a value after '{inner.name}', which reads it, was defined"
                refuse(node, "KMC123", message, advice)


def _bound(nodes: Iterable[ast.AST]) -> Iterator[ast.Name | ast.FunctionDef]:
    """The nodes that bind names in the scope of these nodes, in the order of the text."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.Name(ctx=ast.Store()):
                yield node
            case _ if not isinstance(node, _SCOPES):
                yield from _bound(children(node))


def _read_from_outside(function: ast.FunctionDef) -> set[str]:
    """The names that a function reads and does not bind; names of comprehensions inside it count as bound."""
    names = [node for node in walk(function) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for node in walk(function):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            own |= set(parameters(node.args))
    own |= {node.name for node in walk(function) if isinstance(node, ast.FunctionDef) and node is not function}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - own
