"""The checks of a property: its instances and conjuncts, each with the queries for its counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kmc.errors import Span, SpecError
from kmc.liveness.formula_text import group_of, text_of
from kmc.liveness.formulas import And, Fair, ForAll, Formula, place_of
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, TemporalCheck
from kmc.liveness.negation import negated
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.queries_of_formula import QUERIES_MAX, queries_of
from kmc.liveness.temporal_core import TooManyCases


def instances_of_formula(formula: Formula, name: Callable[[Any], str]) -> Iterator[tuple[str, Formula]]:
    """The parts of a bound formula that are checked one by one, each with the text that distinguishes it: `v = v1`."""
    conjuncts: dict[str, list[Formula]] = {}
    for instance, conjunct in _parts(formula, name):
        conjuncts.setdefault(instance, []).append(conjunct)
    for instance, of_instance in conjuncts.items():
        yield instance, And(tuple(of_instance)) if len(of_instance) > 1 else of_instance[0]


def _parts(formula: Formula, name: Callable[[Any], str]) -> Iterator[tuple[str, Formula]]:
    match formula:
        case And(conjuncts):
            for conjunct in conjuncts:
                yield from _parts(conjunct, name)
        case ForAll(variable, cases):
            for value, case in cases:
                own = f"{variable} = {name(value)}"
                for instance, conjunct in _parts(case, name):
                    yield ", ".join(filter(None, [own, instance])), conjunct
        case _:
            yield "", formula


def check_of(name: str, span: Span, instance: str, formula: Formula, atoms: NumberedPredicates) -> TemporalCheck:
    """The check of an instance of property `name`; SpecError (KMC706) if it fails in too many cases."""
    queries: list[LassoQuery] = []
    try:
        # A conjunction fails where one of its parts does.
        for conjunct in formula.parts if isinstance(formula, And) else (formula,):
            queries += queries_of(negated(conjunct, atoms))
    except TooManyCases:
        message = f"{name} has more than {QUERIES_MAX} cases in which it fails"
        advice = "write it as several properties, or with less nesting"
        raise SpecError("KMC706", message, place_of(formula) or span, advice) from None
    return TemporalCheck(name, instance, tuple(dict.fromkeys(queries)))


def fairness_condition(fair: Fair, atoms: NumberedPredicates) -> FairnessCondition:
    """The condition that weak or strong fairness puts on a cycle."""
    enabled = None if fair.enabled is None else atoms.states(fair.enabled)
    return FairnessCondition(text_of(fair), group_of(fair.steps), fair.strong, atoms.changing(fair.steps), enabled)
