"""What a result looks like: lines of text for assertions and terminals, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from kmc.story.story import Story
from kmc.views.page.page import page
from kmc.views.text_options import TextOptions, told
from kmc.views.text_steps import fairness_lines, step_lines
from kmc.views.text_why import note_lines, why_lines

_STEPS_SHOWN_MAX = 60
_FRAME = "width:100%;height:36rem;border:1px solid #8884;border-radius:6px"


def story_lines(story: Story) -> Iterator[str]:
    """Why the last step is a failure, and a line a step."""
    shown = told(story, TextOptions())
    why = [line.text for line in why_lines(shown)]
    yield from [*why, ""] if why else []
    steps = [line.text for line in step_lines(shown)]
    if len(steps) > _STEPS_SHOWN_MAX:
        yield f"({len(steps) - _STEPS_SHOWN_MAX} steps before these)"
    yield from steps[-_STEPS_SHOWN_MAX:]
    fair = [line.text for line in fairness_lines(shown)]
    yield from ["", *fair] if fair else []
    notes = [line.text for line in note_lines(shown)]
    yield from ["", *notes] if notes else []
    yield ""


def page_html(story: Story) -> str:
    """The page of a counterexample inside another page, from which it can read nothing."""
    return f'<iframe sandbox="allow-scripts" style="{_FRAME}" srcdoc="{escape(page(story))}"></iframe>'


def table_html(title: str, rows: Iterable[tuple[str, str]], remarks: Iterable[str]) -> str:
    """A short table under a title, and lines below it."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    lines = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return f"<div><strong>{escape(title)}</strong><table>{cells}</table>{lines}</div>"
