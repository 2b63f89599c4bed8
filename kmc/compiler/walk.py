"""Walks over the statements of the IR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmc.compiler.ir import Block, CallKernel, If, Let, Loop, Stmt


def statements(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """Every statement of a body at any depth, each before those that it holds."""
    for statement in body:
        yield statement
        match statement:
            case If(_, then, otherwise):
                yield from statements(then)
                yield from statements(otherwise)
            case Block(_, inner) | Loop(_, inner):
                yield from statements(inner)
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
