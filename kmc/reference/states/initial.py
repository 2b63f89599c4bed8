"""The initial states of a model, with errors at the author's place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kmc.actions.abstraction import image_of
from kmc.errors import EvaluationError
from kmc.frontend.model import Model
from kmc.lang.errors.blame import blamed, yield_span
from kmc.lang.kinds import kind_in_words
from kmc.lang.records import State
from kmc.spec.declare import definition_span


def initial_states(model: Model) -> list[State]:
    """The initial states of a model; raises EvaluationError at the author's place, also for no initial state."""
    return list(each_initial_state(model))


def each_initial_state(model: Model) -> Iterator[State]:
    """The initial states one by one; raises EvaluationError as `initial_states`, when it comes to that."""
    spec = model.spec
    place = definition_span(spec.init)
    expected: Any = spec.state_class
    count = 0
    try:
        yielded: Iterator[Any] = spec.init()
        for state in yielded:
            if type(state) is not expected:
                message = f"{spec.init.__name__} yields {kind_in_words(state)}, not a State"
                raise EvaluationError("KMC272", message, yield_span(yielded, spec.files), "write yield State(...)")
            count += 1
            yield image_of(spec.abstractions, state, spec.files)
    except Exception as error:
        raise blamed(error, spec.files).at(place) from error
    if not count:
        raise EvaluationError(
            "KMC271", "the spec has no initial state", place, help="let @spec.init yield at least one state"
        )
