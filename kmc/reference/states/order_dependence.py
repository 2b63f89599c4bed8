"""Failures that depend on an evaluation order that the spec leaves open: of a symmetric type's members, or a set's
elements.

A quantifier stops at the first element that decides it. Whether a failing element is evaluated before the deciding one
depends on the representative of an orbit and on the order of a set in memory. So engines may differ there, and so may
two states of one orbit. Then the error says so, and no engine is considered wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import TracebackType
from typing import Any

from kmc.errors import EvaluationError, InvariantError, KmcError, Span
from kmc.frontend.model import Model
from kmc.lang.errors.blame import instruction_span
from kmc.lang.records import State
from kmc.reference.states.findings import error_rank


def order_dependent(model: Model, state: State, errors_of: Callable[[Any], list[KmcError]]) -> KmcError | None:
    """The error if an engine failed in a state and `errors_of` finds no error; None if no order explains this."""
    with every_turn(model):
        errors = errors_of(state)
    return of_order(model, min(errors, key=error_rank)) if errors else None


def of_order(model: Model, error: KmcError) -> KmcError:
    """The error for an `error` that occurs in one order and not in another."""
    kind = InvariantError if isinstance(error, InvariantError) else EvaluationError
    what = "the members of a symmetric type" if model.symmetry else "the elements of a set"
    more = "; without symmetry, kmc can show a trace" if model.symmetry else ""
    line = f" (line {error.span.line})" if error.span is not None else ""
    return kind(
        "KMC262",
        f"whether this fails depends on the order of {what}, and they have none",
        _quantifier_span(error, model.spec.files) or error.span,
        f"make the condition evaluable for every element: test what an element needs in its own condition{more}",
        (f"in some order: {error.message}{line}", *error.notes),
    )


@contextmanager
def every_turn(model: Model) -> Iterator[None]:
    """Inside, quantifiers of the spec do not stop early, so every element is evaluated."""
    tables = _builtins(model)
    for table in tables:
        table.update(any=_any, all=_all)
    try:
        yield
    finally:
        for table in tables:
            table.update(any=any, all=all)


def _any(items: Iterable[Any]) -> bool:
    return any(list(items))


def _all(items: Iterable[Any]) -> bool:
    return all(list(items))


def _builtins(model: Model) -> list[dict[str, Any]]:
    """The tables of built-in names of a spec's modules: one table, except for specs that were not loaded from files."""
    functions = [action.function for action in model.spec.actions]
    tables = [function.__globals__["__builtins__"] for function in functions]
    return [table for index, table in enumerate(tables) if not any(table is other for other in tables[:index])]


def _quantifier_span(error: KmcError, files: Iterable[str]) -> Span | None:
    """The place of the innermost quantifier around an error; None outside of all quantifiers."""
    cause = error.__cause__
    frames = list(_author_frames(cause.__traceback__ if cause is not None else None, frozenset(files)))
    for before, frame in reversed(list(pairwise(frames))):
        if frame.tb_frame.f_code.co_name == "<genexpr>":
            return instruction_span(before.tb_frame.f_code, before.tb_lasti, before.tb_lineno)
    return None


def _author_frames(traceback: TracebackType | None, files: frozenset[str]) -> Iterator[TracebackType]:
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in files:
            yield traceback
        traceback = traceback.tb_next
