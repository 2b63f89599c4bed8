"""The output of a counterexample: replayed, saved as ITF, TLC JSON and a page, shown for people or in TLC's style.

Invariant: no trace is shown or saved that the interpreter has not replayed step by step. `Counterexample.told`
makes the whole explanation at once, inside the boundary of `kmc.unexplained`; if that fails, the trace is plain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rich.text import Text

from kmc.cli.explanation import ToldTrace
from kmc.cli.options import TLC_VIEWS
from kmc.cli.render_result import behaviour_line
from kmc.cli.render_story import styled, text_width
from kmc.cli.result_json import UNEXPLAINED, story_json
from kmc.cli.saved_runs import ITF_NAME, PAGE_NAME, TLC_JSON_NAME, UNEXPLAINED_NAME
from kmc.liveness.problem import TemporalProblem
from kmc.reference.lasso_replay import check_refutation
from kmc.reference.refutation_lines import refutation_lines
from kmc.reference.replay import check_violation
from kmc.result import Violation
from kmc.spec.model import Model
from kmc.trace.files import TraceFile, trace_file
from kmc.trace.itf import itf_text
from kmc.trace.text import render
from kmc.trace.tlc_json import tlc_json_text
from kmc.unexplained import Unexplained, try_explaining

if TYPE_CHECKING:
    from kmc.story.story import Story

_CHANGED = "bold yellow"
_HEAD = "bold"

_Made = TypeVar("_Made")


class Counterexample:
    """A violation of a model with its trace as a neutral file."""

    def __init__(self, model: Model, violation: Violation, file: TraceFile) -> None:
        self.model = model
        self.violation = violation
        self.file = file
        self.commands: tuple[str, ...] = ()
        """The command lines that lead here again, for the page; those who save it know them."""

    def told(self, view: str | None, width: int | None) -> ToldTrace:
        """Tell the counterexample in a view of `--trace`, as a report and as a page; plain if that fails."""
        told = try_explaining(lambda: self._told(view, width))
        if not isinstance(told, Unexplained):
            return told
        return ToldTrace((*self._plain(view), ""), (*self.plain_lines(), ""), UNEXPLAINED, None, told)

    def explain(self, draw: Callable[[Story], _Made]) -> _Made | Unexplained:
        """Return what `draw` makes of the story, or the error that ended it."""
        return try_explaining(lambda: draw(self._story()))

    def plain_lines(self) -> tuple[str, ...]:
        """Return the trace in TLC's style; for a lasso, also why it is a counterexample."""
        return tuple(line if isinstance(line, str) else line.plain for line in self._plain("tlc"))

    def _story(self) -> Story:
        # Imported here: a check that finds nothing needs no story.
        from kmc.story.story_of import story_of

        return story_of(self.model, self.violation, self.file.about)

    def _told(self, view: str | None, width: int | None) -> ToldTrace:
        from kmc.views.page.page import page
        from kmc.views.text_options import TextOptions
        from kmc.views.text_view import text_view

        story = self._story()
        if view in TLC_VIEWS:
            lines = [*self._plain(view), ""]
        else:
            lines = [*styled(text_view(story, view or "steps", TextOptions(width=text_width(width)))), ""]
        report = [line.text.rstrip() for line in text_view(story, "steps", TextOptions())]
        explanation = story_json(story)
        json.dumps(explanation)  # what is not JSON fails here, inside the boundary
        html = page(replace(story, commands=self.commands))
        return ToldTrace(tuple(lines), (*report, ""), explanation, html)

    def _plain(self, view: str | None) -> Iterator[Text | str]:
        """Yield the trace in TLC's style, without a call of `kmc.story` or `kmc.views`."""
        yield from behaviour_line(self.violation)
        yield from trace_lines(self.file, changed_only=view == "tlc-changes")
        why = list(refutation_lines(self.violation))
        yield from ["", *why] if why else []


def counterexample(
    model: Model, violation: Violation, start: Any, problem: TemporalProblem | None = None
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


def trace_files(file: TraceFile) -> dict[str, str]:
    """The trace in both formats, by the name of its file."""
    return {ITF_NAME: itf_text(file), TLC_JSON_NAME: tlc_json_text(file)}


def explanation_files(told: ToldTrace) -> dict[str, str]:
    """Return the files that explain a trace, by name: the page, or the traceback of the mistake."""
    if told.failure is not None:
        return {UNEXPLAINED_NAME: told.failure.text}
    return {PAGE_NAME: told.page} if told.page is not None else {}


def trace_lines(file: TraceFile, *, changed_only: bool) -> Iterator[Text]:
    """The trace in TLC's style, in full or only the changes; changes are marked and coloured."""
    for line in render(file, changed_only=changed_only):
        is_heading = line.text.startswith(("State ", "Back to state "))
        yield Text(line.text, _CHANGED if line.changed else _HEAD if is_heading else "")
