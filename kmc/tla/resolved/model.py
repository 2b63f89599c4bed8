"""A resolved model: a TLA+ module and its `.cfg` file, with all names bound and all overrides applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kmc.errors import Span
from kmc.tla.resolved.nodes import Expression, OperatorDefinition


@dataclass(frozen=True, slots=True, eq=False)
class Assumption:
    """An ASSUME of the root module or of a module that it extends; `name` is None where it has none."""

    name: str | None
    condition: Expression
    place: Span


@dataclass(frozen=True, slots=True)
class BehaviourParts:
    r"""The behaviour specification, divided: initial predicate, next-state relation, fairness.

    From `Init /\ [][Next]_v /\ Fairness`, in any order and through definitions, or from INIT and NEXT of the `.cfg`
    file. `next` is None for a specification without one: a single level of initial states that all stutter.
    """

    initial: tuple[Expression, ...]
    next: Expression | None
    subscript: Expression | None
    fairness: tuple[Expression, ...]


class ReaderOfExpressions(Protocol):
    """A reader of expressions that a person types, with the names that the root module has."""

    def read(self, text: str) -> Expression:
        """Resolve the expression in a text; raises SpecError at its place in the text."""
        ...


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A module and its `.cfg` file with everything resolved: what is checked.

    `constants` are the declared constants as definitions whose bodies are the values of the model. `behaviour` is None
    for a module that only assumes. `definitions` has every definition that the root module can name (for expressions
    that a person types), `warnings` are texts for a person. `properties` are PROPERTY of any level.
    """

    module: str
    path: str
    configuration: str | None
    variables: tuple[str, ...]
    constants: tuple[OperatorDefinition, ...]
    assumptions: tuple[Assumption, ...]
    behaviour: BehaviourParts | None
    invariants: tuple[OperatorDefinition, ...] = ()
    properties: tuple[OperatorDefinition, ...] = ()
    constraints: tuple[OperatorDefinition, ...] = ()
    action_constraints: tuple[OperatorDefinition, ...] = ()
    symmetry: OperatorDefinition | None = None
    view: OperatorDefinition | None = None
    alias: OperatorDefinition | None = None
    postconditions: tuple[OperatorDefinition, ...] = ()
    check_deadlock: bool = True
    in_every_action: Expression | None = None
    """The conjunct by which every action sets the level of its successor, where `has_level`."""
    definitions: dict[str, OperatorDefinition] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    files: tuple[str, ...] = ()
    """The paths of all modules that were read, the root module first."""
    reader: ReaderOfExpressions | None = field(default=None, repr=False, compare=False)
    name_numbers: Callable[[], Mapping[str, int]] = field(default=dict, repr=False, compare=False)
    """Gives the numbers by which TLC orders names."""

    @property
    def has_level(self) -> bool:
        """True if the last variable is the level of a state, which `TLCGet("level")` reads."""
        return self.in_every_action is not None
