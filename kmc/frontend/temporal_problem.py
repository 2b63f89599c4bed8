"""From a model to a temporal problem: the fairness of its specification, and the queries of its temporal properties.

Instances of actions are numbered as `instances_of((*spec.actions, *spec.other_actions))` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kmc.errors import KmcError, SpecError
from kmc.frontend.bound_formulas import Actions
from kmc.frontend.model import Model
from kmc.lang.errors.blame import blamed
from kmc.lang.showing import shown
from kmc.liveness.formulas import (
    ActionSteps,
    And,
    Enabled,
    Fair,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    TemporalProperty,
    Truth,
    constant_truth,
    parts_of,
    place_of,
)
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.premises import premises_of
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.property_checks import check_of, fairness_condition, instances_of_formula


def problem_of(model: Model) -> TemporalProblem:
    """The temporal problem of a model; SpecError (KMC70x) at the author's line for a formula without meaning."""
    spec = model.spec
    actions = Actions((*spec.actions, *spec.other_actions))
    atoms = NumberedPredicates()
    assumed = tuple(_fairness(model, actions))
    formulas = [(prop, _formula(prop, actions, model)) for prop in model.temporal]
    instances = [(prop, *case) for prop, formula in formulas for case in instances_of_formula(formula, shown)]
    if spec.other_actions:
        _refuse_told_apart((*assumed, *(formula for _, formula in formulas)))
    checks = [
        (check_of(prop.name, prop.span, instance, formula, atoms), formula) for prop, instance, formula in instances
    ]
    return TemporalProblem(
        fairness=tuple(fairness_condition(fair, atoms) for fair in assumed),
        checks=tuple(check for check, _ in checks),
        formulas=tuple(formula for _, formula in checks),
        assumed=assumed,
        tautologies=tuple(prop.name for prop, formula in formulas if constant_truth(formula) is True),
        premises=tuple(premise for prop, formula in formulas for premise in premises_of(prop.name, formula, atoms)),
        is_realizable=not spec.other_actions,
        specification=model.specification or "Spec",
        # The last, when everything above has numbered its predicates.
        atoms=atoms.of_states,
        step_atoms=atoms.of_steps,
    )


def instance_names(model: Model, prop: TemporalProperty, name: Callable[[Any], str]) -> Iterator[str]:
    """The texts that distinguish the checks of one property, in their order, with `name` for the values: `s = s1`."""
    formula = _formula(prop, Actions((*model.spec.actions, *model.spec.other_actions)), model)
    yield from (instance for instance, _ in instances_of_formula(formula, name))


def _formula(prop: TemporalProperty, actions: Actions, model: Model) -> Formula:
    """The bound formula of a property."""
    return actions.bound(_made(prop.formula, model, f"in {prop.name}"), prop.name, prop.span)


def _made(formula: Callable[[], Formula], model: Model, note: str) -> Formula:
    try:
        return formula()
    except Exception as error:
        mistake: KmcError = blamed(error, model.spec.files)
        raise SpecError(mistake.code, mistake.message, mistake.span, mistake.help, (*mistake.notes, note)) from error


def _refuse_told_apart(formulas: Iterable[Formula]) -> None:
    """Raise SpecError KMC710 for fairness or `enabled` that depends on which actions a step belongs to, and to which
    not.

    The target of a step that is not part of Next is not recorded, so kmc cannot know that two such steps are one.
    """
    for formula in formulas:
        match formula:
            case Fair(steps=steps) | Enabled(steps=steps) if _tells_apart(steps):
                raise SpecError(
                    "KMC710",
                    "fairness or enabled tells actions of one step apart, in a spec with actions beside Next",
                    place_of(formula),
                    "declare the steps that are meant as an action of their own, with next=False",
                )
            case _:
                _refuse_told_apart(parts_of(formula))


def _tells_apart(steps: Formula) -> bool:
    """Whether a set of steps is not a union of those of actions, each perhaps with a condition."""
    match steps:
        case Not() | Implies() | Iff():
            return _names_actions(steps)
        case And(parts):
            return sum(map(_names_actions, parts)) > 1 or any(map(_tells_apart, parts))
        case _:
            return any(map(_tells_apart, parts_of(steps)))


def _names_actions(steps: Formula) -> bool:
    return isinstance(steps, ActionSteps) or any(map(_names_actions, parts_of(steps)))


def _fairness(model: Model, actions: Actions) -> Iterator[Fair]:
    """The conditions of fairness of the model's specification."""
    spec = model.spec
    declared = spec.specifications.get(model.specification or "")
    if declared is not None:
        formula = _made(declared.fairness, model, f"in {declared.name}")
        yield from _conditions(actions.bound(formula, declared.name, declared.span), declared.name)
    elif model.specification is not None and not spec.specifications:
        yield from _conditions(actions.declared_fairness(), model.specification)


def _conditions(formula: Formula, name: str) -> Iterator[Fair]:
    match formula:
        case Fair():
            yield formula
        case And(parts):
            for part in parts:
                yield from _conditions(part, name)
        case ForAll(cases=cases):
            for _, part in cases:
                yield from _conditions(part, name)
        case Truth(value=True):
            return
        case _:
            message = f"{name} is more than a conjunction of weak and strong fairness"
            advice = "return weak_fairness(...) and strong_fairness(...) in and_(...) or for_all(...)"
            raise SpecError("KMC707", message, place_of(formula), advice)
