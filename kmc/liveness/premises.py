"""The premises of temporal properties: each must hold at some time, or the property is vacuous.

A premise is the left side of `P ~> Q`, of `P => Q`, or of an implication under []. The instances of \\A have one
premise together: that one process never waits may be as it should, that none ever does is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmc.liveness.formula_text import text_of
from kmc.liveness.formulas import Always, And, ForAll, Formula, Implies, LeadsTo, Not, Or, parts_of
from kmc.liveness.negation import is_of_steps, negated
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.problem import Premise
from kmc.liveness.queries_of_formula import queries_of
from kmc.liveness.temporal_core import TooManyCases


def premises_of(name: str, formula: Formula, atoms: NumberedPredicates) -> Iterator[Premise]:
    """The premises of the bound formula of property `name`; those that need too many queries are left out."""
    for group in _groups(formula):
        try:
            core = negated(Always(Not(Or(tuple(group)))), atoms)
            yield Premise(name, text_of(group[0]), len(group), queries_of(core))
        except TooManyCases:
            continue


def _groups(formula: Formula) -> Iterator[list[Formula]]:
    """The premises of each conjunct, those of all its instances together; a conjunct without a premise has none."""
    match formula:
        case And(parts):
            for part in parts:
                yield from _groups(part)
        case Always(And(parts)):
            for part in parts:
                yield from _groups(Always(part))
        case _:
            premises = _premises(formula)
            if premises:
                yield premises


def _premises(formula: Formula) -> list[Formula]:
    """The premises of all instances; empty if some instance has no premise, since the property is then never
    vacuous.
    """
    match formula:
        case LeadsTo(premise, _):
            return [premise]
        case Implies(premise, _) if not is_of_steps(formula):
            return [premise]
        case Always(part) if isinstance(part, Implies | ForAll | Always):
            return _premises(part)
        case ForAll():
            of_parts = [_premises(part) for part in parts_of(formula)]
            return [premise for premises in of_parts for premise in premises] if all(of_parts) else []
        case _:
            return []
