"""Declared properties and reductions. Each is a function of a state, or of a state and its successor, to Bool.

Names are shown as written: `ElectionSafety` in Python is ElectionSafety in a model file and in a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from kmc.errors import EvaluationError, InvariantError, KmcError, Span
from kmc.lang.blame import blamed
from kmc.lang.idents import Ident
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
    """Must hold in every step: TLA+'s [][A]_vars, so never asked of a stuttering step."""

    __slots__ = ()


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


def holds(predicate: Predicate, files: Collection[str], *states: Any) -> bool:
    """The truth of `predicate`; raises at the author's place when it has none.

    InvariantError (exit status 76) for invariants, action properties and reachable properties, EvaluationError for
    constraints.
    """
    try:
        truth = predicate.function(*states)
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
