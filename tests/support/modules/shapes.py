"""The shape of a TLA+ tree as a short text, so that a test can say how a text was read: `Infix(+ a Infix(* b c))`."""

from __future__ import annotations

import dataclasses

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    BoundExpr,
    BuiltinExpr,
    ModelValueExpr,
    NameBinding,
    Node,
    NumberExpr,
    OperatorDefinition,
    OperatorReferenceExpr,
    VariableExpr,
)
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


def resolved_shape(part: object) -> str:
    """The shape of a resolved node: its class without `Expr` and its parts; what is referred to by its name."""
    match part:
        case OperatorDefinition(name=name, is_local=False):
            return name
        case OperatorDefinition(name=name, parameters=parameters, body=body):
            return f"{name}{resolved_shape(parameters) if parameters else ''}: {resolved_shape(body)}"
        case NameBinding(name=name) | VariableExpr(name=name) | BoundExpr(binding=NameBinding(name=name)):
            return name
        case ModelValueExpr(name=name):
            return f"Model({name})"
        case NumberExpr(value=value):
            return str(value)
        case ApplyExpr(operator=operator, arguments=arguments):
            return f"{operator.name}({', '.join(map(resolved_shape, arguments))})" if arguments else operator.name
        case OperatorReferenceExpr(operator=operator):
            return f"&{operator if isinstance(operator, str) else operator.name}"
        case BuiltinExpr(operator=operator, arguments=arguments):
            return f"{operator}({', '.join(map(resolved_shape, arguments))})" if arguments else operator
        case Node():
            kept = [getattr(part, field.name) for field in dataclasses.fields(part) if field.name != "place"]
            inside = " ".join(resolved_shape(value) for value in kept if value not in (None, False, ()))
            return f"{type(part).__name__.removesuffix('Expr')}({inside})"
        case tuple():
            return "[" + " ".join(map(resolved_shape, part)) + "]"
        case _:
            return str(part)
