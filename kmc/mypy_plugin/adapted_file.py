"""A spec in the form for mypy: the tree that mypy parsed, changed before mypy gives names a meaning.

As kmc's loader does (`kmc/frontend/rewrite.py`), literals become immutable values. Functions get the annotations that
the language implies: the state of an action is a State, a property returns a Bool, and the parameters and the result of
a helper may be anything. Every node keeps its place, so an error points at the author's text.
"""

from __future__ import annotations

from typing import Any

from mypy.exprtotype import expr_to_unanalyzed_type
from mypy.nodes import (
    ARG_POS,
    AssertStmt,
    AssignmentExpr,
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    ComparisonExpr,
    ConditionalExpr,
    Context,
    Decorator,
    DictExpr,
    DictionaryComprehension,
    EllipsisExpr,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    GeneratorExpr,
    IfStmt,
    ImportFrom,
    IndexExpr,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    OpExpr,
    ReturnStmt,
    SetComprehension,
    SetExpr,
    StarExpr,
    TupleExpr,
    UnaryExpr,
    YieldExpr,
    YieldFromExpr,
)
from mypy.options import Options

from kmc.mypy_plugin.implied_types import FIELD, STATE, STEPS, annotate, plain_types, returns_bool
from kmc.mypy_plugin.spec_files import is_spec, state_module

_PRIORITY = 10  # of an import that can be part of a cycle, as mypy.build.PRI_MED
_SET, _SEQ, _MAP, _RETURNED = "__kmc_set__", "__kmc_seq__", "__kmc_map__", "__kmc_returned__"
_OF_STATE, _OF_STEP = "__kmc_of_state__", "__kmc_of_step__"
_WORDS = {
    "_Steps": STEPS,
    "_Field": FIELD,
    "_set": _SET,
    "_seq": _SEQ,
    "_map": _MAP,
    "_empty_set": "__kmc_empty_set__",
    "_empty_seq": "__kmc_empty_seq__",
    "_empty_map": "__kmc_empty_map__",
    "returned": _RETURNED,
    "_OfState": _OF_STATE,
    "_OfStep": _OF_STEP,
}
# Words of formulas whose lambdas are of a state or a step; that of a quantifier is of a value.
_OPERATORS = frozenset(["always", "eventually", "always_eventually", "eventually_always", "leads_to", "and_", "or_"])
_OPERATORS |= frozenset(["not_", "implies", "iff", "enabled", "weak_fairness", "strong_fairness"])
_LITERALS: dict[type[Node], str] = {
    SetExpr: _SET,
    SetComprehension: _SET,
    ListExpr: _SEQ,
    ListComprehension: _SEQ,
    DictExpr: _MAP,
    DictionaryComprehension: _MAP,
}
# The fields of a node that hold statements and expressions, but for the targets of assignments and loops.
_PARTS: dict[type[Node], tuple[str, ...]] = {
    MypyFile: ("defs",),
    Block: ("body",),
    ClassDef: ("defs",),
    Decorator: ("func",),
    FuncDef: ("body",),
    AssertStmt: ("expr",),
    AssignmentExpr: ("value",),
    AssignmentStmt: ("rvalue",),
    CallExpr: ("callee", "args"),
    ComparisonExpr: ("operands",),
    ConditionalExpr: ("cond", "if_expr", "else_expr"),
    DictExpr: ("items",),
    DictionaryComprehension: ("key", "value", "sequences", "condlists"),
    ExpressionStmt: ("expr",),
    ForStmt: ("expr", "body", "else_body"),
    GeneratorExpr: ("left_expr", "sequences", "condlists"),
    IfStmt: ("expr", "body", "else_body"),
    IndexExpr: ("base", "index"),
    LambdaExpr: ("body",),
    ListComprehension: ("generator",),
    ListExpr: ("items",),
    MemberExpr: ("expr",),
    OperatorAssignmentStmt: ("rvalue",),
    OpExpr: ("left", "right"),
    ReturnStmt: ("expr",),
    SetComprehension: ("generator",),
    SetExpr: ("items",),
    StarExpr: ("expr",),
    TupleExpr: ("items",),
    UnaryExpr: ("expr",),
    YieldExpr: ("expr",),
    YieldFromExpr: ("expr",),
}


def adapt(file: MypyFile) -> list[tuple[int, str, int]]:
    """Change `file` if it is part of a spec; return the modules that it then imports, as mypy wants them: (priority,
    module, line).
    """
    if not is_spec(file):
        return []
    state = state_module(file)
    _Adapter(has_state=state is not None).adapted(file)
    _export_imports(file)
    imports = [_import("kmc.lang", list(_WORDS.items()))]
    if state is not None and not state.is_own:
        imports.append(_import(state.name, [("State", STATE)]))
    file.imports.extend(imports)
    file.defs[:0] = imports
    if state is not None and state.is_own:
        file.defs.append(_alias(STATE, "State"))
    return [(_PRIORITY, node.id, 1) for node in imports]


def _export_imports(file: MypyFile) -> None:
    """Let other files of the spec import what this one imports; strict mypy wants `import A as A` for that."""
    for node in (*file.imports, *file.defs):
        if isinstance(node, ImportFrom):
            node.names = [(name, alias or name) for name, alias in node.names]


def _import(module: str, names: list[tuple[str, str | None]]) -> ImportFrom:
    node = ImportFrom(module, 0, names)
    node.is_top_level = True
    node.set_line(1, 0)
    return node


def _alias(name: str, of: str) -> AssignmentStmt:
    node = AssignmentStmt([NameExpr(name)], NameExpr(of))
    node.set_line(1, 0)
    return node


class _Adapter:
    def __init__(self, *, has_state: bool) -> None:
        self._has_state = has_state

    def adapted(self, node: Any) -> Any:
        """`node` of the tree with everything below it adapted; a literal is wrapped in a call."""
        if isinstance(node, list):
            node[:] = [self.adapted(element) for element in node]
            return node
        if isinstance(node, tuple):
            return tuple(self.adapted(element) for element in node)
        if not isinstance(node, Node):
            return node
        for name in _PARTS.get(type(node), ()):
            setattr(node, name, self.adapted(getattr(node, name)))
        return self._replaced(node)

    def _replaced(self, node: Node) -> Node:
        match node:
            case Decorator(func=FuncDef() as function):
                annotate(function, node.original_decorators, has_state=self._has_state)
                if returns_bool(node.original_decorators):
                    _check_returns(function.body)
            case FuncDef() if not node.is_decorated:
                annotate(node, [], has_state=self._has_state)
            case AssignmentStmt(rvalue=CallExpr(callee=NameExpr(name="constant"), args=[_, domain, *_]) as call):
                if isinstance(domain, IndexExpr | OpExpr):
                    # An expression of these words has no type for mypy, the annotation that it would be has one.
                    written = plain_types(expr_to_unanalyzed_type(domain, Options()))
                    node.type = node.unanalyzed_type = written
                    call.args[1] = _ellipsis(domain)
            case AssignmentStmt() if node.unanalyzed_type is not None:
                node.type = node.unanalyzed_type = plain_types(node.unanalyzed_type)
            case CallExpr(callee=NameExpr(name="Int")):
                return _named("int", node)
            case CallExpr(callee=NameExpr(name=name)) if name in _OPERATORS and self._has_state:
                node.args = [_predicate(argument) for argument in node.args]
            case CallExpr(callee=NameExpr(name="set"), args=[]):
                node.callee = _named("__kmc_empty_set__", node.callee)
            case ListExpr(items=[]):
                return _empty("__kmc_empty_seq__", node)
            case DictExpr(items=[]):
                return _empty("__kmc_empty_map__", node)
            case CallExpr(callee=NameExpr(name="set")):
                node.callee = _named(_SET, node.callee)
            case _ if type(node) in _LITERALS and isinstance(node, Expression):
                return _call(_LITERALS[type(node)], node)
        return node


def _check_returns(block: Block) -> None:
    """Let mypy compare what is returned with bool, but not complain that an untyped helper returned it."""
    for statement in block.body:
        match statement:
            case ReturnStmt(expr=Expression() as value):
                statement.expr = _call(_RETURNED, value)
            case IfStmt():
                for inner in (*statement.body, *([statement.else_body] if statement.else_body else [])):
                    _check_returns(inner)


def _predicate(operand: Expression) -> Expression:
    """An operand of a formula; a lambda gets a State as the type of its parameter."""
    if not isinstance(operand, LambdaExpr):
        return operand
    word = IndexExpr(_named(_OF_STATE if len(operand.arguments) == 1 else _OF_STEP, operand), _named(STATE, operand))
    word.set_line(operand)
    call = CallExpr(word, [operand], [ARG_POS], [None])
    call.set_line(operand)
    return call


def _named(name: str, at: Context) -> NameExpr:
    node = NameExpr(name)
    node.set_line(at)
    return node


def _ellipsis(at: Context) -> EllipsisExpr:
    node = EllipsisExpr()
    node.set_line(at)
    return node


def _call(name: str, argument: Expression) -> CallExpr:
    node = CallExpr(_named(name, argument), [argument], [ARG_POS], [None])
    node.set_line(argument)
    return node


def _empty(name: str, at: Expression) -> CallExpr:
    """A literal without elements, for which mypy would require an annotation if it is assigned to a name."""
    node = CallExpr(_named(name, at), [], [], [])
    node.set_line(at)
    return node
