"""The request for a check, with the model and every option: the one argument of `kmc.checking.check.check`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, Protocol

from kmc.checking.model_choice import ChosenModel
from kmc.checking.search_place import InMemory, SearchPlace
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.process import usable_cpus
from kmc.result import Limits


class Engine(Enum):
    """The engine that computes successors: compiled kernels, or the interpreter."""

    NATIVE = "native"
    PYTHON = "python"


class OptionNaming(Protocol):
    """The name of an option in the CLI or the Python API, for advice to the person who gave it or could give it."""

    def __call__(self, option: str, value: object = None) -> str:
        """`option` is the name on the command line, without dashes; with a `value`, it is shown as given that value."""


def command_line_name(option: str, value: object = None) -> str:
    """The option as it is typed: `--max-depth`, `--timeout 20`."""
    return f"--{option}" if value is None else f"--{option} {value}"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The rule for which results count as a success.

    With `expect`, exactly the result that the manifest expects, a violation or a bound too. Else: everything holds,
    with `bounded_ok` also where a bound ended the search, and with `strict` only if nothing held for want of a test.
    """

    bounded_ok: bool = False
    strict: bool = False
    expect: bool = False


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A check: a model, the limits of the search, the engine, where the search keeps its states, and which results are
    accepted.

    `start` is the first state, None for the initial states of the model, and `start_name` is the text by which a person
    named it. `began` is the time at which the person began to wait, by `time.monotonic`: loading the spec counts
    against the time of `limits`.
    """

    chosen: ChosenModel
    limits: Limits = field(default_factory=Limits)
    engine: Engine = Engine.NATIVE
    threads: int | None = None
    fingerprint_bits: Literal[64, 128] = 64
    place: SearchPlace = field(default_factory=InMemory)
    start: State | None = None
    start_name: str | None = None
    keep_going: bool = False
    acceptance: Acceptance = field(default_factory=Acceptance)
    naming: OptionNaming = command_line_name
    wider: str = "fingerprints of 128 bits"
    """The advice that leads to 128-bit fingerprints, such as a command line."""
    began: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> Model:
        """The model that is checked."""
        return self.chosen.model

    @property
    def threads_used(self) -> int:
        """The threads of the native engine: all processors unless a number was given."""
        return self.threads or usable_cpus()

    @property
    def changes(self) -> tuple[str, ...]:
        """The options by which this check differs from the manifest's, under their names in the CLI or the API."""
        own = self.chosen.own
        given = {
            "max-depth": own is not None and self.limits.depth not in (None, own.max_depth),
            "from": self.start_name is not None,
            "continue": self.keep_going,
        }
        named = (*self.chosen.changes, *(option for option, is_given in given.items() if is_given))
        return tuple(dict.fromkeys(self.naming(option) for option in named))

    @property
    def expected_states(self) -> int | None:
        """The number of distinct states that the manifest expects of this very check; None where it says none."""
        expected = (self.model.file.expect or {}).get("distinct")
        return expected if isinstance(expected, int) and not self.changes else None

    @property
    def max_depth(self) -> int | None:
        """The bound on levels: the least of the model's and the request's."""
        return min((d for d in (self.limits.depth, self.model.max_depth) if d is not None), default=None)
