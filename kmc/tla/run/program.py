"""A resolved model that runs: its initial states, its successors and the predicates of its `.cfg` file.

Invariant: initial states and successors come with TLC's multiplicity, so counting them gives TLC's counts. A program
raises SpecError (KMC2xx) for what no engine of kmc supports before anything runs, and EvaluationError at the author's
place for what fails while it runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kmc.tla.resolved.model import Assumption, ResolvedModel
from kmc.tla.resolved.nodes import Expression, OperatorDefinition
from kmc.tla.values.kinds import Value

State: TypeAlias = tuple[Value, ...]
"""One value per variable, in the order of `ResolvedModel.variables`; hashable."""


@dataclass(frozen=True, slots=True)
class ModuleStep:
    """A successor, and the action that leads to it: `label` is its name as TLC shows it, with arguments."""

    label: str
    action: OperatorDefinition | None
    state: State


class ModuleProgram:
    """A model of a TLA+ module, compiled to closures."""

    action_names: tuple[str, ...]
    """The actions of the next-state relation as TLC lists them, each name once."""

    def __init__(self, model: ResolvedModel) -> None:
        self.model = model
        self.action_names = ()

    def failed_assumption(self) -> Assumption | None:
        """Return the first assumption that does not hold."""
        raise NotImplementedError

    def initial_states(self) -> Iterator[State]:
        """Enumerate the initial states with TLC's multiplicity."""
        raise NotImplementedError

    def successors(self, state: State) -> Iterator[ModuleStep]:
        """Enumerate the successors of a state with TLC's multiplicity."""
        raise NotImplementedError

    def holds(self, predicate: OperatorDefinition, state: State) -> bool:
        """Return whether a predicate without parameters holds in a state."""
        raise NotImplementedError

    def holds_in_step(self, predicate: Expression, state: State, successor: State) -> bool:
        """Return whether a formula with primes is true of a step: evaluated, not enumerated."""
        raise NotImplementedError

    def is_in_model(self, state: State) -> bool:
        """Return whether all constraints hold in a state."""
        raise NotImplementedError

    def is_step_in_model(self, state: State, successor: State) -> bool:
        """Return whether all action constraints hold in a step."""
        raise NotImplementedError

    def identity(self, state: State) -> Hashable:
        """Return what a fingerprint stands for: the value of the view, the least symmetric state, or the state."""
        raise NotImplementedError

    def evaluate(self, expression: Expression, state: State | None, successor: State | None = None) -> Value:
        """Evaluate an expression of any level below temporal; the value is hashable unless its set is infinite."""
        raise NotImplementedError

    def alias(self, state: State, successor: State) -> Value | None:
        """Return the value of ALIAS in a step, None if the model has none."""
        raise NotImplementedError
