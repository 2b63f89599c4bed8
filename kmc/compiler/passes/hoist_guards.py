"""Loop-invariant guard hoisting: a condition that ends every round of a loop at once is tested before the loop.

An action with two servers as arguments loops over all pairs, and most guards depend on the first server only. If a
round begins with `if a or b: leave` and `a` does not change in the loop, the loop is skipped if `a` holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    Break,
    Const,
    Expr,
    If,
    Let,
    Loop,
    Return,
    Stmt,
    Var,
)
from kmc.compiler.ir.walk import assigned, pointers, variables, with_parts

Known = Mapping[str, Expr]


def hoisted(body: tuple[Stmt, ...], readonly: frozenset[str]) -> tuple[Stmt, ...]:
    """The statements with invariant guards moved before loops; memory behind `readonly` pointers does not change."""
    return tuple(_hoisted(statement, readonly) for statement in body)


def _hoisted(statement: Stmt, readonly: frozenset[str]) -> Stmt:
    match statement:
        case If(condition, then, otherwise):
            return If(condition, hoisted(then, readonly), hoisted(otherwise, readonly))
        case Block(label, body):
            return Block(label, hoisted(body, readonly))
        case Loop(label, body):
            inner = hoisted(body, readonly)
            changed = frozenset(assigned(inner))
            tests = _idle_if(inner[1:-1], {})
            idle = [test for test in tests if not changed & variables(test) and pointers(test) <= readonly]
            loop: Stmt = Loop(label, inner)
            # Nested in order: a test may read memory that is there only if the tests before it are false.
            for test in reversed(idle if _counts(label, inner) else []):
                loop = If(test, (), (loop,))
            return loop
        case _:
            return statement


def _counts(label: str, body: tuple[Stmt, ...]) -> bool:
    """Whether a loop's body is that of `Code.count_up`: it leaves nothing behind but its counter."""
    match body:
        case (If(_, (Break(left),), ()), *_, Let(name, Bin("add", Var(again), Const(1)))):
            return left == label and name == again
        case _:
            return False


def _idle_if(body: tuple[Stmt, ...], known: Known) -> list[Expr]:
    """Conditions each of which makes the statements do nothing but assign variables; `known` holds their values."""
    values = dict(known)
    for position, statement in enumerate(body):
        match statement:
            case Let(name, value):
                values[name] = _substituted(value, values)
            case If(condition, (), otherwise) if position == len(body) - 1:
                return _alternatives(_substituted(condition, values)) + _idle_if(otherwise, values)
            case Block(label, inner) if position == len(body) - 1:
                return _leaving(label, inner, values)
            case _:
                return []
    return []


def _leaving(label: str, body: tuple[Stmt, ...], known: Known) -> list[Expr]:
    """Conditions each of which ends a block before it has done anything."""
    values = dict(known)
    conditions: list[Expr] = []
    for statement in body:
        match statement:
            case Let(name, value):
                values[name] = _substituted(value, values)
            case If(condition, (Break(left),), ()) if left == label:
                conditions += _alternatives(_substituted(condition, values))
            case If(condition, (), (Return(),)) if x.negate(_substituted(condition, values)) in conditions:
                pass  # a check of what holds here
            case _:
                break
    return conditions


def _alternatives(condition: Expr) -> list[Expr]:
    """The parts of an `or` of truths, or of a negated `and`."""
    match condition:
        case Bin("or", left, right):
            return [*_alternatives(left), *_alternatives(right)]
        case Bin("xor", Bin("and", left, right), Const(1)) if _is_truth(left) and _is_truth(right):
            return [*_alternatives(x.negate(left)), *_alternatives(x.negate(right))]
        case Bin("xor", Bin("xor", inner, Const(1)), Const(1)):
            return _alternatives(inner)
        case _:
            return [condition]


def _is_truth(expr: Expr) -> bool:
    """Whether the expression is seen to be 0 or 1."""
    match expr:
        case Bin("eq" | "ne" | "slt" | "sle" | "ult", _, _) | Bin("and", _, Const(1)):
            return True
        case Bin("and" | "or", left, right) | Bin("xor", left, right):
            return _is_truth(left) and _is_truth(right)
        case Const(value):
            return value in (0, 1)
        case _:
            return False


def _substituted(expr: Expr, values: Known) -> Expr:
    """An expression with variables replaced by their values."""
    if isinstance(expr, Var):
        return values.get(expr.name, expr)
    return with_parts(expr, lambda inner: _substituted(inner, values))
