"""The paths through a function of a spec: the statements allowed in a choosing `for`, and the places at which each name
has a value.

Invariant: in a spec that passes, no outcome depends on the order in which a choice goes through a set. No value passes
from one round of a `for` to the next, or out of it, and no round ends the others. In TLA+ terms, a `for` is an \\E.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from kmc.lang.tree import children, decorator_words, own_nodes, parameters, stored, walk, yields

Refuse: TypeAlias = Callable[[ast.AST, str, str, str | None], NoReturn]
"""Raises SpecError at a node, with a code, a message and a help line."""

_Known: TypeAlias = frozenset[str] | None
"""The local names that have a value; None where no path leads."""

_GENERATORS = {
    "init": "the initial states",
    "action": "an action yields its successors",
    "receive": "an action yields its successors",
}
"""The values that functions under these decorators of `spec` must yield."""


def check_function(function: ast.FunctionDef, refuse: Refuse) -> None:
    """Refuse (KMC108 to KMC110, KMC113 to KMC115, KMC123, KMC176) a function whose paths are not sound.

    Functions inside it are not looked into: each is checked by itself.
    """
    _check_generator(function, refuse)
    _Paths(function, refuse).check()


def _check_generator(function: ast.FunctionDef, refuse: Refuse) -> None:
    """Refuse an action that returns its successor before its other returns are found to give no value."""
    for decorator in function.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        what = _GENERATORS.get(named.attr) if isinstance(named, ast.Attribute) else None
        if what is not None and not yields(function):
            advice = "yield each state: `yield st.set(...)`; `return` alone disables"
            refuse(function, "KMC176", f"{what}: {function.name} is not a generator", advice)


def gives_states(function: ast.FunctionDef) -> bool:
    """Whether the function is to yield states: it does so, or is declared as an action or as the initial states."""
    return yields(function) or not decorator_words(function).isdisjoint(_GENERATORS)


class _Paths:
    def __init__(self, function: ast.FunctionDef, refuse: Refuse) -> None:
        self._function = function
        self._refuse = refuse
        self._locals = stored(function.body) | set(parameters(function.args))
        self._generator = yields(function)
        self._chosen: set[str] = set()
        self._reads_underscore = any(
            isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Load) for node in walk(function)
        )

    def check(self) -> None:
        known = self._block(self._function.body, frozenset(parameters(self._function.args)), in_choice=False)
        if known is not None and not self._generator:
            name = self._function.name
            returns = any(isinstance(node, ast.Return) for node in own_nodes(self._function.body))
            message = f"'{name}' can end without return" if returns else f"'{name}' neither returns nor yields"
            self._refuse(self._function, "KMC109", message, "return a value on every path, if need be None")

    def _block(self, body: list[ast.stmt], known: frozenset[str], *, in_choice: bool) -> _Known:
        """The names that have a value after `body`, given those that have one before it."""
        for statement in body:
            after = self._statement(statement, known, in_choice)
            if after is None:
                return None
            known = after
        return known

    def _statement(self, node: ast.stmt, known: frozenset[str], in_choice: bool) -> _Known:
        match node:
            case ast.Return():
                self._return(node, known, in_choice)
                return None
            case ast.Continue():
                return None
            case ast.If():
                self._reads(node.test, known)
                branches = [self._block(body, known, in_choice=in_choice) for body in (node.body, node.orelse)]
                going_on = [branch for branch in branches if branch is not None]
                return frozenset.intersection(*going_on) if going_on else None
            case ast.For():
                self._choice(node, known)
                return known
            case ast.FunctionDef(name=name):
                return known | {name}
            case ast.AugAssign(target=ast.Name(id=name)):
                self._reads(node.value, known)
                self._read(node.target, name, known)
                return known
            case _:
                self._reads(node, known)
                return known | stored([node])

    def _return(self, node: ast.Return, known: frozenset[str], in_choice: bool) -> None:
        if in_choice:
            advice = "write continue to end this round; a condition on all rounds belongs before the for"
            self._refuse(node, "KMC108", "return in a choice would end its other rounds, in no fixed order", advice)
        if self._generator and node.value is not None:
            self._refuse(node, "KMC110", "this function yields, so what it returns is lost", "write yield, then return")
        if not self._generator and node.value is None:
            self._refuse(node, "KMC109", "return gives no value", "write return None if there is none")
        if node.value is not None:
            self._reads(node.value, known)

    def _choice(self, loop: ast.For, known: frozenset[str]) -> None:
        if not any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in walk(loop)):
            advice = "write a quantifier or comprehension: any(...), sum(...), {x for x in ...}"
            self._refuse(loop, "KMC113", "this loop chooses nothing: it has no yield", advice)
        self._reads(loop.iter, known)
        self._refuse_carried(loop, known)
        bound = stored([loop.target, *loop.body])
        self._block(loop.body, known | stored([loop.target]), in_choice=True)
        self._chosen |= bound

    def _refuse_carried(self, loop: ast.For, known: frozenset[str]) -> None:
        """A choice may not assign to a name that has a value before it, unless nothing reads it: `for _ in ...`."""
        known -= {"_"} if not self._reads_underscore else set()
        for inner in own_nodes([loop.target, *loop.body]):
            match inner:
                case ast.AugAssign(target=ast.Name(id=name)) if name in known:
                    advice = "write sum(...), max(...), count(...) or a comprehension"
                    message = f"'{name}' accumulates over the rounds of a choice, which have no order"
                    self._refuse(inner, "KMC115", message, advice)
                case ast.Name(id=name, ctx=ast.Store()) if name in known and not self._in_comprehension(inner, loop):
                    advice = "give it another name; to combine the rounds, write max(...), sum(...), any(...)"
                    message = f"'{name}' has a value before this choice, which would go on from round to round"
                    self._refuse(inner, "KMC114", message, advice)

    def _in_comprehension(self, name: ast.Name, loop: ast.For) -> bool:
        scopes = (ast.GeneratorExp, ast.SetComp, ast.ListComp, ast.DictComp)
        return any(isinstance(scope, scopes) and any(inner is name for inner in walk(scope)) for scope in walk(loop))

    def _reads(self, node: ast.AST, known: frozenset[str]) -> None:
        """Refuse a read of a local name that has no value here."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._read(node, name, known)
            case ast.Lambda(args=arguments, body=body):
                self._reads(body, known | set(parameters(arguments)))
            case ast.GeneratorExp() | ast.SetComp() | ast.ListComp() | ast.DictComp():
                for generator in node.generators:
                    self._reads(generator.iter, known)
                    known = known | stored([generator.target])
                    for condition in generator.ifs:
                        self._reads(condition, known)
                for element in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
                    self._reads(element, known)
            case _:
                for child in children(node):
                    self._reads(child, known)

    def _read(self, node: ast.AST, name: str, known: frozenset[str]) -> None:
        if name in known or name not in self._locals:
            return
        if name in self._chosen:
            advice = "use a quantifier or a comprehension: max(...), any(...), {x for x in ...}"
            self._refuse(node, "KMC114", f"'{name}' is bound in a choice and has no value outside of it", advice)
        line = min((_line_of_value(bound, name) for bound in own_nodes(self._function.body)), default=math.inf)
        advice = "give it a value before, or in every branch"
        if getattr(node, "lineno", math.inf) < line < math.inf:
            advice = f"its value in line {line} comes later; if another '{name}' is meant here, rename that one"
        self._refuse(node, "KMC123", f"'{name}' may have no value here", advice)


def _line_of_value(node: ast.AST, name: str) -> float:
    """The line where a node gives a name its value; infinite if it does not."""
    match node:
        case ast.FunctionDef(name=bound, lineno=line) | ast.Name(id=bound, ctx=ast.Store(), lineno=line):
            return line if bound == name else math.inf
        case _:
            return math.inf
