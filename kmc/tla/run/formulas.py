r"""Formulas that TLC enumerates, followed through names: operators, parameters, and the functions that are applied.

TLC keeps a function lazy where it is applied at once, and enumerates its body if the application is a conjunct. It has
computed a constant definition of a module before, unless its function is recursive or its domain is a set without a
list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    ExceptExpr,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    FunctionSetExpr,
    IfExpr,
    LambdaExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
    ProductExpr,
    QuantifiedExpr,
    RecordExpr,
    RecordSetExpr,
    RecursiveFunctionExpr,
    SetEnumerationExpr,
    TupleExpr,
)
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.scopes import LocalDefinition, RunScope, Substitute

_WITHOUT_LIST = ("SUBSET", "Seq", "Nat", "Int", "Real", "STRING")
_JOINED = ("\\union", "\\intersect", "\\")
Given = tuple[Argument, RunScope]
"""An argument, and the scope in which it was written."""


def resolved_operator(
    operator: OperatorDefinition | NameBinding | str, arguments: tuple[Argument, ...], scope: RunScope
) -> tuple[OperatorDefinition | NameBinding | str | tuple[LambdaExpr, RunScope], tuple[Given, ...], RunScope]:
    """Follow an operator parameter to the operator that is its argument, and return the scope to apply it in.

    That scope has the operator of a LET that was passed from where it is known.
    """
    given = tuple((argument, scope) for argument in arguments)
    where = scope
    while isinstance(operator, NameBinding):
        meaning = where.meanings[operator]
        if not isinstance(meaning, Substitute):
            return operator, given, scope
        argument, where = meaning.argument, meaning.scope
        if isinstance(argument, OperatorReferenceExpr):
            operator = argument.operator
        elif isinstance(argument, LambdaExpr):
            return (argument, where), given, scope
        else:
            return operator, given, scope
    local = where.locals.get(operator) if isinstance(operator, OperatorDefinition) else None
    if not isinstance(operator, OperatorDefinition) or local is None or operator in scope.locals:
        return operator, given, scope
    return operator, given, replace(scope, locals={**scope.locals, operator: local})


def home_of(definition: OperatorDefinition, scope: RunScope) -> RunScope:
    """Return the scope of the body of a definition without parameters."""
    local = scope.locals.get(definition)
    return local.scope.on(scope) if isinstance(local, LocalDefinition) else RunScope(scope.layout, scope.mode)


def is_unchanged(argument: Argument, parameter: NameBinding) -> bool:
    """Return whether an argument in the body of a definition is the parameter of that definition itself."""
    match argument:
        case BoundExpr(binding=binding):
            return binding is parameter
        case OperatorReferenceExpr(operator=operator):
            return operator is parameter
    return False


@dataclass(frozen=True, slots=True)
class Followed:
    """An expression behind names, its scope, and whether TLC computes one of the names when it starts."""

    node: Argument
    scope: RunScope
    is_computed: bool

    def is_value(self, compiler: NodeCompiler) -> bool:
        """Return whether a constructed function has been computed with all of its values."""
        if not self.is_computed or not isinstance(self.node, FunctionConstructorExpr):
            return False
        return not any(_is_without_list(compiler, bound.domain, self.scope) for bound in self.node.ranges)


def follow(compiler: NodeCompiler, node: Argument, scope: RunScope) -> Followed:
    """Follow definitions and substituted parameters to the expression that decides what the value is."""
    is_computed = False
    while True:
        if isinstance(node, BoundExpr):
            meaning = scope.meanings.get(node.binding)
            if not isinstance(meaning, Substitute):
                return Followed(node, scope, is_computed)
            node, scope = meaning.argument, meaning.scope.on(scope)
        elif isinstance(node, ApplyExpr):
            operator, arguments, scope = resolved_operator(node.operator, node.arguments, scope)
            if not isinstance(operator, OperatorDefinition) or operator.body is None or operator.recursive:
                return Followed(node, scope, is_computed)
            if not arguments and not operator.is_local and not compiler.level(node, scope):
                is_computed = True
            given = {name: Substitute(*item) for name, item in zip(operator.parameters, arguments, strict=True)}
            node, scope = operator.body, home_of(operator, scope).binding(dict(given))
        else:
            return Followed(node, scope, is_computed)


def _is_without_list(compiler: NodeCompiler, domain: Argument, scope: RunScope) -> bool:
    r"""Return whether TLC keeps a set as what it is made of, such as `SUBSET S`; a function over it stays lazy."""
    followed = follow(compiler, domain, scope)
    match followed.node:
        case FunctionSetExpr() | RecordSetExpr() | ProductExpr():
            return True
        case BuiltinExpr(operator=operator, arguments=arguments):
            if operator in _JOINED:
                return any(_is_without_list(compiler, argument, followed.scope) for argument in arguments)
            return operator in _WITHOUT_LIST
    return False


def is_branching_formula(compiler: NodeCompiler, node: Argument, scope: RunScope) -> bool:
    """Return whether a formula may have several ways to be true, behind names."""
    followed = follow(compiler, node, scope).node
    return not isinstance(followed, BoundExpr) and may_branch(followed)


def branching_function(compiler: NodeCompiler, node: Argument, scope: RunScope) -> bool:
    """Return whether a function that TLC keeps lazy may be one of formulas with several ways to be true."""
    followed = follow(compiler, node, scope)
    node, scope = followed.node, followed.scope
    parts: tuple[Argument, ...] = ()
    match node:
        case FunctionConstructorExpr(body=body) | RecursiveFunctionExpr(body=body):
            return not followed.is_value(compiler) and may_branch(body)
        case FunctionApplicationExpr(function=part) | ExceptExpr(function=part) | FieldAccessExpr(record=part):
            parts = (part,)
        case LetExpr(body=part) | ChooseExpr(body=part):
            parts = (part,)
        case IfExpr(then=then, otherwise=otherwise):
            parts = (then, otherwise)
        case CaseExpr(arms=arms, other=other):
            parts = (*(value for _, value in arms), *([other] if other is not None else []))
        case RecordExpr(fields=fields):
            parts = tuple(value for _, value in fields)
        case SetEnumerationExpr(items=items) | TupleExpr(items=items):
            parts = items
    return not followed.is_computed and any(branching_function(compiler, part, scope) for part in parts)


def may_branch(node: Argument, seen: frozenset[OperatorDefinition] = frozenset()) -> bool:
    r"""Return whether TLC may count several ways in which a formula is true, in the operators that it applies too.

    A parameter counts as a choice: what is passed for it may be a disjunction.
    """
    parts: list[Argument] = []
    match node:
        case DisjunctionExpr() | QuantifiedExpr(kind="\\E") | BoxActionExpr() | BoundExpr():
            return True
        case ApplyExpr(operator=OperatorDefinition(body=body) as operator):
            if body is None or operator in seen:
                return False
            return may_branch(body, seen | {operator})
        case ApplyExpr(operator=NameBinding()) | OperatorReferenceExpr() | LambdaExpr():
            return True
        case ConjunctionExpr():
            parts = [*node.items]
        case QuantifiedExpr() | LetExpr() | FunctionConstructorExpr() | RecursiveFunctionExpr():
            parts = [node.body]
        case FunctionApplicationExpr():
            return not isinstance(node.function, BoundExpr) and may_branch(node.function, seen)
        case AngleActionExpr():
            parts = [node.action]
        case IfExpr():
            parts = [node.then, node.otherwise]
        case CaseExpr():
            parts = [*(value for _, value in node.arms), *([node.other] if node.other is not None else [])]
        case (
            BuiltinExpr(operator="=>", arguments=(_, conclusion))
            | BuiltinExpr(operator="TLCEval", arguments=(conclusion,))
        ):
            parts = [conclusion]
    return any(may_branch(part, seen) for part in parts)
