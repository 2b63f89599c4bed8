"""The replay of a saved trace as `kmc replay` prints it: of a spec in Python, or of a TLA+ module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmc.reference.recurrence import RecordedFailure
    from kmc.story.retaken import Retaken
    from kmc.trace.untyped_trace import TraceFile


@dataclass(frozen=True, slots=True)
class Replay:
    """A trace that was replayed, the names of its spec and model, and the failure that it was saved for, if any.

    `reason` explains in lines why the failure occurs in the replayed states; it has none where it does not occur.
    """

    file: TraceFile
    spec: str
    model: str
    failure: RecordedFailure | None
    retaken: Retaken
    reason: Callable[[RecordedFailure], tuple[str, ...]]
