"""The shape of a TLA+ tree as a short text, so that a test can say how a text was read: `Infix(+ a Infix(* b c))`."""

from __future__ import annotations

import dataclasses

from kmc.tla.syntax.tree import NameSyntax, NumberSyntax, ParameterSyntax, ReferenceSyntax, StepSyntax, SyntaxNode


def shape(part: object) -> str:
    """The shape of a node: its class without `Syntax` and its parts; names, numbers and plain references are short."""
    match part:
        case NameSyntax(text=text):
            return text
        case NumberSyntax(value=value):
            return str(value)
        case ParameterSyntax(name=name, arity=arity):
            return f"{name}/{arity}" if arity else name
        case ReferenceSyntax(steps=steps):
            return "!".join(_step(step) for step in steps)
        case SyntaxNode():
            kept = [getattr(part, field.name) for field in dataclasses.fields(part) if field.compare]
            inside = " ".join(shape(value) for value in kept if value not in (None, False, ()))
            return f"{type(part).__name__.removesuffix('Syntax')}({inside})"
        case tuple():
            return "[" + " ".join(map(shape, part)) + "]"
        case _:
            return str(part)


def _step(step: StepSyntax) -> str:
    arguments = "" if step.arguments is None else f"({', '.join(map(shape, step.arguments))})"
    return f"{step.name}{arguments}"
