"""Resources and callbacks of a check besides what is asked: the folder of its run, progress, notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kmc.result import Counters

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory


def _nothing_saved() -> None:
    return None


def _not_shown(text: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The resources and callbacks of a search besides its request; none of them changes the result.

    `open_directory` gives the folder in which a native search saves itself, every `save_seconds` at most; it is called
    once the request was accepted, so that a mistake leaves no folder. With `keep_states` the states of shards stay.
    `progress` is called about once a second with the counters, and `note` with texts that a person should see once.
    """

    open_directory: Callable[[], RunDirectory | None] = _nothing_saved
    save_seconds: float = 30.0
    keep_states: bool = False
    progress: Callable[[Counters], None] | None = None
    note: Callable[[str], None] = _not_shown
