"""The front end's first look at a spec: is every construct in the language?

Runs on the AST before anything is executed, so that a mistake that Python would take silently (a mutated field, a
result thrown away, a loop whose outcome depends on the order of a set) is an error at its line. What is refused here
is what a compiler could not take, or what would make two engines differ.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import NoReturn

from kmc.errors import Span, SpecError, nearest

ALLOWED_BUILTINS = frozenset(
    ["abs", "all", "any", "isinstance", "len", "max", "min", "range", "set", "frozenset", "sum", "bool", "int"]
)
_ALLOWED_MODULES = ("kmc.lang", "kmc.spec")
_MODULE_STATEMENTS = (ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Expr)
_FUNCTION_STATEMENTS = (
    ast.Return,
    ast.If,
    ast.For,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Expr,
    ast.Assert,
    ast.Pass,
    ast.Continue,
    ast.FunctionDef,
)
_ADVICE: dict[type[ast.AST], str] = {
    ast.While: "write a quantifier: any(...), all(...), max(...), or a comprehension",
    ast.Try: "guard with if, or require(...)",
    ast.Raise: "write assert condition, which is a violation when false",
    ast.With: "a spec only computes values",
    ast.Import: "a spec imports from kmc.lang, kmc.spec and its own files: from .types import State",
    ast.Global: "pass the value as a parameter",
    ast.Nonlocal: "pass the value as a parameter",
    ast.Delete: "values are immutable; build the value you want",
    ast.Break: "choices have no order; put the condition into the guard",
    ast.Match: "write if isinstance(x, Shape) or if x.kind == Kind.A",
    ast.NamedExpr: "assign on a line of its own",
    ast.Await: "an action is a plain generator",
    ast.JoinedStr: "the language has no text; use an Enum",
    ast.Starred: "name the arguments",
    ast.Lambda: "pass a lambda directly to the function that applies it, or write a def",
}
_IMMUTABLE_HELP = "values are immutable: write st.set(field=value), m.set(key, value), log.append(x), s | {x}"


def check_module(tree: ast.Module, path: str) -> None:
    """Raise SpecError (KMC10x to KMC11x) at the first construct of `tree` that is outside the language."""
    checker = _Checker(path, {name for name in _bound_names(tree)})
    for statement in tree.body:
        checker.module_statement(statement)


def _bound_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


class _Checker:
    def __init__(self, path: str, bound: set[str]) -> None:
        self._path = path
        self._bound = bound

    def _refuse(self, node: ast.AST, code: str, message: str, help_line: str | None = None) -> NoReturn:
        raise SpecError(code, message, span_of(node, self._path), help_line)

    def _refuse_construct(self, node: ast.AST) -> NoReturn:
        name = type(node).__name__
        self._refuse(node, "KMC101", f"'{name.lower()}' is not in the spec language", _ADVICE.get(type(node)))

    def module_statement(self, node: ast.stmt) -> None:
        if not isinstance(node, _MODULE_STATEMENTS):
            self._refuse_construct(node)
        if isinstance(node, ast.ImportFrom):
            self._import(node)
        elif isinstance(node, ast.FunctionDef):
            self.function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        else:
            for child in ast.iter_child_nodes(node):
                self.expression(child, text_allowed=True)

    def _import(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module not in _ALLOWED_MODULES:
            self._refuse(
                node, "KMC102", f"a spec cannot import from '{node.module}'", "import from kmc.lang, kmc.spec or .file"
            )
        if any(alias.name == "*" for alias in node.names):
            self._refuse(node, "KMC103", "import names one by one", "write from .types import State, Server")

    def _class(self, node: ast.ClassDef) -> None:
        if not node.bases:
            self._refuse(node, "KMC104", f"class {node.name} has no base", "derive from Record, Message or Enum")
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                self._refuse(statement, "KMC105", "types have no methods", "write a function outside of the class")
            for child in ast.iter_child_nodes(statement):
                self.expression(child, text_allowed=True)

    def function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.expression(decorator, text_allowed=True)
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            self._refuse(node, "KMC106", "parameters are named one by one", "write def helper(st, server): ...")
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.expression(default)
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        for statement in body:
            self.statement(statement)
        for loop in (inner for inner in ast.walk(node) if isinstance(inner, ast.For)):
            self._loop(loop, node)

    def statement(self, node: ast.stmt) -> None:
        if not isinstance(node, _FUNCTION_STATEMENTS):
            self._refuse_construct(node)
        match node:
            case ast.FunctionDef():
                self.function(node)
                return
            case ast.Assign(targets=targets):
                for target in targets:
                    self._target(target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                self._target(target)
            case ast.Expr(value=value):
                self._expression_statement(node, value)
            case ast.Assert(test=test):
                self.expression(test)
                return
            case ast.For(target=target, orelse=orelse):
                self._target(target)
                if orelse:
                    self._refuse(node, "KMC107", "a choice has no else", "write the other case as its own choice")
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            else:
                self.expression(child)

    def _target(self, target: ast.expr) -> None:
        match target:
            case ast.Attribute(attr=attr):
                self._refuse(target, "KMC111", f"'{attr}' is changed in place", _IMMUTABLE_HELP)
            case ast.Subscript():
                self._refuse(target, "KMC111", "an element is changed in place", _IMMUTABLE_HELP)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self._target(element)

    def _expression_statement(self, node: ast.stmt, value: ast.expr) -> None:
        if isinstance(value, ast.Yield | ast.YieldFrom):
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "require":
            return
        self._refuse(node, "KMC112", "the result of this expression is thrown away", _IMMUTABLE_HELP)

    def _loop(self, loop: ast.For, function: ast.FunctionDef) -> None:
        inside = set(map(id, ast.walk(loop)))
        if not any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(loop)):
            self._refuse(
                loop, "KMC113", "this loop chooses nothing: it has no yield", "write a comprehension or a quantifier"
            )
        bound = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for other in ast.walk(function):
            if isinstance(other, ast.Name) and other.id in bound and id(other) not in inside and other.id != "_":
                if not self._in_another_loop(other, loop, function):
                    self._refuse(
                        other,
                        "KMC114",
                        f"'{other.id}' is bound in a loop and used outside of it, so it would depend on the order",
                        "give it another name, or use a quantifier: max(...), any(...), sum(...)",
                    )
        for inner in ast.walk(loop):
            if isinstance(inner, ast.AugAssign):
                self._refuse(
                    inner,
                    "KMC115",
                    "a loop cannot accumulate: choices have no order",
                    "write sum(...), max(...), count(...)",
                )

    def _in_another_loop(self, name: ast.Name, loop: ast.For, function: ast.FunctionDef) -> bool:
        """The same name, bound anew by a separate choice or comprehension."""
        for other in ast.walk(function):
            separate = isinstance(other, ast.For | ast.GeneratorExp | ast.SetComp | ast.ListComp | ast.DictComp)
            if separate and other is not loop and any(inner is name for inner in ast.walk(other)):
                stored = {n.id for n in ast.walk(other) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                if name.id in stored and not any(inner is loop for inner in ast.walk(other)):
                    return True
        return False

    def expression(self, node: ast.AST, *, text_allowed: bool = False) -> None:
        match node:
            case ast.Constant(value=value):
                self._constant(node, value, text_allowed)
            case ast.Name(id=name, ctx=ast.Load()):
                self._name(node, name)
            case ast.Compare(ops=ops, comparators=comparators):
                for operator, right in zip(ops, comparators, strict=True):
                    if isinstance(operator, ast.Is | ast.IsNot) and not _is_none(right):
                        self._refuse(node, "KMC116", "'is' compares identity", "write == or !=, or `is None`")
            case ast.Lambda() | ast.NamedExpr() | ast.Await() | ast.JoinedStr() | ast.Starred():
                self._refuse_construct(node)
            case ast.Call(args=args, keywords=keywords):
                for argument in (*args, *(keyword.value for keyword in keywords)):
                    self._argument(argument, text_allowed=text_allowed)
                self.expression(node.func)
                return
        for child in ast.iter_child_nodes(node):
            self.expression(child, text_allowed=text_allowed)

    def _argument(self, node: ast.expr, *, text_allowed: bool) -> None:
        if isinstance(node, ast.Lambda):
            self.expression(node.body)
        else:
            self.expression(node, text_allowed=text_allowed)

    def _constant(self, node: ast.AST, value: object, text_allowed: bool) -> None:
        if isinstance(value, str) and text_allowed:
            return
        if value is not None and type(value) not in (bool, int):
            kind = "text" if isinstance(value, str) else type(value).__name__
            self._refuse(node, "KMC117", f"the language has no {kind} values", "use an Enum, an Int or a Bool")

    def _name(self, node: ast.AST, name: str) -> None:
        if name in self._bound or name in ALLOWED_BUILTINS or not hasattr(builtins, name):
            return
        near = nearest(name, ALLOWED_BUILTINS)
        self._refuse(
            node,
            "KMC118",
            f"'{name}' is not in the spec language",
            f"did you mean '{near}'?" if near else f"Python's functions here: {', '.join(sorted(ALLOWED_BUILTINS))}",
        )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def span_of(node: ast.AST, path: str) -> Span:
    """The place of an AST node."""
    line = getattr(node, "lineno", 1)
    end_column = getattr(node, "end_col_offset", None)
    return Span(
        path,
        line,
        getattr(node, "col_offset", 0) + 1,
        getattr(node, "end_lineno", None),
        None if end_column is None else end_column + 1,
    )
