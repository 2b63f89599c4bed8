"""The output of a counterexample: replayed, saved as ITF, TLC JSON and a page, shown for people or in TLC's style.

Invariant: no trace is shown or saved that the interpreter has not replayed step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.text import Text

from kmc.cli.options import TLC_VIEWS
from kmc.cli.render_result import behaviour_line
from kmc.cli.render_story import styled, text_width
from kmc.cli.saved_runs import ITF_NAME, PAGE_NAME, TLC_JSON_NAME, RunFolder
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

if TYPE_CHECKING:
    from kmc.story.story import Story

_CHANGED = "bold yellow"
_HEAD = "bold"


class Counterexample:
    """A violation of a model with its trace as a neutral file, and the story that views are drawn from."""

    def __init__(self, model: Model, violation: Violation, file: TraceFile) -> None:
        self.model = model
        self.violation = violation
        self.file = file
        self.commands: tuple[str, ...] = ()
        """The command lines that lead here again, for the page; those who save it know them."""

    @cached_property
    def story(self) -> Story:
        """The story, told when the first view asks for it."""
        # Imported here: a check that finds nothing needs no story.
        from kmc.story.story_of import story_of

        return story_of(self.model, self.violation, self.file.about)

    def page(self) -> str:
        """The counterexample as one HTML file."""
        from kmc.views.page.page import page

        return page(replace(self.story, commands=self.commands))

    def lines(self, view: str | None, width: int | None) -> Iterator[Text | str]:
        """The counterexample in a view of `--trace`, with an empty line behind it."""
        if view in TLC_VIEWS:
            yield from behaviour_line(self.violation)
            yield from trace_lines(self.file, changed_only=view == "tlc-changes")
            yield ""
            why = list(refutation_lines(self.violation))
            yield from [*why, ""] if why else []
            return
        from kmc.views.text_options import TextOptions
        from kmc.views.text_view import text_view

        yield from styled(text_view(self.story, view or "steps", TextOptions(width=text_width(width))))
        yield ""


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


def save_trace(folder: RunFolder, example: Counterexample) -> None:
    """Write the trace in both formats and its page. Raises SystemFault KMC502 or KMC556."""
    for name, text in trace_files(example.file).items():
        folder.write(name, text)
    folder.write(PAGE_NAME, example.page())


def trace_lines(file: TraceFile, *, changed_only: bool) -> Iterator[Text]:
    """The trace in TLC's style, in full or only the changes; changes are marked and coloured."""
    for line in render(file, changed_only=changed_only):
        is_heading = line.text.startswith(("State ", "Back to state "))
        yield Text(line.text, _CHANGED if line.changed else _HEAD if is_heading else "")
