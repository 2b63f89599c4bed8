"""The verifier of the IR: it rejects a module that is not well-formed, before any back end sees it.

Invariant: a module that passes has the same meaning in every back end. A variable is read only if it was assigned on
every path, labels and pointers exist, nothing is stored through a readonly pointer, and calls fit their callee and are
not recursive. Only constant shift amounts and divisors are checked; the back ends define shifts and divisions for all.

A violation is a bug of the compiler, so it is an InternalError (KMC911 variables, 912 labels, 913 pointers, 914
expressions, 915 calls, 916 names) that quotes the function and the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn, assert_never, get_args

from kmc.compiler.ir.nodes import (
    Bin,
    BinaryOp,
    Block,
    Break,
    CallKernel,
    Comment,
    Const,
    Copy,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Matches,
    Module,
    Return,
    Select,
    Stmt,
    Store,
    Var,
)
from kmc.compiler.ir.print import print_statement
from kmc.compiler.ir.walk import calls
from kmc.errors import InternalError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPS = frozenset(get_args(BinaryOp))
_ARITY = {"mix": 2, "popcount": 1, "cttz": 1}


def verify(module: Module) -> None:
    """Raise InternalError for the first breach in the module."""
    functions = {function.name: function for function in module.functions}
    if len(functions) != len(module.functions):
        raise InternalError("KMC916", "two functions have one name")
    for function in module.functions:
        _Check(function, functions).run()
    _refuse_recursion(functions)


def _refuse_recursion(functions: dict[str, Function]) -> None:
    """Raise InternalError when a function can reach itself."""
    done: set[str] = set()
    for name in functions:
        _visit(name, (), functions, done)


def _visit(name: str, path: tuple[str, ...], functions: dict[str, Function], done: set[str]) -> None:
    """Follow the calls of a function that `path` leads to, unless they are `done`."""
    if name in path:
        raise InternalError("KMC915", f"function '{name}' calls itself: {' -> '.join([*path, name])}")
    if name not in done:
        for call in calls(functions[name].body):
            _visit(call.function, (*path, name), functions, done)
        done.add(name)


@dataclass(slots=True)
class _Check:
    """The check of one function. The set of assigned variables flows through it; None is unreachable code."""

    function: Function
    functions: dict[str, Function]
    where: Stmt | None = None
    exits: dict[str, list[set[str]]] = field(default_factory=dict)

    def run(self) -> None:
        """Check names, then the body."""
        names = [*self.function.pointers, *self.function.parameters, *dict(self.function.arrays)]
        for name in [self.function.name, *names]:
            self.name(name)
        if len(set(names)) != len(names):
            self.fail("KMC916", "two parameters have one name")
        for name in sorted(self.function.readonly - set(self.function.pointers)):
            self.fail("KMC913", f"readonly '{name}' is not a pointer parameter")
        self.suite(self.function.body, set(self.function.parameters))

    def fail(self, code: str, what: str) -> NoReturn:
        """Raise InternalError with the function and the statement at hand."""
        quoted = print_statement(self.where)[:1] if self.where is not None else []
        raise InternalError(code, f"in function '{self.function.name}': {what}", notes=tuple(quoted))

    def name(self, name: str) -> None:
        """A name that every back end can spell."""
        if not _NAME.fullmatch(name):
            self.fail("KMC916", f"{name!r} is not a name")

    def suite(self, body: tuple[Stmt, ...], assigned: set[str]) -> set[str] | None:
        """The variables assigned after `body`, given those before it, which is altered; unreachable statements are
        skipped.
        """
        flow: set[str] | None = assigned
        for statement in body:
            if flow is None:
                return None
            outer, self.where = self.where, statement
            flow = self.statement(statement, flow)
            self.where = outer
        return flow

    def statement(self, statement: Stmt, assigned: set[str]) -> set[str] | None:
        """The variables assigned after a statement."""
        match statement:
            case Let(name, value):
                self.expr(value, assigned)
                self.assign(name, assigned)
            case Store(pointer, index, value):
                self.pointer(pointer, written=True)
                self.expr(index, assigned)
                self.expr(value, assigned)
            case Copy(target, at, source, start, words):
                self.pointer(target, written=True)
                self.pointer(source)
                if source not in self.function.readonly:
                    self.fail("KMC913", f"'{source}' is copied from and is not readonly")
                for operand in (at, start, words):
                    self.expr(operand, assigned)
            case CallKernel():
                self.call(statement, assigned)
                self.assign(statement.target, assigned)
            case Return(value):
                self.expr(value, assigned)
                return None
            case Break(label):
                if label not in self.exits:
                    self.fail("KMC912", f"no enclosing block or loop is called '{label}'")
                self.exits[label].append(assigned)
                return None
            case If(condition, then, otherwise):
                self.expr(condition, assigned)
                return _assigned_on_both(self.suite(then, set(assigned)), self.suite(otherwise, assigned))
            case Block(label, body) | Loop(label, body):
                return self.labelled(label, body, assigned, again=isinstance(statement, Loop))
            case Comment():
                pass
            case _:
                assert_never(statement)
        return assigned

    def labelled(self, label: str, body: tuple[Stmt, ...], assigned: set[str], again: bool) -> set[str] | None:
        """The variables assigned after a block or a loop: those that every way out of it assigns."""
        self.name(label)
        if label in self.exits:
            self.fail("KMC912", f"'{label}' is the label of an enclosing block or loop already")
        self.exits[label] = []
        end = self.suite(body, assigned)
        flow = None if again else end
        for leaving in self.exits.pop(label):
            flow = _assigned_on_both(flow, leaving)
        return flow

    def assign(self, name: str, assigned: set[str]) -> None:
        """A variable gets a value."""
        self.name(name)
        if name in self.function.pointers:
            self.fail("KMC916", f"'{name}' is a pointer and cannot be given a value")
        assigned.add(name)

    def pointer(self, name: str, *, written: bool = False) -> None:
        """A pointer is used."""
        if name not in self.function.pointers and name not in dict(self.function.arrays):
            self.fail("KMC913", f"'{name}' is not a pointer parameter")
        if written and name in self.function.readonly:
            self.fail("KMC913", f"pointer '{name}' is readonly")

    def expr(self, expr: Expr, assigned: set[str]) -> None:
        """An expression is evaluated."""
        match expr:
            # Patterns without fields: taking fields apart in a pattern takes longer than the rest of this function.
            case Const():
                if isinstance(expr.value, bool):
                    self.fail("KMC914", f"the constant {expr.value!r} is a truth value")
            case Var():
                if expr.name not in assigned:
                    self.fail("KMC911", f"variable '{expr.name}' may be read before it has a value")
            case Load():
                self.pointer(expr.pointer)
                self.expr(expr.index, assigned)
            case Bin():
                self.operation(expr.op, expr.right)
                self.expr(expr.left, assigned)
                self.expr(expr.right, assigned)
            case Select(condition, yes, no):
                for operand in (condition, yes, no):
                    self.expr(operand, assigned)
            case Intrinsic(name, arguments):
                if _ARITY.get(name) != len(arguments):
                    self.fail("KMC914", f"no intrinsic '{name}' takes {len(arguments)} arguments")
                for argument in arguments:
                    self.expr(argument, assigned)
            case Matches(pointer, index, mask, wanted):
                self.pointer(pointer)
                for operand in (index, mask, wanted):
                    self.expr(operand, assigned)
            case _:
                assert_never(expr)

    def operation(self, op: str, right: Expr) -> None:
        """An operation with a constant right side has a meaning for it."""
        if op not in _OPS:
            self.fail("KMC914", f"there is no operation '{op}'")
        if not isinstance(right, Const):
            return
        if op in ("shl", "lshr") and not 0 <= right.value <= 63:
            self.fail("KMC914", f"a shift by {right.value} is none by 0..63")
        if op in ("udiv", "urem") and right.value % (1 << 64) == 0:
            self.fail("KMC914", "division by the constant 0")

    def call(self, call: CallKernel, assigned: set[str]) -> None:
        """A call fits its callee."""
        callee = self.functions.get(call.function)
        if callee is None:
            self.fail("KMC915", f"there is no function '{call.function}'")
        if len(call.pointers) != len(callee.pointers) or len(call.arguments) != len(callee.parameters):
            self.fail("KMC915", f"the call does not match the parameters of '{call.function}'")
        for (pointer, offset), parameter in zip(call.pointers, callee.pointers, strict=True):
            self.pointer(pointer)
            self.expr(offset, assigned)
            if pointer in self.function.readonly and parameter not in callee.readonly:
                self.fail("KMC915", f"readonly pointer '{pointer}' is given to '{parameter}', which may be written")
        if overlapping := set(_places(call, callee, readonly=True)) & set(_places(call, callee, readonly=False)):
            self.fail("KMC915", f"one place of '{min(overlapping)[0]}' is given to a readonly and to another pointer")
        for argument in call.arguments:
            self.expr(argument, assigned)


def _places(call: CallKernel, callee: Function, *, readonly: bool) -> Iterator[tuple[str, str]]:
    """The places (pointer, text of the offset) that a call gives to the readonly, or the other, pointers."""
    for (pointer, offset), parameter in zip(call.pointers, callee.pointers, strict=True):
        if (parameter in callee.readonly) == readonly:
            yield pointer, repr(offset)


def _assigned_on_both(first: set[str] | None, second: set[str] | None) -> set[str] | None:
    """The variables that are assigned on both ways to a place."""
    if first is None or second is None:
        return second if first is None else first
    return first & second
