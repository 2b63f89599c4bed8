"""Abstractions: functions from a state to the state that stands for it in a search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from kmc.errors import EvaluationError, Span
from kmc.lang.errors.blame import blamed
from kmc.lang.kinds import kind_in_words
from kmc.lang.records import State


@dataclass(frozen=True, slots=True)
class Abstraction:
    """A function from a state to the state that stands for it; `doc` says why nothing that is asked tells them apart.

    A search that uses it stores the images of states only. That loses nothing if a state and its image are bisimilar
    for what a model asks, which `kmc.frontend.bisimulation` checks.
    """

    name: str
    function: Callable[[Any], Any]
    span: Span
    doc: str


def image_of(abstractions: Iterable[Abstraction], state: State, files: Collection[str]) -> Any:
    """The state that stands for `state` when these abstractions are applied one after the other.

    Raises EvaluationError at the author's place where one of them fails, or gives something else than a state.
    """
    image: Any = state
    for abstraction in abstractions:
        try:
            answer = abstraction.function(image)
        except Exception as error:
            raise blamed(error, files).at(abstraction.span).noting(f"while evaluating {abstraction.name}") from error
        if type(answer) is not type(state):
            message = f"{abstraction.name} gives {kind_in_words(answer)}, not a {type(state).__name__}"
            raise EvaluationError(
                "KMC273", message, abstraction.span, help="return the whole state: return st.set(...)"
            )
        image = answer
    return image
