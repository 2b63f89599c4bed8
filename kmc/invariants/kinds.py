"""The table of property kinds: one row each, over which spec, compiler, engines and command line loop.

A kind is identified by its role and by the number of its states; a search has one loop for each such pair. To add a
kind: a class in `kmc.invariants.properties`, a row here, a field of `Model` and of the names of a compiled spec, a
decorator in `kmc.spec.declare`; and for a new pair its meaning in `kmc.reference.search` and in the engine's kernel
interface.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kmc.errors import ExitStatus
from kmc.invariants.properties import ActionConstraint, ActionProperty, Constraint, Invariant, Predicate, Reachable

PROPERTIES_MAX = 62
"""The greatest number of predicates of one kind: compiled code answers with a mask of them in one word."""


class Role(Enum):
    """The conclusion of a search if a predicate is false. In the order in which kinds are shown."""

    CHECKED = "a violation"
    WITNESSED = "a warning if it is false in all states that were found"
    BOUNDING = "the state is not stored, or the step not taken"


class Answer(Enum):
    """The result of a kind's kernel; bit n represents predicate n."""

    FAILING = "a mask of those that are false"
    HOLDING = "a mask of those that are true, among those that the caller wants"
    FIRST_FAILING = "the bit of the first that is false; no later one is evaluated"


@dataclass(frozen=True, slots=True)
class PropertyKind:
    """One row.

    `name` is the decorator in a spec, `field` the one of `Model` and of a compiled spec's names, `label` the line of a
    report that lists them. `states` is 1 for a predicate of a state, 2 for one of a state and its successor.
    `selected_by` are the fields of `ModelFile` that choose them; without any, a model has all that its spec declares.
    """

    name: str
    declared: type[Predicate]
    noun: str
    plural: str
    label: str
    field: str
    states: int
    role: Role
    answer: Answer
    kernel: str
    selected_by: tuple[str, ...] = ()
    exit_status: ExitStatus | None = None


KINDS = (
    PropertyKind(
        "invariant", Invariant, "invariant", "invariants", "invariants", "invariants", 1, Role.CHECKED,
        Answer.FAILING, "check", ("invariants", "properties"), ExitStatus.SAFETY,
    ),
    PropertyKind(
        "constraint", Constraint, "constraint", "constraints", "constraints", "constraints", 1, Role.BOUNDING,
        Answer.FIRST_FAILING, "outside", ("constraints",),
    ),
    PropertyKind(
        "reachable", Reachable, "reachable property", "reachable properties", "reachable", "reachable", 1,
        Role.WITNESSED, Answer.HOLDING, "reachable",
    ),
    PropertyKind(
        "action_property", ActionProperty, "action property", "action properties", "action properties",
        "action_properties", 2, Role.CHECKED, Answer.FAILING, "step", ("properties",), ExitStatus.LIVENESS,
    ),
    PropertyKind(
        "action_constraint", ActionConstraint, "action constraint", "action constraints", "constraints",
        "action_constraints", 2, Role.BOUNDING, Answer.FIRST_FAILING, "step_outside", ("action_constraints",),
    ),
)  # fmt: skip
"""All kinds, in the order of their kernels in a module."""

SHOWN = tuple(sorted(KINDS, key=lambda kind: list(Role).index(kind.role)))
"""All kinds, in the order in which a person reads them."""


def of_role(role: Role) -> tuple[PropertyKind, ...]:
    """The kinds of a role, those of a state first."""
    return tuple(kind for kind in KINDS if kind.role is role)


def kind_of(role: Role, states: int) -> PropertyKind:
    """The kind of a role whose predicates have so many states; there is one at most."""
    kinds = [kind for kind in of_role(role) if kind.states == states]
    assert len(kinds) == 1, f"{len(kinds)} kinds have the role {role.name} and {states} states"
    return kinds[0]
