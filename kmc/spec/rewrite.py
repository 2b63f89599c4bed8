"""The meaning of literals and choices: small rewrites of a spec's AST before Python runs it.

`{a, b}`, `[a, b]` and `{k: v}`, with their comprehensions, become immutable sets, sequences and maps; the body of a
choosing `for`, and of a generator function, ends quietly when `require` fails in it. Nothing else changes, and every
node keeps its place, so that errors and tracebacks point at the author's text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from kmc.lang.guards import Disabled
from kmc.lang.maps import map_literal
from kmc.lang.seqs import in_order, seq_literal

INJECTED: dict[str, Any] = {
    "__kmc_set__": frozenset,
    "__kmc_seq__": seq_literal,
    "__kmc_map__": map_literal,
    "__kmc_in_order__": in_order,
    "__kmc_disabled__": Disabled,
}
"""Names that rewritten code uses; the loader puts them into each module of the spec."""


def rewritten(tree: ast.Module) -> ast.Module:
    """`tree` with the rewrites of the module docstring, ready to compile."""
    result: ast.Module = ast.fix_missing_locations(_Rewriter().visit(tree))
    return result


def _call(name: str, argument: ast.expr, at: ast.expr) -> ast.expr:
    function = ast.copy_location(ast.Name(name, ast.Load()), at)
    return ast.copy_location(ast.Call(function, [argument], []), at)


class _Rewriter(ast.NodeTransformer):
    def visit_Set(self, node: ast.Set) -> ast.expr:
        self.generic_visit(node)
        return _call("__kmc_set__", ast.copy_location(ast.Tuple(node.elts, ast.Load()), node), node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        self.generic_visit(node)
        return _call("__kmc_set__", ast.copy_location(ast.GeneratorExp(node.elt, node.generators), node), node)

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            return node
        return _call("__kmc_seq__", ast.copy_location(ast.Tuple(node.elts, ast.Load()), node), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        self.generic_visit(node)
        for generator in node.generators:
            generator.iter = _call("__kmc_in_order__", generator.iter, generator.iter)
        return _call("__kmc_seq__", ast.copy_location(ast.GeneratorExp(node.elt, node.generators), node), node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        self.generic_visit(node)
        pairs = [
            ast.copy_location(ast.Tuple([key, value], ast.Load()), node)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
        return _call("__kmc_map__", ast.copy_location(ast.Tuple(list[ast.expr](pairs), ast.Load()), node), node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        self.generic_visit(node)
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        return _call("__kmc_map__", ast.copy_location(ast.GeneratorExp(pair, node.generators), node), node)

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.body = [_guarded(node.body, node, ast.Continue())]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        yields = any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in _own_nodes(node))
        self.generic_visit(node)
        if yields:
            # A docstring is one only as the first statement of its function.
            documented = int(ast.get_docstring(node) is not None)
            node.body = [*node.body[:documented], _guarded(node.body[documented:], node, ast.Return(None))]
        return node


def _guarded(body: list[ast.stmt], at: ast.stmt, otherwise: ast.stmt) -> ast.stmt:
    kind = ast.copy_location(ast.Name("__kmc_disabled__", ast.Load()), at)
    handler = ast.copy_location(ast.ExceptHandler(kind, None, [ast.copy_location(otherwise, at)]), at)
    return ast.copy_location(ast.Try(body, [handler], [], []), at)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
