"""The negation of a property, or a formula itself, in negation normal form."""

from __future__ import annotations

from kmc.liveness.formulas import (
    ActionSteps,
    Always,
    And,
    Enabled,
    Eventually,
    Fair,
    ForAll,
    Formula,
    Iff,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
    parts_of,
)
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.set_algebra import not_states, not_steps
from kmc.liveness.temporal_core import (
    Box,
    Core,
    Diamond,
    all_,
    answered,
    any_,
    finally_,
    globally,
    infinitely,
    now,
    settle,
)


def is_of_steps(formula: Formula) -> bool:
    """Whether a bound formula is a predicate of a step."""
    match formula:
        case StepPredicate() | ActionSteps():
            return True
        case Not() | And() | Or() | Implies() | Iff() | ForAll() | ThereExists():
            return any(map(is_of_steps, parts_of(formula)))
        case _:
            return False


def is_of_states(formula: Formula) -> bool:
    """Whether a bound formula is a predicate of a state."""
    match formula:
        case StatePredicate() | Enabled() | Truth():
            return True
        case Not() | And() | Or() | Implies() | Iff() | ForAll() | ThereExists():
            return all(map(is_of_states, parts_of(formula)))
        case _:
            return False


def core_of(formula: Formula, atoms: NumberedPredicates) -> Core:
    """A bound formula without negations of temporal formulas."""
    if is_of_states(formula):
        return now(atoms.states(formula))
    match formula:
        case Not(part):
            return negated(part, atoms)
        case And() | ForAll():
            return all_(core_of(part, atoms) for part in parts_of(formula))
        case Or() | ThereExists():
            return any_(core_of(part, atoms) for part in parts_of(formula))
        case Implies(premise, conclusion):
            return any_([negated(premise, atoms), core_of(conclusion, atoms)])
        case Iff(left, right):
            both = all_([core_of(left, atoms), core_of(right, atoms)])
            return any_([both, all_([negated(left, atoms), negated(right, atoms)])])
        case Always(part):
            return Box(atoms.steps(part)) if is_of_steps(part) else globally(core_of(part, atoms))
        case Eventually(part):
            return Diamond(atoms.steps(part)) if is_of_steps(part) else finally_(core_of(part, atoms))
        case LeadsTo(premise, goal):
            return globally(any_([negated(premise, atoms), finally_(core_of(goal, atoms))]))
        case Fair(strong, steps):
            taken = atoms.changing(steps)
            enabled = atoms.enabled(formula)
            return answered(enabled, steps=taken) if strong else infinitely(not_states(enabled), taken)
        case _:
            raise AssertionError(f"not a temporal formula: {formula}")


def negated(formula: Formula, atoms: NumberedPredicates) -> Core:
    """The negation of a bound formula, without negations of temporal formulas."""
    if is_of_states(formula):
        return now(not_states(atoms.states(formula)))
    match formula:
        case Not(part):
            return core_of(part, atoms)
        case And() | ForAll():
            return any_(negated(part, atoms) for part in parts_of(formula))
        case Or() | ThereExists():
            return all_(negated(part, atoms) for part in parts_of(formula))
        case Implies(premise, conclusion):
            return all_([core_of(premise, atoms), negated(conclusion, atoms)])
        case Iff(left, right):
            one = all_([core_of(left, atoms), negated(right, atoms)])
            return any_([one, all_([negated(left, atoms), core_of(right, atoms)])])
        case Always(part):
            return Diamond(not_steps(atoms.steps(part))) if is_of_steps(part) else finally_(negated(part, atoms))
        case Eventually(part):
            return Box(not_steps(atoms.steps(part))) if is_of_steps(part) else globally(negated(part, atoms))
        case LeadsTo(premise, goal):
            return finally_(all_([core_of(premise, atoms), globally(negated(goal, atoms))]))
        case Fair(strong, steps):
            taken = atoms.changing(steps)
            enabled = atoms.enabled(formula)
            never = not_steps(taken)
            if strong:
                return all_([infinitely(enabled), settle(steps=never)])
            return settle(enabled, never)
        case _:
            raise AssertionError(f"not a temporal formula: {formula}")
