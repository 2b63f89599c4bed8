"""The temporal properties of a module on the native engine: their atoms are functions of the spec, the rest is as ever.

Invariant: the spec's problem has the numbers of the module's own problem, so a query means the same in both. Each atom
of the spec is the translation of the atom of the module with its number. A lasso that the engine finds is read back,
and replayed by the module's formulas, as the interpreter's are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_lasso_replay import find_query, lasso_violation
from kmc.checking.modules.module_replay import refuse_replay
from kmc.checking.modules.module_temporal import temporal_work
from kmc.errors import EvaluationError
from kmc.frontend.model import Model
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.lassos import Path
from kmc.reference.temporal.verdicts import AnsweredCheck
from kmc.result import Violation
from kmc.tla.run.program import State
from kmc.tla.temporal.predicates import ModulePredicate, ModuleStepPredicate
from kmc.tla.translate.temporal_atoms import NO_ATOMS, STATE_ATOM, STEP_ATOM, TemporalAtoms, atom_name


@dataclass(frozen=True, slots=True)
class NativeTemporal:
    """The temporal problem of a module, and what its translation needs of it."""

    problem: TemporalProblem | None = None

    @classmethod
    def of(cls, module: CheckedModule) -> NativeTemporal:
        """Return the temporal problem of a module, which may have none; KmcError as the interpreter refuses it."""
        work = temporal_work(module)
        return cls(None if work is None else work.problem)

    @property
    def atoms(self) -> TemporalAtoms:
        """Return the formulas that become functions of the spec."""
        if self.problem is None:
            return NO_ATOMS
        of_states, of_steps = _predicates(self.problem.atoms), _predicates(self.problem.step_atoms)
        return TemporalAtoms(tuple(one.expression for one in of_states), tuple(one.expression for one in of_steps))

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the atoms in their order, for the key of a translation."""
        if self.problem is None:
            return ()
        return tuple(one.text for one in _predicates((*self.problem.atoms, *self.problem.step_atoms)))

    def of_spec(self, model: Model, line: Callable[[Any], str]) -> TemporalProblem | None:
        """Return the problem over states of a translated spec: without formulas, which only the module has.

        `line` writes such a state in the words of the module.
        """
        problem = self.problem
        if problem is None:
            return None
        functions = {name: value for names in model.spec.modules.values() for name, value in names.items()}
        return replace(
            problem,
            atoms=tuple(functions[atom_name(STATE_ATOM, index)] for index in range(len(problem.atoms))),
            step_atoms=tuple(functions[atom_name(STEP_ATOM, index)] for index in range(len(problem.step_atoms))),
            formulas=(),
            assumed=(),
            line=line,
        )

    def error_at(self, module: CheckedModule, state: State) -> EvaluationError | None:
        """Return the error of a predicate of the module in a state or for one of its steps; None if there is none."""
        if self.problem is None:
            return None
        try:
            for atom in self.problem.atoms:
                atom(state)
            for step in module.program.successors(state):
                for predicate in self.problem.step_atoms:
                    enabled = predicate.enabled if isinstance(predicate, ModuleStepPredicate) else None
                    if enabled is None or enabled(state):
                        predicate(state, step.state)
        except EvaluationError as error:
            return error
        return None

    def violation(self, module: CheckedModule, found: Violation, states: Sequence[State]) -> Violation:
        """Return the refutation that a lasso of the spec is in the module; InternalError KMC942 if it is none."""
        problem, refutation = self.problem, found.refutation
        assert problem is not None
        assert refutation is not None
        wanted = found.name, refutation.instance
        check = next((one for one in problem.checks if (one.name, one.instance) == wanted), None)
        if check is None:
            refuse_replay(f"the module has no property {found.name}")
        begin = len(states) if refutation.cycle is None else refutation.cycle.back_to - 1
        numbers = tuple(range(len(states)))
        path = Path(numbers[:begin], numbers[begin:])
        query = find_query(problem, check, path, states)
        return lasso_violation(module, problem, AnsweredCheck(check, query, path), states)


def _predicates(functions: Sequence[object]) -> list[ModulePredicate]:
    found = [one for one in functions if isinstance(one, ModulePredicate)]
    assert len(found) == len(functions), "the atoms of a module are its own formulas"
    return found
