"""The conditions of "run until": an invariant fails, a goal is reached, an action becomes enabled, an expression is
true.

An expression is one of `kmc.frontend.typed_expression` over the state `st`, without a successor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kmc.actions.relation import NextStateRelation
from kmc.errors import CommandLineError, KmcError, did_you_mean
from kmc.explorer.commands import refused
from kmc.explorer.search_terms import WaitedFor
from kmc.frontend.model import Model
from kmc.frontend.typed_expression import Expression, expression
from kmc.invariants.kinds import KINDS, Role, of_role
from kmc.invariants.properties import Predicate, holds
from kmc.lang.records import State
from kmc.lang.showing import shown

EXPRESSION_LENGTH_MAX = 2_000
_ADVICE = "write an expression of the spec language over the state st, such as len(st.messages) > 2"


def property_fails(model: Model, name: str) -> WaitedFor:
    """An invariant or action property of the model fails, or has no truth value; any of them where `name` is empty."""
    every = model.predicates(Role.CHECKED)
    wanted = (_named(every, name, "invariant or action property"),) if name else every
    of_states = [prop for prop in wanted if prop in model.predicates(Role.CHECKED, 1)]
    of_steps = [prop for prop in wanted if prop not in of_states]

    def is_met_by_step(before: Any, state: State) -> bool:
        return before is not None and any(_fails(model, prop, before, state) for prop in of_steps)

    def is_met(before: Any, state: State) -> bool:
        return any(_fails(model, prop, state) for prop in of_states) or is_met_by_step(before, state)

    def check(model: Model, folder: Path) -> Model:
        chosen: dict[str, Any] = {
            kind.field: tuple(prop for prop in model.of(kind) if prop in wanted) for kind in of_role(Role.CHECKED)
        }
        return replace(_bare(model), **chosen)

    return WaitedFor(f"{name or 'a property'} fails", is_met, is_met_by_step, check)


def _bare(model: Model) -> Model:
    """The model without properties, and without reductions, since a condition need not respect them."""
    unasked: dict[str, Any] = {kind.field: () for kind in KINDS if kind.role is not Role.BOUNDING}
    return replace(model, **unasked, symmetry=(), view=None, temporal=(), deadlock=False, max_depth=None)


def _unless(asked: Expression) -> Callable[[Model, Path], Model]:
    """Return a function that makes the model whose only invariant is that an expression is false."""

    def check(model: Model, folder: Path) -> Model:
        invariant = asked.negation(folder)
        spec = replace(model.spec, files=model.spec.files | {invariant.span.path})
        return replace(_bare(model), spec=spec, invariants=(invariant,))

    return check


def _fails(model: Model, prop: Predicate, *states: State) -> bool:
    try:
        return not holds(prop, model.spec.files, *states)
    except KmcError:
        return True


def goal_reached(model: Model, name: str) -> WaitedFor:
    """A reachable property of the model becomes true."""
    goal = _named(model.predicates(Role.WITNESSED, 1), name, "goal")
    check = _unless(expression(model.spec, name))
    return WaitedFor(f"{name} is reached", lambda before, state: holds(goal, model.spec.files, state), check=check)


def _named(known: tuple[Predicate, ...], name: str, what: str) -> Predicate:
    for predicate in known:
        if predicate.name == name:
            return predicate
    raise refused(f"the model has no {what} '{name}'", did_you_mean(name, [predicate.name for predicate in known]))


def action_enabled(model: Model, title: str) -> WaitedFor:
    """Some instance of an action becomes enabled."""
    spec = model.spec
    chosen = [action for action in spec.actions if action.title == title]
    if not chosen:
        advice = did_you_mean(title, [action.title for action in spec.actions])
        raise refused(f"the spec has no action '{title}'", advice)
    relation = NextStateRelation(chosen, spec.state_class, spec.files)
    return WaitedFor(f"{title} is enabled", lambda before, state: next(relation.steps(state), None) is not None)


def expression_true(model: Model, text: str) -> WaitedFor:
    """An expression over the state `st` is true; CommandLineError KMC671 where it is not one of the spec language."""
    if len(text) > EXPRESSION_LENGTH_MAX:
        raise CommandLineError("KMC671", f"a condition has at most {EXPRESSION_LENGTH_MAX} characters", help=_ADVICE)
    try:
        asked = expression(model.spec, text)
    except KmcError as error:
        raise CommandLineError("KMC671", error.message, help=error.help or _ADVICE) from None
    if asked.needs_successor:
        raise CommandLineError("KMC671", "a condition is one of a state, not of a step", help=_ADVICE)

    def is_met(before: Any, state: State) -> bool:
        try:
            truth = asked.value(state)
        except KmcError as error:
            raise CommandLineError("KMC671", f"'{text}': {error.message}", help=error.help or _ADVICE) from error
        if truth is True or truth is False:
            return truth
        raise CommandLineError("KMC671", f"'{text}' is {shown(truth)}, not True or False", help=_ADVICE)

    return WaitedFor(f"{text} is true", is_met, check=_unless(asked))
