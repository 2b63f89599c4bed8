"""A trace as in its file: TLA+ variables per state, without a spec.

Invariant: every step has the same variables, and there is at least one step. Formats and the text rendering know only
this form; `kmc.trace.files` and `kmc.trace.typed` add the types of a spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmc.errors import Span
from kmc.lang.tla import Tla

UNNAMED = "Next"
"""The name of an unknown action; TLC uses it for a next-state relation without named parts."""


GIVEN = "given"
"""The `start` of a trace that begins at a state which a person gave."""

TLA = "TLA+"
"""The `language` of a trace of a TLA+ module, which has no spec in Python."""


@dataclass(frozen=True, slots=True)
class FileStep:
    """A state and the action that led to it; the first state has none. Arguments by parameter name, in order.

    `location` is where the action is defined; its path is the name of a module, for people. `message` is the one that
    the step received, as far as the trace says so; formats differ in that, so it does not count for equality.
    """

    variables: Mapping[str, Tla]
    action: str | None = None
    arguments: tuple[tuple[str, Tla], ...] = ()
    location: Span | None = None
    message: Tla | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A trace: `variables` in the order of display, the steps, and the facts `about` the check.

    `loop` is the index of the state that the last one steps back to, None for a finite trace; the index of the last
    state itself means that it stutters. `closing` is the step back, if its action is known. `about` has the keys spec,
    model, constants (the model as a `.cfg` file), digest, status, property, start and kmc_version, as far as known; for
    a TLA+ module also language, and alias where its variables are the fields of an ALIAS.
    `ambiguous` values come from a format that does not distinguish sets from sequences, or records from functions:
    `kmc.trace.files.resolved` resolves them by a spec's types. `path` is where the trace was read, for errors.
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
        """The name of the trace in an error."""
        return f"'{self.path}'" if self.path else "the trace"
