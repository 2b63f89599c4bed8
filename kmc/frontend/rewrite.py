"""The meaning of literals, choices and conditions: small rewrites of a spec's AST before Python runs it.

`{a, b}`, `[a, b]` and `{k: v}`, with their comprehensions, become immutable sets, sequences and maps; the body of a
choosing `for`, and of a generator function, ends quietly when `require` fails in it; a condition that is not
obviously a Bool is checked to be one, and an operand of arithmetic is checked not to be one; a function without
parameters inside of another one is computed once. Nothing else changes, and every node keeps its place, so errors and
tracebacks point at the author's text.
"""

from __future__ import annotations

import ast
from typing import Any

from kmc.lang.guards import Disabled, number, truth, truths
from kmc.lang.maps import map_literal
from kmc.lang.numbers import power, remainder
from kmc.lang.once import once
from kmc.lang.recursion import RESULT, calls_itself, result_of
from kmc.lang.seqs import in_order, in_parts, seq_literal
from kmc.lang.tree import own_nodes, yields
from kmc.lang.types import as_type

INJECTED: dict[str, Any] = {
    "__kmc_set__": frozenset,
    "__kmc_seq__": seq_literal,
    "__kmc_map__": map_literal,
    "__kmc_in_order__": in_order,
    "__kmc_disabled__": Disabled,
    "__kmc_truth__": truth,
    "__kmc_truths__": truths,
    "__kmc_number__": number,
    "__kmc_parts__": in_parts,
    "__kmc_type__": as_type,
    "__kmc_once__": once,
    "__kmc_power__": power,
    "__kmc_remainder__": remainder,
    RESULT: result_of,
}
"""Names that rewritten code uses; the loader puts them into each module of the spec."""


def rewritten(tree: ast.Module) -> ast.Module:
    """`tree` with the rewrites of the module docstring, ready to compile."""
    result: ast.Module = _Rewriter().visit(tree)
    return result


def _call(name: str, argument: ast.expr, at: ast.expr) -> ast.Call:
    function = ast.copy_location(ast.Name(name, ast.Load()), at)
    return ast.copy_location(ast.Call(function, [argument], []), at)


_LARGE_POWER = 1 << 10
_QUANTIFIERS = frozenset(["any", "all", "count"])
_SUMS = frozenset(["sum", "product"])
_BOOLS = frozenset(["any", "all", "isinstance"])
_NUMBERS = frozenset(["len", "sum", "count", "product", "__kmc_power__", "__kmc_remainder__"])


def _calls(node: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _condition(node: ast.expr) -> ast.expr:
    """`node` as a condition: checked to be a Bool, unless its syntax shows that it is one."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return node
        case ast.IfExp():
            node.body, node.orelse = _condition(node.body), _condition(node.orelse)
            return node
        case _ if _calls(node, _BOOLS):
            return node
        case _:
            return _call("__kmc_truth__", node, node)


def _operand(node: ast.expr) -> ast.expr:
    """`node` as an operand of arithmetic: checked not to be a Bool, unless its syntax shows that it is not one."""
    match node:
        case ast.BinOp() | ast.Call(func=ast.Name(id="__kmc_number__")):
            return node
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return node
        case ast.UnaryOp(op=ast.USub()):
            return node
        case _ if _calls(node, _NUMBERS):
            return node
        case _:
            return _call("__kmc_number__", node, node)


_FUNCTION_OF: dict[type[ast.operator], str] = {ast.Pow: "__kmc_power__", ast.Mod: "__kmc_remainder__"}


def _is_positive(node: ast.expr) -> bool:
    """Return whether an operand is a positive number that is written out: then Python's operators are TLA+'s."""
    return isinstance(node, ast.Constant) and type(node.value) is int and 0 < node.value < _LARGE_POWER


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self._functions_around = 0

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

    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        node.test = _condition(node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        self.generic_visit(node)
        node.test = _condition(node.test)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        self.generic_visit(node)
        node.values = [_condition(value) for value in node.values]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.UnaryOp:
        self.generic_visit(node)
        node.operand = _condition(node.operand) if isinstance(node.op, ast.Not) else _operand(node.operand)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        function = _FUNCTION_OF.get(type(node.op))
        if function is not None and not _is_positive(node.right):
            name = ast.copy_location(ast.Name(function, ast.Load()), node)
            return ast.copy_location(ast.Call(name, [_operand(node.left), _operand(node.right)], []), node)
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod | ast.Pow):
            node.left, node.right = _operand(node.left), _operand(node.right)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        """A comparison with the literal 0 or 1 compares numbers; Python would also accept False and True."""
        self.generic_visit(node)
        match node:
            case ast.Compare(left=left, comparators=[ast.Constant(value=int(value))]) if not isinstance(value, bool):
                if value in (0, 1):
                    node.left = _operand(left)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self.generic_visit(node)
        node.test = _condition(node.test)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.ifs = [_condition(condition) for condition in node.ifs]
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if _calls(node, _SUMS) and node.args and isinstance(node.args[0], ast.GeneratorExp):
            node.args[0].elt = _operand(node.args[0].elt)
        if _calls(node, _QUANTIFIERS) and len(node.args) == 1:
            argument = node.args[0]
            if isinstance(argument, ast.GeneratorExp):
                argument.elt = _condition(argument.elt)
            else:
                node.args[0] = _call("__kmc_truths__", argument, argument)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """Only a tuple that a helper returns may be unpacked: a set has no first member."""
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Tuple | ast.List) and not isinstance(node.value, ast.Tuple):
            node.value = _call("__kmc_parts__", node.value, node.value)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign):
                _typed(statement, f"field '{ast.unparse(statement.target)}' of {node.name}")
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        is_guarded = not _only_chooses(node.body)
        self.generic_visit(node)
        match node:
            case ast.For(target=ast.Tuple() | ast.List() as target, iter=ast.Call(func=ast.Name())):
                node.target, apart = _taken_apart(target)
                node.body = [*apart, *node.body]
        if is_guarded:
            node.body = [_guarded(node.body, node, ast.Continue())]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for argument in (*node.args.args, *node.args.kwonlyargs):
            if argument.annotation is not None:
                _typed(argument, f"parameter '{argument.arg}' of {node.name}")
        is_generator = yields(node)
        if node.returns is not None and not self._functions_around and calls_itself(node):
            node.returns = _as_type(node.returns, f"the result of {node.name}")
            _check_results(node.body, node.name)
        self._functions_around += 1
        self.generic_visit(node)
        self._functions_around -= 1
        if self._functions_around and not is_generator and not node.args.args and not node.args.kwonlyargs:
            node.decorator_list.append(ast.copy_location(ast.Name("__kmc_once__", ast.Load()), node))
        if is_generator:
            # A docstring is one only as the first statement of its function.
            documented = int(ast.get_docstring(node) is not None)
            node.body = [*node.body[:documented], _guarded(node.body[documented:], node, ast.Return(None))]
        return node


def _taken_apart(target: ast.Tuple | ast.List, name: str = "__kmc_item__") -> tuple[ast.Name, list[ast.stmt]]:
    """A name for the values that a helper yields, and statements that take them apart, as deep as `target` does."""
    taken: list[ast.stmt] = []
    for position, inner in enumerate(target.elts):
        if isinstance(inner, ast.Tuple | ast.List):
            target.elts[position], further = _taken_apart(inner, f"{name}{position}")
            taken += further
    parts = _call("__kmc_parts__", ast.copy_location(ast.Name(name, ast.Load()), target), target)
    assigned = ast.copy_location(ast.Assign([target], parts), target)
    return ast.copy_location(ast.Name(name, ast.Store()), target), [assigned, *taken]


def _typed(annotated: ast.AnnAssign | ast.arg, what: str) -> None:
    """Read an annotation as a type where it is written, so that a mistake is reported there."""
    if annotated.annotation is not None:
        annotated.annotation = _as_type(annotated.annotation, what)


def _as_type(annotation: ast.expr, what: str) -> ast.expr:
    read = _call("__kmc_type__", annotation, annotation)
    read.args.append(ast.copy_location(ast.Constant(what), annotation))
    return read


def _check_results(body: list[ast.stmt], function: str) -> None:
    """Have each `return` of a function give a value of the declared type."""
    for node in own_nodes(body):
        if isinstance(node, ast.Return):
            value = node.value or ast.copy_location(ast.Constant(None), node)
            name, itself = (ast.copy_location(ast.Name(text, ast.Load()), value) for text in (RESULT, function))
            node.value = ast.copy_location(ast.Call(name, [itself, value], []), value)


def _only_chooses(body: list[ast.stmt]) -> bool:
    """Return whether the body of a choice is only another choice, from a collection that no `require` is part of.

    The inner choice ends quietly by itself. Python allows 20 blocks inside of each other, and each guard is one.
    """
    match body:
        case [ast.For(target=ast.Name(), iter=whole)]:
            return all(_is_written_out(part) for part in ast.walk(whole))
        case _:
            return False


def _is_written_out(node: ast.AST) -> bool:
    """Return whether a part of an expression calls nothing of the spec; a field of a record may be a function."""
    match node:
        case ast.Call(func=ast.Name(id="range" | "set")):
            return True
        case ast.Attribute(value=ast.Name(id=name)):
            return name[:1].isupper()
        case ast.Call() | ast.Attribute():
            return False
        case _:
            return True


def _guarded(body: list[ast.stmt], at: ast.stmt, otherwise: ast.stmt) -> ast.stmt:
    kind = ast.copy_location(ast.Name("__kmc_disabled__", ast.Load()), at)
    handler = ast.copy_location(ast.ExceptHandler(kind, None, [ast.copy_location(otherwise, at)]), at)
    return ast.copy_location(ast.Try(body, [handler], [], []), at)
