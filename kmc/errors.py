"""Every error kmc reports: one tree, each with a code, a source span and one line of help.

Invariant: an error carries data, never rendered text, and survives pickling, so that a worker process can raise it
and the command line can render it. Only `kmc.cli` prints. Exit statuses are TLC's (see `ExitStatus`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Self

from kmc.near_words import nearest


class ExitStatus(IntEnum):
    """The exit status of the process; TLC's numbers, plus 2, 20 and 130."""

    OK = 0
    COMMAND_LINE = 2
    ASSUMPTION = 10
    DEADLOCK = 11
    SAFETY = 12
    LIVENESS = 13
    ASSERTION = 14
    BOUND_REACHED = 20
    SPEC_EVALUATION = 75
    INVARIANT_EVALUATION = 76
    LIVENESS_TAUTOLOGY = 77
    INTERRUPTED = 130
    SPEC_LOADING = 150
    MODEL_FILE = 151
    SYSTEM = 153
    INTERNAL = 255


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file: lines and columns count from 1, the end column is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int | None = None
    end_column: int | None = None

    def source_line(self) -> str | None:
        """The text of the first line of the span, or None when the file cannot be read."""
        try:
            status = os.stat(self.path)
            lines = _lines_of(self.path, (status.st_mtime_ns, status.st_size))
        except (OSError, ValueError):  # a ValueError is of text that is not UTF-8, or of a path with null characters
            return None
        return lines[self.line - 1] if 0 < self.line <= len(lines) else None


@lru_cache(maxsize=64)
def _lines_of(path: str, version: tuple[int, int]) -> tuple[str, ...]:
    """Read a file; `version` is its time and its size, so that a changed file is read again.

    Loading a spec asks for a line of each definition.
    """
    return tuple(Path(path).read_text(encoding="utf-8").splitlines())


@dataclass(frozen=True, slots=True)
class TextSpan(Span):
    """A place in a text that is not a file, such as an expression of the command line."""

    text: str = ""

    @classmethod
    def of(cls, span: Span, text: str) -> Self:
        """The place `span` in `text`."""
        return cls(span.path, span.line, span.column, span.end_line, span.end_column, text)

    def source_line(self) -> str | None:
        """The text of the first line of the span."""
        lines = self.text.splitlines()
        return lines[self.line - 1] if 0 < self.line <= len(lines) else None


class KmcError(Exception):
    """The root of all errors that a person can cause.

    `code` names the kind of mistake (KMC0xx reading a TLA+ module, 1xx loading a spec, 2xx evaluating it, 3xx model
    files, 4xx traces and corpora, 5xx the system, 6xx the command line, 7xx temporal formulas, 8xx compiling a spec,
    9xx ours);
    docs/error_codes.toml registers its meaning. `help` says what to do in one line; `notes` are further facts, one
    line each.
    """

    exit_status: ExitStatus = ExitStatus.INTERNAL

    def __init__(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        help: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(code, message, span, help, notes)
        self.code = code
        self.message = message
        self.span = span
        self.help = help
        self.notes = notes

    def at(self, span: Span | None) -> Self:
        """The same error at `span`, unless it already has a place."""
        if self.span is not None or span is None:
            return self
        return type(self)(self.code, self.message, span, self.help, self.notes)

    def noting(self, *notes: str) -> Self:
        """The same error with further notes."""
        return type(self)(self.code, self.message, self.span, self.help, (*self.notes, *notes))

    def __str__(self) -> str:
        where = f"{self.span.path}:{self.span.line}:{self.span.column}: " if self.span else ""
        return f"{where}error[{self.code}]: {self.message}"


class CommandLineError(KmcError):
    """A wrong option or argument."""

    exit_status = ExitStatus.COMMAND_LINE


class SpecError(KmcError):
    """The spec does not load: a construct outside the language, a bad declaration, a type that is not finite."""

    exit_status = ExitStatus.SPEC_LOADING


class EvaluationError(KmcError):
    """Evaluating an action, a constraint or the initial states failed."""

    exit_status = ExitStatus.SPEC_EVALUATION


class DomainError(EvaluationError):
    """A value is outside the domain that its field, element or parameter declares."""


class InvariantError(KmcError):
    """Evaluating an invariant failed, so it has no truth value."""

    exit_status = ExitStatus.INVARIANT_EVALUATION


class ModelError(KmcError):
    """The model file, the manifest or an override of a constant is wrong."""

    exit_status = ExitStatus.MODEL_FILE


class TautologyError(ModelError):
    """A temporal property is true of every behaviour, whatever the model does."""

    exit_status = ExitStatus.LIVENESS_TAUTOLOGY


class InvariantLevelError(ModelError):
    """A model file names a formula of steps or behaviours as an invariant."""

    exit_status = ExitStatus.INVARIANT_EVALUATION


class AssumptionError(ModelError):
    """The constants of a model break an assumption of the spec."""

    exit_status = ExitStatus.ASSUMPTION


class TraceError(KmcError):
    """A trace or a corpus cannot be read, or does not belong to the spec."""

    exit_status = ExitStatus.MODEL_FILE


class SystemFault(KmcError):
    """A disk, memory or process failed."""

    exit_status = ExitStatus.SYSTEM


class InternalError(KmcError):
    """A mistake of kmc, such as a counterexample that does not replay."""

    exit_status = ExitStatus.INTERNAL


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?` for a near miss, else the known words, sorted; for the help line of an error."""
    names = sorted(set(known))
    near = nearest(word, names)
    if near is not None:
        return f"did you mean '{near}'?"
    return "known: " + ", ".join(names) if names else "there are none"


class ModelWarning(UserWarning):
    """A weakness of a model's result in pytest: an action that never fired, a goal that was not reached."""
