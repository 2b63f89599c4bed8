"""The front end's first look at a spec: is every construct in the language?

Runs on the AST of one file before anything is executed, so that a mistake that Python would accept silently (a mutated
field, an unused result) is an error at its line. It refuses constructs that a compiler could not accept, and those that
would make two engines differ. `flow` checks the paths through a function, and `names` the meaning of names.
"""

from __future__ import annotations

import ast
from copy import copy
from typing import NoReturn

from kmc.errors import SpecError, did_you_mean
from kmc.frontend.checks.advice import (
    BUILTINS,
    CONSTRUCTS,
    IMMUTABLE_HELP,
    IMPORT_ADVICE,
    OPERATORS,
    PYTHON_TYPES,
    advice_on_a_result,
)
from kmc.frontend.checks.flow import check_function, gives_states
from kmc.frontend.checks.late_names import check_late_names
from kmc.invariants.kinds import KINDS
from kmc.lang.recursion import calls_itself
from kmc.lang.tree import body_of, children, walk
from kmc.lang.words import FORMULAS, RUN_ONCE
from kmc.spec.places import span_of

DECORATORS = {
    "init": "bare",
    "action": "either",
    "receive": "call",
    **{kind.name: "bare" for kind in KINDS},
    "abstraction": "bare",
    "refines": "call",
    "majority": "bare",
    "liveness": "bare",
    "specification": "bare",
}
"""The decorators of `spec`, and whether they are written with arguments."""
_ACTION_OPTIONS = ("fair", "title", "next", "in_tla")
_CALLS = {
    "receive": ("a message type", 'write @spec.receive(VoteRequest) or @spec.receive(VoteRequest, s="dest")'),
    "refines": ("the name of a spec in quotes", 'write @spec.refines("voting") for the spec ../voting'),
}
"""The decorators that are written with arguments: what they need, and how they are written."""
_RENAMED_DECORATORS = {
    "transition_invariant": "action_property",
    "temporal": "liveness",
    "temporal_property": "liveness",
    "fairness": "specification",
}
"""The names of decorators elsewhere, and their names here."""

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


def check_module(tree: ast.Module, path: str) -> None:
    """Raise SpecError (KMC10x to KMC12x, KMC13x) at the first construct of `tree` that is outside the language."""
    checker = _Checker(path)
    for statement in tree.body:
        checker.module_statement(statement)


class _Checker:
    def __init__(self, path: str) -> None:
        self._path = path
        self._gives_states = False

    def _refuse(self, node: ast.AST, code: str, message: str, help_line: str | None = None) -> NoReturn:
        raise SpecError(code, message, span_of(node, self._path), help_line)

    def _refuse_construct(self, node: ast.AST) -> NoReturn:
        name, advice = CONSTRUCTS.get(type(node), (type(node).__name__.lower(), None))
        shown = f"'{name}'" if " " not in name else name
        self._refuse(node, "KMC101", f"{shown} is not in the spec language", advice)

    def module_statement(self, node: ast.stmt) -> None:
        if not isinstance(node, _MODULE_STATEMENTS):
            self._refuse_construct(node)
        match node:
            case ast.ImportFrom():
                self._import(node)
            case ast.FunctionDef():
                self._function(node)
            case ast.ClassDef():
                self._class(node)
            case _:
                self._assigned(node)
                for child in children(node):
                    self._expression(child, text_allowed=True)

    def _import(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module not in ("kmc.lang", "kmc.spec"):
            root = (node.module or "").partition(".")[0]
            advice = IMPORT_ADVICE.get(root, "import from kmc.lang, kmc.spec or .file")
            self._refuse(node, "KMC102", f"a spec cannot import from '{node.module}'", advice)
        if any(alias.name == "*" for alias in node.names):
            self._refuse(node, "KMC103", "import names one by one", "write from .types import State, Server")

    def _class(self, node: ast.ClassDef) -> None:
        if not node.bases:
            self._refuse(node, "KMC104", f"class {node.name} has no base", "derive from Record, Message or Enum")
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                self._refuse(statement, "KMC105", "types have no methods", "write a function outside of the class")
            if isinstance(statement, ast.AnnAssign):
                self._field(statement)
            for child in children(statement):
                self._expression(child, text_allowed=True)

    def _field(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        if node.value is not None:
            advice = "give every field a value where the record is made"
            self._refuse(node.value, "KMC135", "a field has no default value", advice)

    def _annotation(self, node: ast.expr) -> None:
        named = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(named, ast.Name) and named.id in PYTHON_TYPES:
            message = f"Python's {named.id} has no finite domain"
            self._refuse(node, "KMC152", message, PYTHON_TYPES[named.id])

    def _function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator)
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            self._refuse(node, "KMC106", "parameters are named one by one", "write def helper(st, server): ...")
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self._expression(default)
        for argument in (*arguments.args, *arguments.kwonlyargs):
            if argument.annotation is not None:
                self._annotation(argument.annotation)
        if node.returns is not None and calls_itself(node):
            self._annotation(node.returns)
        around, self._gives_states = self._gives_states, gives_states(node)
        for statement in body_of(node):
            self._statement(statement)
        self._gives_states = around
        check_function(node, self._refuse)
        check_late_names(node, self._refuse)

    def _decorator(self, decorator: ast.expr) -> None:
        # The place of a decorator begins at its @.
        node = ast.copy_location(copy(decorator), decorator)
        node.col_offset -= 1
        named = node.func if isinstance(node, ast.Call) else node
        if not (isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name)):
            self._refuse(node, "KMC138", "this is not a decorator of the spec language", did_you_mean("", DECORATORS))
        written = DECORATORS.get(named.attr)
        if written is None:
            message = f"there is no decorator '{named.attr}'"
            renamed = _RENAMED_DECORATORS.get(named.attr)
            advice = f"write @spec.{renamed}" if renamed else did_you_mean(named.attr, DECORATORS)
            self._refuse(node, "KMC138", message, advice)
        is_named = isinstance(node, ast.Call) and (named.attr != "refines" or _is_of_one_text(node))
        if written == "call" and not is_named:
            lacking, advice = _CALLS[named.attr]
            self._refuse(node, "KMC138", f"'{named.attr}' is used without {lacking}", advice)
        if written == "bare" and isinstance(node, ast.Call):
            advice = f"write @spec.{named.attr}"
            self._refuse(node, "KMC138", f"'{named.attr}' takes no arguments", advice)
        options = node.keywords if isinstance(node, ast.Call) and named.attr == "action" else []
        for keyword in options:
            if keyword.arg not in _ACTION_OPTIONS:
                advice = did_you_mean(str(keyword.arg), _ACTION_OPTIONS)
                self._refuse(keyword, "KMC138", f"an action has no option '{keyword.arg}'", advice)
        self._expression(decorator, text_allowed=True)

    def _statement(self, node: ast.stmt) -> None:
        if not isinstance(node, _FUNCTION_STATEMENTS):
            self._refuse_construct(node)
        self._assigned(node)
        match node:
            case ast.FunctionDef():
                if node.decorator_list:
                    advice = "declare actions and properties at the top level of a file"
                    self._refuse(
                        node.decorator_list[0], "KMC138", "a function inside of a function is a helper", advice
                    )
                self._function(node)
                return
            case ast.Expr(value=ast.Yield() | ast.YieldFrom() as value):
                self._yield(value)
                return
            case ast.Expr(value=value):
                self._statement_of_one_expression(node, value)
                return
            case ast.Assert(test=test, msg=msg):
                if isinstance(test, ast.Tuple):
                    self._refuse(test, "KMC189", "a tuple is not a Bool", 'write assert condition, "message"')
                self._expression(test)
                if msg is not None:
                    self._expression(msg, text_allowed=True)
                return
            case ast.For(orelse=orelse):
                if orelse:
                    self._refuse(node, "KMC107", "a choice has no else", "write the other case as its own choice")
        for child in children(node):
            if isinstance(child, ast.stmt):
                self._statement(child)
            else:
                self._expression(child)

    def _assigned(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    self._target(target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                self._target(target)
            case ast.For(target=target, iter=ast.Call(func=ast.Name())):
                self._target(target)
            case ast.For(target=target, iter=collection):
                self._bound_by_choice(target, collection)

    def _target(self, target: ast.expr) -> None:
        match target:
            case ast.Attribute(attr=attr):
                self._refuse(target, "KMC111", f"'{attr}' is changed in place", IMMUTABLE_HELP)
            case ast.Subscript():
                self._refuse(target, "KMC111", "an element is changed in place", IMMUTABLE_HELP)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self._target(element)

    def _bound_by_choice(self, target: ast.expr, collection: ast.expr) -> None:
        self._target(target)
        match target, collection:
            case (ast.Name(), _) | (_, ast.Call(func=ast.Attribute(attr="items" | "counts"))):
                return
            case _:
                message = "only the items of a map, the counts of a bag and what a helper yields are taken apart here"
                self._refuse(target, "KMC140", message, "bind one name: which member of a set is first has no meaning")

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        if node.value is None:
            self._refuse(node, "KMC119", "yield gives no state", "write yield st.set(...), or yield st for a stutter")
        if isinstance(node, ast.YieldFrom) and not isinstance(node.value, ast.Call):
            advice = "write for x in ...: yield st.set(...), or call a helper that yields"
            self._refuse(node, "KMC119", "yield from takes the call of a helper that yields", advice)
        self._expression(node.value)

    def _statement_of_one_expression(self, node: ast.stmt, value: ast.expr) -> None:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "require":
            for child in children(value):
                self._expression(child)
            return
        self._expression(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in BUILTINS:
            self._refuse(node, "KMC118", f"'{value.func.id}' is not in the spec language", BUILTINS[value.func.id])
        advice = advice_on_a_result(value, gives_states=self._gives_states)
        self._refuse(node, "KMC112", "the result of this expression is not used", advice)

    def _expression(self, node: ast.AST, *, text_allowed: bool = False) -> None:
        match node:
            case ast.Constant(value=value):
                self._constant(node, value, text_allowed)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if any(_makes_a_formula(operand) for operand in (left, *comparators)):
                    self._refuse(node, "KMC709", "formulas are not compared", "write iff(f, g), or not_(iff(f, g))")
                for operator, right in zip(ops, comparators, strict=True):
                    if isinstance(operator, ast.Is | ast.IsNot) and not _is_none(right):
                        self._refuse(node, "KMC116", "'is' compares identity", "write == or !=, or `is None`")
            case ast.Slice(step=None):
                pass  # s[a:b]
            case ast.Lambda() | ast.NamedExpr() | ast.Await() | ast.JoinedStr() | ast.Starred() | ast.Slice():
                self._refuse_construct(node)
            case ast.Yield() | ast.YieldFrom():
                self._refuse(node, "KMC119", "yield has no result", "write yield ... as a line of its own")
            case ast.Attribute(attr=attr) if attr.startswith("_"):
                self._refuse(node, "KMC158", f"'{attr}' is not in the spec language", "fields begin with a letter")
            case ast.BinOp(op=operator) | ast.UnaryOp(op=operator) if type(operator) in OPERATORS:
                shown, advice = OPERATORS[type(operator)]
                self._refuse(node, "KMC139", f"'{shown}' is not in the spec language", advice)
            case ast.Dict(keys=keys) if None in keys:
                self._refuse(
                    node, "KMC101", "'**' is not in the spec language", "write m.set(key, value) or m.add(...)"
                )
            case ast.GeneratorExp():
                advice = "write a set {... for ...} or a sequence [... for ...]"
                self._refuse(node, "KMC120", "a generator expression can be iterated only once", advice)
            case ast.SetComp() | ast.ListComp() | ast.DictComp():
                self._formulas_in(node)
            case ast.comprehension(target=target, iter=collection):
                self._bound_by_choice(target, collection)
            case ast.Call():
                self._call(node, text_allowed=text_allowed)
                return
        for child in children(node):
            self._expression(child, text_allowed=text_allowed)

    def _formulas_in(self, comprehension: ast.expr) -> None:
        """A formula keeps its lambdas, and a lambda of Python sees the last value of a name."""
        for node in walk(comprehension):
            if (
                isinstance(node, ast.Call)
                and _makes_a_formula(node)
                and any(isinstance(part, ast.Lambda) for part in children(node))
            ):
                message = "this formula would be made of the last value of the comprehension only"
                self._refuse(node, "KMC188", message, "write for_all(Server, lambda s: leads_to(...))")

    def _call(self, node: ast.Call, *, text_allowed: bool) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == "require" and isinstance(node.func, ast.Name):
            self._refuse(node, "KMC157", "require has no result", "write require(condition) as a line of its own")
        if name in ("bool", "int") and isinstance(node.func, ast.Name):
            advice = (
                "write the comparison: x > 0, len(s) > 0, x is not None" if name == "bool" else "write 1 if x else 0"
            )
            self._refuse(node, "KMC118", f"{name}(...) is not in the spec language", advice)
        for keyword in node.keywords:
            if keyword.arg is None:
                self._refuse(keyword.value, "KMC101", "'**' is not in the spec language", "name the arguments")
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(argument, ast.Lambda):
                self._expression(argument.body)
            elif isinstance(argument, ast.GeneratorExp) and name in RUN_ONCE:
                for child in children(argument):
                    self._expression(child)
            else:
                self._expression(argument, text_allowed=text_allowed)
        self._expression(node.func)

    def _constant(self, node: ast.AST, value: object, text_allowed: bool) -> None:
        if isinstance(value, str) and text_allowed:
            return
        if value is not None and type(value) not in (bool, int):
            kind = "text" if isinstance(value, str) else "fractional" if isinstance(value, float) else "such"
            self._refuse(node, "KMC117", f"the language has no {kind} values", "use an Enum, an Int or a Bool")


def _makes_a_formula(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORMULAS


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_of_one_text(node: ast.Call) -> bool:
    """Return whether the only argument of a call is a literal text."""
    match node:
        case ast.Call(args=[ast.Constant(value=str())], keywords=[]):
            return True
        case _:
            return False
