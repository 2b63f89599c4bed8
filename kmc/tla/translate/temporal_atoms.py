"""The predicates of states and of steps that temporal properties are made of, as functions of a spec.

What is temporal stays a formula of the module. Only its atoms are translated, with ENABLED and the actions of fairness
among them.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmc.tla.resolved.nodes import AngleActionExpr, BoxActionExpr, Expression, UnchangedExpr
from kmc.tla.shapes.shape import BOOLEAN, Shape
from kmc.tla.translate.scope import TranslationScope, TypedSource
from kmc.tla.translate.translation import Translation

STATE_ATOM = "state_atom"
STEP_ATOM = "step_atom"


def atom_name(kind: str, index: int) -> str:
    """Return the name of the function of an atom in the spec."""
    return f"temporal_{kind}_{index}"


@dataclass(frozen=True, slots=True)
class TemporalAtoms:
    """Formulas without free names: of a state, and of a step."""

    of_states: tuple[Expression, ...] = ()
    of_steps: tuple[Expression, ...] = ()


NO_ATOMS = TemporalAtoms()


def step_of_box(t: Translation, node: BoxActionExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate [A]_v as a predicate of a step."""
    return TypedSource(f"({_unchanged(t, node, scope)} or {t.source(node.action, scope)})", BOOLEAN)


def step_of_angle(t: Translation, node: AngleActionExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate <<A>>_v as a predicate of a step."""
    return TypedSource(f"(not {_unchanged(t, node, scope)} and {t.source(node.action, scope)})", BOOLEAN)


def _unchanged(t: Translation, node: BoxActionExpr | AngleActionExpr, scope: TranslationScope) -> str:
    return t.source(UnchangedExpr(node.subscript, place=node.place), scope)
