"""A trace as its file holds it: TLA+ variables per state, without a spec.

Invariant: every step gives the same variables, and there is at least one step. Formats and the text rendering know
this form only; what a value means to a spec (its type) is `kmc.trace.files`' and `kmc.trace.typed`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmc.errors import Span
from kmc.lang.tla import Tla

UNNAMED = "Next"
"""What an action is called that is not known; TLC says so of a next-state relation without named parts."""


@dataclass(frozen=True, slots=True)
class FileStep:
    """A state and the action that led to it; the first state has none. Arguments by parameter name, in order.

    `location` is where the action is defined; its path is the name of a module, for people.
    """

    variables: Mapping[str, Tla]
    action: str | None = None
    arguments: tuple[tuple[str, Tla], ...] = ()
    location: Span | None = None


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A trace: `variables` in the order they are shown, the steps, and what is known `about` the check.

    `loop` is the index of the state that the last one steps back to, None for a finite trace; the index of the last
    state itself means that it stutters. `closing` is the step back, if its action is known. `about` has the keys spec,
    model, constants (the model as a `.cfg` file), digest, status, property and kmc_version, as far as they are known.
    `ambiguous` values come from a format that does not tell sets from sequences nor records from functions:
    `kmc.trace.files.resolved` settles them by a spec's types. `path` is where the trace was read, for errors.
    """

    variables: tuple[str, ...]
    steps: tuple[FileStep, ...]
    loop: int | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    closing: FileStep | None = None
    ambiguous: bool = False
    path: str | None = field(default=None, compare=False)

    @property
    def shown_path(self) -> str:
        """What an error calls the trace."""
        return f"'{self.path}'" if self.path else "the trace"
