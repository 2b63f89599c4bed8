"""The sets that SYMMETRY permutes, found in its value: however a module writes it, a union of `Permutations(S)`."""

from __future__ import annotations

from collections import defaultdict
from math import factorial

from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.run.program import ModuleProgram, applied
from kmc.tla.shapes.refusal import refusal
from kmc.tla.values.kinds import FunctionValue, TlaModelValue, Value
from kmc.tla.values.order import sorted_values


def symmetric_sets(model: ResolvedModel, program: ModuleProgram) -> list[frozenset[Value]]:
    """Return the sets whose permutations are the value of SYMMETRY, in TLC's order; none for a model without it.

    SpecError KMC812 for another value, such as some of the permutations of a set.
    """
    definition = model.symmetry
    if definition is None or definition.body is None:
        return []
    value = program.evaluate(applied(definition), None)
    found: defaultdict[frozenset[Value], set[Value]] = defaultdict(set)
    for one in value if isinstance(value, frozenset) else (value,):
        if one == ():
            continue  # the only permutation of the empty set
        if not isinstance(one, FunctionValue) or not _permutes(one):
            break
        found[one.domain.key_set].add(one)
    else:
        if all(len(functions) == factorial(len(domain)) for domain, functions in found.items()):
            return [domain for domain in sorted_values(frozenset(found)) if isinstance(domain, frozenset)]
    raise refusal("a symmetry set that is not Permutations of sets of model values", definition.body.place)


def _permutes(function: FunctionValue) -> bool:
    """Return whether a function is a permutation of model values."""
    keys = function.domain.key_set
    return all(isinstance(key, TlaModelValue) for key in keys) and frozenset(function.values) == keys
