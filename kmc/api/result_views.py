"""The views of a result: lines of text for assertions and terminals, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from kmc.checking.counterexample import Counterexample
from kmc.checking.result_json import UNEXPLAINED, story_json
from kmc.story.parts.story import Story
from kmc.unexplained import Unexplained
from kmc.views.page.page import page
from kmc.views.text_options import TextOptions, under_options
from kmc.views.text_steps import fairness_lines, step_lines
from kmc.views.text_why import note_lines, why_lines

HOW_TO_REPORT = "it with the traceback, which the environment variable KMC_EXPLANATION_ERRORS=raise shows"
_STEPS_SHOWN_MAX = 60
_FRAME = "width:100%;height:36rem;border:1px solid #8884;border-radius:6px"


def story_lines(story: Story) -> Iterator[str]:
    """Explain why the last step is a failure, and show a line a step."""
    shown = under_options(story, TextOptions())
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


@dataclass(frozen=True, slots=True)
class Explanation:
    """A counterexample for people: its story, and all that a result shows of it, finished.

    If explaining failed, `lines` are the plain trace, `warning` says so, and there is neither a `story` nor a `page`.
    """

    story: Story | None
    json: Mapping[str, Any]
    lines: tuple[str, ...]
    page: str | None
    warning: str | None = None


def explanation_of(example: Counterexample) -> Explanation:
    """Explain a counterexample; if that fails, the explanation is the plain trace."""
    plain = (*example.plain_lines(), "")
    explained = example.explain(_explanation)
    if not isinstance(explained, Unexplained):
        return explained
    warning = explained.warning(HOW_TO_REPORT)
    return Explanation(None, UNEXPLAINED, (*plain, f"Warning: {warning}", ""), None, warning)


def _explanation(story: Story) -> Explanation:
    return Explanation(story, story_json(story), tuple(story_lines(story)), page_html(story))


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


def lines_html(lines: Iterable[str]) -> str:
    """Return lines of text as preformatted HTML."""
    return f"<pre>{escape(chr(10).join(lines))}</pre>"
