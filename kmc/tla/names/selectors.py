r"""Selectors: `Inv!2`, `Op(a)!<<`, `Inv!label` choose a part of a definition, `Thm!:` the whole.

Selectors step through lists of `/\` and `\/`, operators, IF, applications and labels. A part that binders surround
would need values for what they bind, `!(a)`, and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmc.errors import Span, SpecError
from kmc.tla.names.scopes import Entity
from kmc.tla.syntax.tree import (
    ExpressionSyntax,
    IfSyntax,
    InfixSyntax,
    JunctionSyntax,
    LabelSyntax,
    LetSyntax,
    PostfixSyntax,
    PrefixSyntax,
    ReferenceSyntax,
    SetSyntax,
    StepSyntax,
    TupleSyntax,
)


@dataclass(frozen=True, slots=True)
class PartSelection:
    """What a reference with selectors names: the definition, its step with arguments, and the selectors."""

    entity: Entity
    step: StepSyntax
    selectors: tuple[StepSyntax, ...]
    place: Span


def select(body: ExpressionSyntax, selectors: tuple[StepSyntax, ...]) -> ExpressionSyntax:
    """Return the part of the body of a definition that selectors choose, KMC013 if there is none."""
    part = body
    for selector in selectors:
        if isinstance(part, LabelSyntax) and (selector.is_selector or part.name != selector.name):
            part = part.body
        found = _labelled(part, selector.name) if not selector.is_selector else _selected(part, selector.name)
        if found is None:
            help_line = "a selector is !N for the N-th item of a list or operand, !<<, !>>, or the name of a label"
            message = f"'!{selector.name or '(...)'}' chooses nothing that kmc can resolve here"
            raise SpecError("KMC013", message, selector.place, help_line)
        part = found
    return part


def _selected(part: ExpressionSyntax, selector: str) -> ExpressionSyntax | None:
    operands = _operands(part)
    match selector:
        case ":":
            return part
        case "<<":
            return operands[0] if operands else None
        case ">>":
            return operands[1] if len(operands) > 1 else None
        case _ if selector.isdigit():
            at = int(selector) - 1
            return operands[at] if 0 <= at < len(operands) else None
        case _:
            return None


def _operands(part: ExpressionSyntax) -> tuple[ExpressionSyntax, ...]:
    """Return the parts that numbers choose."""
    match part:
        case JunctionSyntax(items=items) | SetSyntax(items=items) | TupleSyntax(items=items):
            return items
        case InfixSyntax(left=left, right=right):
            return (left, right)
        case PrefixSyntax(operand=operand) | PostfixSyntax(operand=operand):
            return (operand,)
        case IfSyntax(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case ReferenceSyntax(steps=(*_, StepSyntax(arguments=arguments))) if arguments is not None:
            return tuple(argument for argument in arguments if isinstance(argument, ExpressionSyntax))
        case _:
            return ()


def _labelled(part: ExpressionSyntax, name: str) -> ExpressionSyntax | None:
    """Return what a label labels, in the part itself or in its operands."""
    if isinstance(part, LabelSyntax) and not part.parameters and part.name == name:
        return part.body
    if isinstance(part, LetSyntax):
        return None
    for operand in _operands(part):
        found = _labelled(operand, name)
        if found is not None:
            return found
    return None
