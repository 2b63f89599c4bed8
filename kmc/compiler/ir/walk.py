"""Walks over the statements and expressions of the IR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    CallKernel,
    Const,
    Expr,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Matches,
    Select,
    Stmt,
    Var,
)


def statements(body: Iterable[Stmt]) -> list[Stmt]:
    """Every statement of a body at any depth, each before those that it holds."""
    found: list[Stmt] = []
    _add_statements(body, found)
    return found


def _add_statements(body: Iterable[Stmt], found: list[Stmt]) -> None:
    for statement in body:
        found.append(statement)
        match statement:
            case If(_, then, otherwise):
                _add_statements(then, found)
                _add_statements(otherwise, found)
            case Block(_, inner) | Loop(_, inner):
                _add_statements(inner, found)
            case _:
                pass


def calls(body: Iterable[Stmt]) -> Iterator[CallKernel]:
    """Every call in a body."""
    return (statement for statement in statements(body) if isinstance(statement, CallKernel))


def assigned(body: Iterable[Stmt]) -> Iterator[str]:
    """The variable of every assignment in a body, once per assignment."""
    for statement in statements(body):
        match statement:
            case Let(name, _) | CallKernel(name):
                yield name
            case _:
                pass


def expressions(expr: Expr) -> list[Expr]:
    """An expression and every part of it, each before its own parts."""
    found: list[Expr] = []
    waiting = [expr]
    while waiting:
        found.append(inner := waiting.pop())
        match inner:
            case Const() | Var():
                pass
            case Load(_, index):
                waiting.append(index)
            case Bin(_, left, right):
                waiting += (right, left)
            case Select(condition, yes, no):
                waiting += (no, yes, condition)
            case Intrinsic(_, arguments):
                waiting += reversed(arguments)
            case Matches(_, index, mask, wanted):
                waiting += (wanted, mask, index)
            case _:
                assert_never(inner)
    return found


def with_parts(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """An expression with `change` applied to each of its direct parts."""
    match expr:
        case Load(pointer, index):
            return Load(pointer, change(index))
        case Bin(op, left, right):
            return Bin(op, change(left), change(right))
        case Select(condition, yes, no):
            return Select(change(condition), change(yes), change(no))
        case Intrinsic(name, arguments):
            return Intrinsic(name, tuple(map(change, arguments)))
        case Matches(pointer, index, mask, wanted, lanes):
            return Matches(pointer, change(index), change(mask), change(wanted), lanes)
        case Const() | Var():
            return expr
        case _:
            assert_never(expr)


def variables(expr: Expr) -> set[str]:
    """The variables of an expression."""
    return {inner.name for inner in expressions(expr) if isinstance(inner, Var)}


def pointers(expr: Expr) -> set[str]:
    """The pointers behind which an expression reads."""
    return {inner.pointer for inner in expressions(expr) if isinstance(inner, Load | Matches)}
