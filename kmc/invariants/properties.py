"""Declared properties and reductions. Each is a function of a state, or of a state and its successor, to Bool.

Names are shown as written: `ElectionSafety` in Python is ElectionSafety in a model file and in a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from kmc.errors import EvaluationError, InvariantError, KmcError, Span
from kmc.lang.errors.blame import blamed
from kmc.lang.idents import Ident
from kmc.lang.records import State
from kmc.lang.showing import shown


@dataclass(frozen=True, slots=True)
class Predicate:
    """A named Bool function of a state (or, for steps, of a state and its successor)."""

    name: str
    function: Callable[..., bool]
    span: Span
    doc: str


class Invariant(Predicate):
    """Must hold in every reachable state."""

    __slots__ = ()


class ActionProperty(Predicate):
    """Must hold in every step that changes something: TLA+'s [][A]_vars. `holds` never evaluates it for another."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Refinement(ActionProperty):
    """Every step must be a step of the spec `abstract`, or change nothing there, and a behaviour must begin as one of
    that spec.

    `mapping` gives the abstract state of a state, and `begins` says whether that is an initial state of `abstract`.
    """

    abstract: str
    mapping: Callable[[Any], Any]
    begins: Callable[[Any], bool]


class Constraint(Predicate):
    """Bounds the search: a state in which it is false is checked, but not stored, counted or expanded."""

    __slots__ = ()


class ActionConstraint(Predicate):
    """Bounds the search: a step for which it is false is not taken."""

    __slots__ = ()


class Reachable(Predicate):
    """Must hold in some reachable state, or the spec is vacuous there."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class InvariantPremise(Reachable):
    """The premise of a part of `invariant`, at `place` for people: some reachable state must satisfy it, or that part
    says nothing.

    It is only evaluated where those `within` which it lies are true. Its `doc` is its text.
    """

    invariant: str
    place: str
    within: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """States that differ only in the `dropped` fields count as one."""

    name: str
    dropped: frozenset[str]
    span: Span


@dataclass(frozen=True, slots=True)
class SymmetrySet:
    """A named symmetry: all permutations of the members of each of `classes`."""

    name: str
    classes: tuple[type[Ident], ...]
    span: Span


def is_stuttering(source: Any, successor: State) -> bool:
    """Return whether a step changes no variable; whatever permutation of the source another state may be."""
    return bool(source == successor)


def holds(predicate: Predicate, files: Collection[str], *states: State) -> bool:
    """Return the truth of `predicate`; raises at the author's place when it has none.

    An action property holds in a stuttering step without being evaluated: every search, replay and view calls it here,
    so none of them can report such a step as a violation or an error. InvariantError (exit status 76) for invariants,
    action properties and reachable properties, EvaluationError for constraints.
    """
    if isinstance(predicate, ActionProperty) and is_stuttering(*states):
        return True
    return _truth(predicate, predicate.function, files, states)


def begins_as_refined(refinement: Refinement, files: Collection[str], initial: State) -> bool:
    """Return whether an initial state is one of the abstract spec, too; errors as of `holds`."""
    return _truth(refinement, refinement.begins, files, (initial,))


def _truth(
    predicate: Predicate, function: Callable[..., bool], files: Collection[str], states: Sequence[State]
) -> bool:
    """The value of a function of `predicate`, with errors as `holds` raises them."""
    try:
        truth = function(*states)
    except Exception as error:
        raise _as_kind(predicate, blamed(error, files)) from error
    if truth is True or truth is False:
        return truth
    raise _as_kind(
        predicate,
        EvaluationError(
            "KMC261", f"{predicate.name} is {shown(truth)}, not True or False", predicate.span, help="return a Bool"
        ),
    )


def _as_kind(predicate: Predicate, error: KmcError) -> KmcError:
    note = f"while evaluating {predicate.name}"
    if isinstance(predicate, Constraint | ActionConstraint):
        return error.at(predicate.span).noting(note)
    span = error.span or predicate.span
    return InvariantError(error.code, error.message, span, error.help, (*error.notes, note))
