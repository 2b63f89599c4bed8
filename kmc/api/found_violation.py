"""The common part of searches and simulations: a violation, or none, with its trace and its story."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kmc.api.result_views import Explanation, explanation_of
from kmc.api.trace_states import TraceStates
from kmc.checking.counterexample import Counterexample
from kmc.checking.result_text import violation_lines
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.result import Violation
from kmc.story.parts.story import Story
from kmc.trace.untyped_trace import TraceFile


class ViolationFound:
    """A violation that the interpreter has replayed, or none."""

    def __init__(self, model: Model, example: Counterexample | None, *, given_start: bool) -> None:
        self._model = model
        self._example = example
        self._violation = example.violation if example is not None else None
        self._given_start = given_start

    @property
    def model(self) -> Model:
        """The model that was checked: constants, properties, reductions and bounds."""
        return self._model

    @property
    def violated(self) -> str | None:
        """The name of the property that fails; None for a deadlock, an error, or no violation."""
        return self._violation.name if self._violation is not None else None

    @property
    def error(self) -> KmcError | None:
        """The error in evaluating the spec, if the violation is one."""
        return self._violation.error if self._violation is not None else None

    @property
    def violation(self) -> Violation | None:
        """All that is known of the violation."""
        return self._violation

    @cached_property
    def trace(self) -> TraceStates | None:
        """The trace of the violation: `trace[1]` is its initial state."""
        if self._violation is None:
            return None
        refutation = self._violation.refutation
        cycle = refutation.cycle if refutation is not None else None
        return TraceStates(self._violation.trace, cycle.back_to if cycle is not None else None)

    @property
    def story(self) -> Story | None:
        """The story of the trace in terms of processes and messages, and why it is a violation; None if it cannot be
        made.
        """
        return self._explanation.story if self._explanation is not None else None

    @property
    def trace_file(self) -> TraceFile | None:
        """The trace in the form for files: `kmc.trace.itf.itf_text(result.trace_file)`."""
        return self._example.file if self._example is not None else None

    @cached_property
    def _explanation(self) -> Explanation | None:
        """The violation for people, made at its first use; only this calls `kmc.story` and `kmc.views`."""
        return None if self._example is None else explanation_of(self._example)

    def _violation_lines(self) -> Iterator[str]:
        """The lines on what failed, on each step, and on the reason."""
        if self._violation is None or self._explanation is None:
            return
        yield from (line.text for line in violation_lines(self._violation, from_given_state=self._given_start))
        yield from self._explanation.lines
