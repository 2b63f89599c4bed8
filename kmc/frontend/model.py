"""A model: a spec with its constants, the properties to check and the reductions to use.

Invariant: every name that a model file mentions has been resolved, or is an error at its place in that file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeVar

from kmc.actions.abstraction import Abstraction
from kmc.frontend.loader import Spec
from kmc.invariants.kinds import SHOWN, PropertyKind, Role, of_role
from kmc.invariants.properties import (
    ActionConstraint,
    ActionProperty,
    Constraint,
    Invariant,
    InvariantPremise,
    Predicate,
    Reachable,
    SymmetrySet,
    View,
)
from kmc.lang.constant_values import text_of
from kmc.lang.maps import MapValue
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.types import SymbolMeta
from kmc.liveness.formulas import TemporalProperty
from kmc.model_files.model_file import ModelFile

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Model:
    """The input of a check. `specification` names the one that declares fairness; None means INIT and NEXT.
    `premises` are those of the invariants that a search looks for; a model that was just bound has none.

    Its states and steps are those of the spec. A search that uses the `abstractions` takes those of `searched`.
    """

    spec: Spec
    name: str
    invariants: tuple[Invariant, ...]
    action_properties: tuple[ActionProperty, ...]
    constraints: tuple[Constraint, ...]
    action_constraints: tuple[ActionConstraint, ...]
    reachable: tuple[Reachable, ...]
    symmetry: tuple[SymmetrySet, ...]
    view: View | None
    temporal: tuple[TemporalProperty, ...]
    specification: str | None
    deadlock: bool
    max_depth: int | None
    file: ModelFile
    abstractions: tuple[Abstraction, ...] = ()
    premises: tuple[InvariantPremise, ...] = ()

    def of(self, kind: PropertyKind) -> tuple[Predicate, ...]:
        """The predicates of a kind."""
        predicates: tuple[Predicate, ...] = getattr(self, kind.field)
        return predicates

    def evaluated(self, kind: PropertyKind) -> tuple[Predicate, ...]:
        """The predicates of the kernel of a kind: with the premises of invariants, if some state must satisfy them."""
        return (*self.of(kind), *self.premises) if kind.role is Role.WITNESSED else self.of(kind)

    def predicates(self, role: Role, states: int | None = None) -> tuple[Predicate, ...]:
        """The predicates of a role, all or those that look at so many states, in the order of the table."""
        kinds = (kind for kind in of_role(role) if states in (None, kind.states))
        return tuple(prop for kind in kinds for prop in self.of(kind))

    @property
    def searched(self) -> Model:
        """The model whose states are the images under its abstractions; itself if it has none, or is such a model."""
        if self.spec.abstractions == self.abstractions:
            return self
        return replace(self, spec=self.spec.abstracted(self.abstractions))

    @property
    def digest(self) -> str:
        """Identifies spec, constants, properties and reductions; a changed comment keeps it."""
        # The digest of the sources covers everything that a model does not choose.
        names = [prop.name for kind in SHOWN if kind.selected_by for prop in self.of(kind)]
        lines = [
            self.spec.source_digest,
            *(f"{c.name}={_members_text(c.value)}" for c in self.spec.constants.values()),
            *names,
            *(s.name for s in self.symmetry),
            self.view.name if self.view else "",
            *(f"abstraction {abstraction.name}" for abstraction in self.abstractions),
            str(self.deadlock),
            # Fairness matters to temporal properties only.
            *((self.specification or "", *(prop.name for prop in self.temporal)) if self.temporal else ()),
        ]
        return sha256("\n".join(lines).encode()).hexdigest()[:16]


def _members_text(value: object) -> str:
    if isinstance(value, SymbolMeta):
        return str(value.members)
    # A set, a map or a record has no text of Python's that is the same in every process.
    return text_of(value) if isinstance(value, frozenset | MapValue | SeqValue | Record) else str(value)
