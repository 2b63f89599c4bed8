"""From a module's fairness and temporal properties to a temporal problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kmc.liveness.formulas import And, Fair, ForAll, Formula, Implies, Truth, constant_truth
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.premises import premises_of
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.property_checks import check_of, fairness_condition, instances_of_formula
from kmc.tla.resolved.nodes import Expression, OperatorDefinition
from kmc.tla.run.program import ModuleProgram
from kmc.tla.temporal.formula_reader import FormulaReader
from kmc.tla.values.texts import text_of

WHOLE_STATES = 100_000
"""The number of states up to which a search is whole before it has a verdict on temporal properties, as that of TLC."""


def module_problem(program: ModuleProgram, properties: Sequence[tuple[str, OperatorDefinition]]) -> TemporalProblem:
    """The temporal problem of some properties, each a name and a definition without parameters.

    Conditions of the specification that are neither WF nor SF become premises of every property: TLC assumes them too.
    SpecError (KMC706, KMC711) for a formula that cannot be checked.
    """
    reader = FormulaReader(program)
    atoms = NumberedPredicates()
    behaviour = program.model.behaviour
    given = [reader.formula(condition) for condition in (behaviour.fairness if behaviour is not None else ())]
    fair = [condition for formula in given for condition in _conditions(formula)]
    assumed = [condition for condition in fair if isinstance(condition, Fair)]
    others = tuple(condition for condition in fair if not isinstance(condition, Fair))
    formulas = [(name, definition, reader.formula(_body(definition))) for name, definition in properties]
    checks = [
        (check_of(name, definition.place, instance, asked, atoms), asked)
        for name, definition, formula in formulas
        for instance, part in instances_of_formula(formula, text_of)
        for asked in [Implies(And(others), part) if others else part]
    ]
    return TemporalProblem(
        fairness=tuple(fairness_condition(condition, atoms) for condition in assumed),
        checks=tuple(check for check, _ in checks),
        formulas=tuple(formula for _, formula in checks),
        assumed=tuple(assumed),
        tautologies=tuple(name for name, _, formula in formulas if constant_truth(formula) is True),
        premises=tuple(premise for name, _, formula in formulas for premise in premises_of(name, formula, atoms)),
        # An action under WF or SF need not be a step of Next.
        is_realizable=False,
        specification="the specification",
        atoms=atoms.of_states,
        step_atoms=atoms.of_steps,
        whole_states=WHOLE_STATES,
    )


def _body(definition: OperatorDefinition) -> Expression:
    assert definition.body is not None, "the model is resolved"
    return definition.body


def _conditions(formula: Formula) -> Iterator[Formula]:
    """The conjuncts of what a specification assumes, those of all instances."""
    match formula:
        case And(parts):
            for part in parts:
                yield from _conditions(part)
        case ForAll(cases=cases):
            for _, part in cases:
                yield from _conditions(part)
        case Truth(value=True):
            return
        case _:
            yield formula
