"""The outcome of one model among those of `kmc check SPEC --all`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kmc.checking.selection import ChosenEntry


class State(Enum):
    """The outcome of a model in `kmc check --all`; the values are those of the JSON object."""

    EXPECTED = "expected"
    UNEXPECTED = "unexpected"
    LEFT_OUT = "left out"
    NOT_CHECKED = "not checked"
    INTERRUPTED = "interrupted"

    @property
    def words(self) -> str:
        """As a person reads it."""
        return {State.EXPECTED: "as expected", State.UNEXPECTED: "UNEXPECTED"}.get(self, self.value)


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The outcome of a model, with `summary` as its text in a few words.

    `text` is the failure, expected or not, with the trace; `result` is the object of `kmc check --json`, None if there
    is none.
    """

    choice: ChosenEntry
    state: State
    summary: str
    text: str = ""
    result: Mapping[str, Any] | None = None
    seconds: float = 0.0
