"""The initial states of a model, with errors at the author's place."""

from __future__ import annotations

from typing import Any

from kmc.errors import EvaluationError
from kmc.lang.blame import blamed
from kmc.spec.declare import definition_span
from kmc.spec.model import Model


def initial_states(model: Model) -> list[Any]:
    """The initial states of a model; raises EvaluationError at the author's place, also when there is none."""
    spec = model.spec
    place = definition_span(spec.init)
    try:
        states: list[Any] = list(spec.init())
    except Exception as error:
        raise blamed(error, spec.files).at(place) from error
    for state in states:
        kind = type(state)
        if kind is not spec.state_class:
            raise EvaluationError("KMC272", f"init yields {kind.__name__}, not a State", place, "yield State(...)")
    if not states:
        raise EvaluationError(
            "KMC271", "the spec has no initial state", place, help="let @spec.init yield at least one state"
        )
    return states
