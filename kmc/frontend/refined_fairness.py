"""The fairness of a spec that another one refines, as a temporal property of the other one.

WF and SF of abstract actions are formulas with two predicates that are made of the mapping: whether a step is one of
these actions and changes something in the abstract spec, and whether an abstract state enables such a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kmc.actions.action import Action, Arguments, instances_of
from kmc.errors import SpecError
from kmc.frontend.bound_formulas import Actions
from kmc.frontend.refinement import AbstractSpec, StepMaker
from kmc.invariants.properties import Refinement
from kmc.liveness.formula_text import text_of
from kmc.liveness.formulas import (
    ActionSteps,
    And,
    Fair,
    ForAll,
    Formula,
    Or,
    StatePredicate,
    StepPredicate,
    TemporalProperty,
    ThereExists,
    Truth,
    place_of,
)
from kmc.spec.declare import Declared

SUFFIX = "Fairness"
"""The end of the name of the property, which begins with that of the refinement."""


def with_fairness(properties: Mapping[str, Declared], refined: Mapping[str, AbstractSpec]) -> dict[str, Declared]:
    """The declarations of a spec with the fairness of the specs that it refines."""
    known = dict(properties)
    for declared in properties.values():
        fairness = fairness_of(declared, refined[declared.abstract]) if isinstance(declared, Refinement) else None
        if fairness is None:
            continue
        if fairness.name in known:
            advice = "it names the fairness of a refined spec: give the other declaration another name"
            raise SpecError("KMC724", f"'{fairness.name}' is declared twice", declared.span, advice)
        known[fairness.name] = fairness
    return known


def fairness_of(refinement: Refinement, abstract: AbstractSpec) -> TemporalProperty | None:
    """The fairness of the first specification that the abstract spec declares; None if it declares none.

    Without a specification, it is that of the actions that are declared fair.
    """
    actions = (*abstract.actions, *abstract.other_actions)
    binding = Actions(actions)
    specification = next(iter(abstract.specifications.values()), None)
    if specification is None and not binding.declared_fairness().parts:
        return None
    written: Callable[[], Formula] = binding.declared_fairness if specification is None else specification.fairness

    def made() -> Formula:
        bound = binding.bound(written(), refinement.abstract, refinement.span)
        instances = instances_of(actions)
        return And(tuple(_seen_through(fair, refinement, abstract, instances) for fair in _conditions(bound)))

    doc = f"The fairness of {refinement.abstract}, seen through {refinement.name}."
    return TemporalProperty(f"{refinement.name}{SUFFIX}", made, refinement.span, doc)


def _conditions(formula: Formula) -> Iterator[Fair]:
    match formula:
        case Fair():
            yield formula
        case And(parts):
            for part in parts:
                yield from _conditions(part)
        case ForAll(cases=cases):
            for _, part in cases:
                yield from _conditions(part)
        case Truth(value=True):
            return
        case _:
            raise _refused(formula)


def _refused(formula: Formula) -> SpecError:
    message = "this fairness of a refined spec is of more than actions"
    return SpecError("KMC723", message, place_of(formula), "write weak_fairness or strong_fairness of actions or NEXT")


def _labels(steps: Formula) -> frozenset[int]:
    """The numbers of the instances of actions whose steps are meant."""
    match steps:
        case ActionSteps(labels):
            return labels
        case Or(parts):
            return frozenset().union(*map(_labels, parts))
        case ThereExists(cases=cases):
            return frozenset().union(*(_labels(part) for _, part in cases))
        case _:
            raise _refused(steps)


def _seen_through(
    fair: Fair, refinement: Refinement, abstract: AbstractSpec, instances: Sequence[tuple[Action, Arguments]]
) -> Fair:
    """The condition with predicates of the states and steps of the spec that refines the abstract one."""
    maker = StepMaker(refinement, abstract)
    chosen = [instances[label] for label in sorted(_labels(fair.steps))]
    taken = maker.function_of_step("before != after and", chosen)
    enabled = maker.function_of_state(chosen)
    group = getattr(fair.steps, "group", "") or refinement.abstract
    taken.__name__ = text_of(fair.steps)  # the name by which the formula calls it
    steps = StepPredicate(taken, fair.span, subscript=refinement.abstract, group=group)
    return Fair(fair.strong, steps, fair.span, StatePredicate(enabled, fair.span))
