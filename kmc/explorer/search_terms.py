"""The terms of a search on a walk: what it waits for, when it gives up, how far it is, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.result import TraceStep

TakenStep = tuple[TraceStep, Any]
"""A step, with the message that it receives."""

Condition = Callable[[Any, Any], bool]
"""Whether it is met in a state, given the state before it."""


@dataclass(frozen=True, slots=True)
class WaitedFor:
    """A condition with the sentence that says when it is met: `NoIllegalState fails`.

    `is_met_by_step` is its part that a step to a known state may meet, although that state alone does not. `check`
    makes the model whose check fails where the condition is met, with files in a folder that stays during the check;
    None where there is no such model.
    """

    sentence: str
    is_met: Condition
    is_met_by_step: Condition = lambda before, state: False
    check: Callable[[Model, Path], Model] | None = None


@dataclass(frozen=True, slots=True)
class SeekLimits:
    """When to give up: states seen, or steps of a walk, and seconds."""

    states: int = 20_000
    seconds: float = 120.0


@dataclass(slots=True)
class SeekProgress:
    """The progress of a search, and its activity while it does not search; setting `is_cancelled` ends it."""

    states: int = 0
    depth: int = 0
    is_cancelled: bool = False
    activity: str = ""


class SeekEnd(Enum):
    """The reason why a search or a walk ended; the values are shown."""

    FOUND = "found"
    ALL_SEEN = "all states that can be reached were seen"
    LIMIT = "the limit was reached"
    CANCELLED = "cancelled"
    NO_STEP = "no step leads to another state"
    WALKED = "all steps were taken"
    ERROR = "the spec has an error there"


@dataclass(frozen=True, slots=True)
class SeekResult:
    """Why it ended, the steps to where it ended (none where there is nowhere to go), and the number of states that it
    saw.
    """

    end: SeekEnd
    steps: tuple[TakenStep, ...]
    states: int
    depth: int
    error: KmcError | None = None
