"""A violation of a translated spec as a violation of its module: states decoded, steps and errors by the module.

The search knows the spec only. So each step of a trace gets its label from the module, which has to have the same step,
and an error gets the words and the place that it has in the module. Where the module has no error, a type of the
translation was too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from kmc.actions.relation import AssertionFailure
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_replay import errors_at
from kmc.checking.modules.module_trace import least_step
from kmc.checking.modules.native_temporal import NativeTemporal
from kmc.checking.modules.native_translation import NativeTranslation
from kmc.errors import InternalError, KmcError
from kmc.result import Trace, TraceStep, Verdict, Violation
from kmc.tla.run.program import State
from kmc.tla.shapes.refusal import refusal

_NARROW = frozenset(("KMC201", "KMC202", "KMC203", "KMC204", "KMC205", "KMC206", "KMC290"))
"""The codes of values outside of their types, which an invariant has under a class of its own, and of assertions."""

_SEVERAL_VALUES = frozenset(("KMC229",))
"""The code of a map with two values for one key: the translation of a CHOOSE gives each value the key 0."""


class NotInModule(Exception):
    """An error of the translation that the module does not have, and states near it, which its types have to fit."""

    def __init__(self, error: KmcError, states: tuple[State, ...]) -> None:
        super().__init__(error, states)
        self.error = error
        self.states = states


def violation_in_module(
    module: CheckedModule, violation: Violation, translation: NativeTranslation, temporal: NativeTemporal
) -> Violation:
    """Return the violation in the words of the module; NotInModule for an error that the module does not have."""
    states = [translation.decoder.state(step.state) for step in violation.trace.steps]
    if violation.error is not None:
        error = _error_of(module, violation.error, states, translation)
        verdict = Verdict.ASSERTION if _is_assertion(error) else Verdict.ERROR
        return Violation(verdict, None, _trace(module, states), error)
    if violation.refutation is not None:
        return temporal.violation(module, violation, states)
    name = None if violation.name is None else translation.original(violation.name)
    return replace(violation, name=name, trace=_trace(module, states))


def _trace(module: CheckedModule, states: list[State]) -> Trace:
    steps = [TraceStep(states[0])]
    for before, after in pairwise(states):
        steps.append(least_step(module.program, before, after.__eq__))
    return Trace(tuple(steps))


def _error_of(
    module: CheckedModule, error: KmcError, states: Sequence[State], translation: NativeTranslation
) -> KmcError:
    """Return the error that the module has in the last state of a trace, where the translation fails."""
    errors = list(errors_at(module, states))
    if errors:
        return min(errors, key=_is_assertion)
    state = states[-1]
    raise not_in_module(error, (state, *(step.state for step in module.program.successors(state))), translation)


def not_in_module(error: KmcError, states: Iterable[State], translation: NativeTranslation) -> NotInModule:
    """Return the reason to widen types so that they fit some states; InternalError KMC943 if no type is at fault.

    SpecError KMC812 if a CHOOSE has several values: compiled code does not know which one is the first.
    A failed assertion may be the end of a chain of helpers, which a wider translation makes longer.
    """
    if error.code in _NARROW:
        return NotInModule(error, tuple(states))
    if error.code in _SEVERAL_VALUES:
        what = "a CHOOSE among values without an order, several of which satisfy its condition in a state"
        raise refusal(what, translation.place(error.span))
    raise InternalError(
        "KMC943",
        f"the translation of the module fails where the module does not: {error.message}",
        translation.place(error.span),
        help="check the module with the interpreter: leave --engine native out",
    )


def _is_assertion(error: KmcError) -> bool:
    return isinstance(error, AssertionFailure)
