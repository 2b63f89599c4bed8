"""The kinds of a spec's expressions, function by function, in every context that a function is called in.

A branch that is dead in a context is not looked into: after `isinstance(m, Vote)`, after `x is not None`, behind a
constant. Invariant: code that no value reaches gives no error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from kmc.compiler.checks.kinds.kind import (
    ANYTHING,
    NONE,
    NOTHING,
    Kind,
    Kinds,
    any_of,
    elements,
    in_words,
    of_type,
    truth_of,
)
from kmc.compiler.checks.kinds.kind_mistakes import attempted, not_a_condition, refuse
from kmc.compiler.values.scope import scope_of, syntax
from kmc.errors import EvaluationError
from kmc.lang.recursion import result_type
from kmc.lang.tree import operation_of
from kmc.lang.types import RecordMeta


@dataclass(frozen=True, slots=True)
class Giving:
    """A declared function that yields states: an action, or the `initial` states."""

    title: str
    initial: bool


@dataclass(slots=True)
class Frame:
    """One function in one context: its file, and the kinds that it returns; `giving` if it yields states."""

    globals: dict[str, Any]
    path: str
    giving: Giving | None
    returns: list[Kinds] = field(default_factory=list)
    yields: list[Kinds] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LocalKinds:
    """The kinds of local names at one place of a function."""

    frame: Frame
    names: dict[str, Kinds]

    def child(self, **names: Kinds) -> LocalKinds:
        """A scope that starts with these names; changes do not come back."""
        return LocalKinds(self.frame, {**self.names, **names})


@dataclass(frozen=True, slots=True)
class Given:
    """The kinds that a function returns and yields in one context."""

    returns: Kinds
    yields: Kinds


Tested: TypeAlias = "tuple[bool | None, LocalKinds, LocalKinds]"
"""Whether a condition is always true or always false, and the kinds of names where it holds and where it fails."""


class Evaluate(Protocol):
    """The type of `kinds_of_expressions.evaluate`."""

    def __call__(self, inference: Inference, node: ast.expr, scope: LocalKinds) -> Kinds: ...


@dataclass(slots=True)
class Inference:
    """The kinds inferred for one model so far; `always` records for each comparison whether its result may vary."""

    state: RecordMeta
    expression: Evaluate
    always: dict[tuple[str, int, int], str | None] = field(default_factory=dict)
    _known: dict[object, Given] = field(default_factory=dict)
    _active: list[Callable[..., Any]] = field(default_factory=list)

    def evaluate(self, node: ast.expr, scope: LocalKinds) -> Kinds:
        """The kinds of an expression. Raises SpecError if it fails for all of them."""
        return self.expression(self, node, scope)

    def refuse(self, error: EvaluationError | None, node: ast.AST, scope: LocalKinds) -> None:
        """Raise the error, if there is one, at its place."""
        if error is not None:
            refuse(error, node, scope.frame.path)

    def called(self, function: Callable[..., Any], given: dict[str, Kinds], giving: Giving | None = None) -> Given:
        """The kinds that a function returns for arguments of these kinds; `giving` is the purpose for which it yields
        states.
        """
        key = function, frozenset(given.items()), giving
        declared = result_type(function)
        if declared is not None and function in self._active:
            return Given(of_type(declared), NOTHING)
        if key not in self._known:
            self._active.append(function)
            home, node = scope_of(function), syntax(function)
            frame = Frame(home.globals, function.__code__.co_filename, giving)
            unknown = {argument.arg: ANYTHING for argument in (*node.args.args, *node.args.kwonlyargs)}
            scope = LocalKinds(frame, {**dict.fromkeys(home.locals), **unknown, **given})
            if isinstance(node, ast.Lambda):
                frame.returns.append(self.evaluate(node.body, scope))
            else:
                self.statements(node.body, scope)
            self._active.pop()
            returns = any_of(frame.returns) if declared is None else of_type(declared)
            self._known[key] = Given(returns, any_of(frame.yields))
        return self._known[key]

    def statements(self, body: Iterable[ast.stmt], scope: LocalKinds) -> bool:
        """Look through statements; False if control never falls off their end."""
        return all(self._statement(node, scope) for node in body)

    def _statement(self, node: ast.stmt, scope: LocalKinds) -> bool:
        match node:
            case ast.Return(value=value):
                scope.frame.returns.append(NONE if value is None else self.evaluate(value, scope))
                return False
            case ast.Continue():
                return False
            case ast.If():
                return self._if(node, scope)
            case ast.Assign(targets=targets, value=value):
                kinds = self.evaluate(value, scope)
                for target in targets:
                    self.bind(target, kinds, scope)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.bind(target, self.evaluate(value, scope), scope)
            case ast.AugAssign(target=ast.Name(id=name)):
                scope.names[name] = self.evaluate(operation_of(node), scope)
            case ast.Expr(value=ast.Yield(value=value)) if value is not None:
                self._yield(value, scope)
            case ast.Expr(value=ast.YieldFrom(value=ast.Call() as call)):
                scope.frame.yields.append(elements(self._delegated(call, scope)))
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])):
                truth, holding, _ = self.condition(condition, scope)
                scope.names.update(holding.names)
                return truth is not False
            case ast.Assert(test=test):
                scope.names.update(self.condition(test, scope)[1].names)
            case ast.For(target=target, iter=whole, body=body):
                inner = scope.child()
                self.bind(target, self.members(whole, scope), inner)
                self.statements(body, inner)
            case ast.FunctionDef(name=name):
                scope.names[name] = ANYTHING
            case _:
                pass
        return True

    def _if(self, node: ast.If, scope: LocalKinds) -> bool:
        truth, holding, failing = self.condition(node.test, scope)
        ends = []
        branches = (truth is not False, node.body, holding), (truth is not True, node.orelse, failing)
        for reached, body, inner in branches:
            if reached and self.statements(body, inner):
                ends.append(inner.names)
        if not ends:
            return False
        names = {name for end in ends for name in end}
        scope.names.update({name: any_of(end[name] for end in ends if name in end) for name in names})
        return True

    def bind(self, target: ast.expr, kinds: Kinds, scope: LocalKinds) -> None:
        """Give names the kinds of a value."""
        match target:
            case ast.Name(id=name):
                scope.names[name] = kinds
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                items = [kind.parts for kind in kinds or ()]
                fits = bool(items) and all(len(item) == len(targets) for item in items)
                of_tuples = fits and all(kind.word == "tuple" for kind in kinds or ())
                for position, inner in enumerate(targets):
                    self.bind(inner, any_of(item[position] for item in items) if of_tuples else ANYTHING, scope)

    def members(self, whole: ast.expr, scope: LocalKinds) -> Kinds:
        """The kinds of the elements that an expression iterates over."""
        kinds = self.evaluate(whole, scope)
        self.refuse(attempted(iter, kinds), whole, scope)
        return elements(kinds)

    def _yield(self, value: ast.expr, scope: LocalKinds) -> None:
        kinds = self.evaluate(value, scope)
        giving = scope.frame.giving
        if giving is not None and kinds and not any(kind.of is self.state for kind in kinds):
            message = f"{giving.title} yields {in_words(kinds)}, not a {self.state.__name__}"
            if giving.initial:
                self.refuse(EvaluationError("KMC272", message, help="write yield State(...)"), value, scope)
            advice = "yield the whole next state: yield st.set(...)"
            self.refuse(EvaluationError("KMC251", message, help=advice), value, scope)
        scope.frame.yields.append(kinds)

    def _delegated(self, call: ast.Call, scope: LocalKinds) -> Kinds:
        inner = LocalKinds(scope.frame, {**scope.names, YIELDED_FOR: ANYTHING})
        return self.evaluate(call, inner)

    def condition(self, node: ast.expr, scope: LocalKinds) -> Tested:
        """Whether a condition is always true or always false, and the kinds of names where it holds and fails."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth, holding, failing = self.condition(operand, scope)
                return None if truth is None else not truth, failing, holding
            case ast.BoolOp(op=op, values=values):
                return self._connected(isinstance(op, ast.And), values, scope)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op]) if name in scope.names:
                truth, holding, failing = _divided(scope, name, lambda kind: kind.word == "None")
                if isinstance(op, ast.Is):
                    return truth, holding, failing
                return None if truth is None else not truth, failing, holding
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), _]) if name in scope.names:
                return self._isinstance(node, name, scope)
        kinds = self.evaluate(node, scope)
        self.refuse(not_a_condition(kinds, node), node, scope)
        return truth_of(kinds), scope.child(), scope.child()

    def _connected(self, conjunction: bool, values: list[ast.expr], scope: LocalKinds) -> Tested:
        """`and` and `or`: a later operand is only evaluated if the earlier ones hold, or fail."""
        certain: bool | None = conjunction
        inner = scope
        for value in values:
            truth, holding, failing = self.condition(value, inner)
            inner = holding if conjunction else failing
            if truth is (not conjunction):
                certain = truth
                break
            if truth is None:
                certain = None
        return (certain, inner, scope.child()) if conjunction else (certain, scope.child(), inner)

    def _isinstance(self, node: ast.Call, name: str, scope: LocalKinds) -> Tested:
        cls = scope.frame.globals.get(node.args[1].id) if isinstance(node.args[1], ast.Name) else None
        if not isinstance(cls, type):
            return None, scope.child(), scope.child()
        return _divided(scope, name, lambda kind: kind.word in ("record", "symbol") and issubclass(kind.of, cls))


def _divided(scope: LocalKinds, name: str, holds: Callable[[Kind], bool]) -> Tested:
    """A test of a name: its result if all kinds agree, and the kinds for which it holds and fails."""
    kinds = scope.names[name]
    if kinds is None:
        return None, scope.child(), scope.child()
    yes = frozenset(filter(holds, kinds))
    truth = None if not kinds or (yes and yes != kinds) else bool(yes)
    return truth, scope.child(**{name: yes}), scope.child(**{name: kinds - yes})


YIELDED_FOR = "yield from"
"""Stands among the names of a scope in which a call is delegated to; not a name that an author can write."""
