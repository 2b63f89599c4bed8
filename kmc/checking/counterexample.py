"""The output of a counterexample: replayed, saved as ITF, TLC JSON and a page, shown for people or in TLC's style.

Invariant: no trace is shown or saved that the interpreter has not replayed step by step. `Counterexample.explained`
makes the whole explanation at once, inside the boundary of `kmc.unexplained`; if that fails, the trace is plain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kmc.checking.explained_trace import ExplainedTrace
from kmc.checking.result_json import UNEXPLAINED, story_json
from kmc.frontend.bisimulation import difference_in
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.refutation_lines import refutation_lines
from kmc.reference.states.differences import differing_parts
from kmc.reference.states.replay import check_violation
from kmc.reference.temporal.lasso_replay import check_refutation
from kmc.result import Verdict, Violation
from kmc.spec.variables import encode_state
from kmc.text_lines import BAD, CHANGED, HEAD, PLAIN, TextLine, TextPiece, line
from kmc.trace.files import TraceFile, trace_file
from kmc.trace.text import render
from kmc.trace.tlc_views import TLC_VIEWS
from kmc.unexplained import Unexplained, try_explaining

if TYPE_CHECKING:
    from kmc.story.parts.story import Story


_Made = TypeVar("_Made")


class Counterexample:
    """A violation of a model with its trace as a neutral file."""

    def __init__(self, model: Model, violation: Violation, file: TraceFile) -> None:
        self.model = model
        self.violation = violation
        self.file = file
        self.commands: tuple[str, ...] = ()
        """The command lines that lead here again, for the page; set by the code that saves the page."""

    def explained(self, view: str | None, width: int) -> ExplainedTrace:
        """Tell the counterexample in a view of `--trace`, as a report and as a page; plain if that fails."""
        told = try_explaining(lambda: self._explained(view, width))
        if not isinstance(told, Unexplained):
            return told
        return ExplainedTrace((*self._plain(view), line()), (*self.plain_lines(), ""), UNEXPLAINED, None, told)

    def explain(self, draw: Callable[[Story], _Made]) -> _Made | Unexplained:
        """Return what `draw` makes of the story, or the error that ended it."""
        return try_explaining(lambda: draw(self._story()))

    def plain_lines(self) -> tuple[str, ...]:
        """Return the trace in TLC's style; for a lasso, also why it is a counterexample."""
        return tuple(shown.text for shown in self._plain("tlc"))

    def _story(self) -> Story:
        # Imported here: a check that finds nothing needs no story.
        from kmc.story.counterexample import story_of

        return story_of(self.model, self.violation, self.file.about)

    def _explained(self, view: str | None, width: int) -> ExplainedTrace:
        from kmc.views.page.page import page
        from kmc.views.text_options import TextOptions
        from kmc.views.text_view import text_view

        story = self._story()
        if view in TLC_VIEWS:
            lines = [*self._plain(view), line()]
        else:
            shown = text_view(story, view or "steps", TextOptions(width=width))
            lines = [*shown, *self._difference_lines(), line()]
        report = [shown.text for shown in text_view(story, "steps", TextOptions())]
        explanation = story_json(story)
        json.dumps(explanation)  # what is not JSON fails here, inside the boundary
        html = page(replace(story, commands=self.commands))
        return ExplainedTrace(tuple(lines), (*report, ""), explanation, html)

    def _plain(self, view: str | None) -> Iterator[TextLine]:
        """Yield the trace in TLC's style, without a call of `kmc.story` or `kmc.views`."""
        yield from behaviour_line(self.violation)
        yield from trace_lines(self.file, changed_only=view == "tlc-changes")
        why = list(refutation_lines(self.violation))
        yield from [line(), *map(line, why)] if why else []
        yield from self._difference_lines()

    def _difference_lines(self) -> Iterator[TextLine]:
        """Yield how the last state and its image differ, where the model verifies its abstractions."""
        state = self.violation.trace.steps[-1].state
        difference = difference_in(self.model, state)
        if difference is None:
            return
        yield line()
        yield line(TextPiece(f"Told apart: {difference.why}.", BAD))
        table = self.model.spec.variables
        trees = [encode_state(one, table) for one in (state, difference.image)]
        for inner in differing_parts(*trees):
            yield line(
                TextPiece(f"  {inner.path} is {inner.left or 'absent'}, and in the image {inner.right or 'absent'}")
            )


def counterexample(
    model: Model, violation: Violation, start: State | None, problem: TemporalProblem | None = None
) -> Counterexample:
    """The violation after a replay that shows it; else InternalError (exit 255)."""
    status, given = violation.verdict.value, start is not None
    if violation.refutation is None:
        check_violation(model, violation, start)
        file = trace_file(violation.trace, model, status, violated=violation.name, is_start_given=given)
        return Counterexample(model, violation, file)
    assert problem is not None, "there is a temporal property"
    check_refutation(model, problem, violation, start)
    cycle = violation.refutation.cycle
    loop, closing = (cycle.back_to - 1, cycle.closing) if cycle is not None else (None, None)
    file = trace_file(
        violation.trace, model, status, violated=violation.name, loop=loop, closing=closing, is_start_given=given
    )
    return Counterexample(model, violation, file)


def behaviour_line(violation: Violation) -> Iterator[TextLine]:
    """The line that TLC prints above a trace."""
    if violation.refutation is not None and violation.refutation.cycle is not None:
        yield line(TextPiece("Error: The following behavior constitutes a counter-example:", BAD))
    elif len(violation.trace) > 1 or violation.verdict is not Verdict.VIOLATION:
        yield line(TextPiece("Error: The behavior up to this point is:", BAD))


def trace_lines(file: TraceFile, *, changed_only: bool) -> Iterator[TextLine]:
    """The trace in TLC's style, in full or only the changes; changes are marked."""
    for shown in render(file, changed_only=changed_only):
        is_heading = shown.text.startswith(("State ", "Back to state "))
        yield line(TextPiece(shown.text, CHANGED if shown.changed else HEAD if is_heading else PLAIN))
