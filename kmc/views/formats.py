"""The formats in which a trace is written: one row each.

A format of files (`of_file`) writes the trace as it was recorded, and needs no spec. The others are drawn from a story.
A new format is a module with one function, and a row here. The modules are imported when their format is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmc.story.parts.story import Story
    from kmc.trace.untyped_trace import TraceFile


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format: its readers, and the function that writes it."""

    name: str
    title: str
    module: str
    function: str
    of_file: bool = False


_ROWS = (
    TraceFormat("itf", "the Informal Trace Format, as Apalache and Quint", "kmc.trace.itf", "itf_text", of_file=True),
    TraceFormat("tlc-json", "as TLC -dumpTrace json", "kmc.trace.tlc_json", "tlc_json_text", of_file=True),
    TraceFormat("shiviz", "a log with vector clocks, for ShiViz", "kmc.views.shiviz", "shiviz_text"),
    TraceFormat("mermaid", "a sequence diagram, for GitHub and wikis", "kmc.views.mermaid", "mermaid_text"),
    TraceFormat("markdown", "a report to paste into an issue", "kmc.views.markdown", "markdown_text"),
    TraceFormat("dot", "a graph, for Graphviz", "kmc.views.trace_graph", "trace_dot"),
    TraceFormat("graphml", "a graph, for yEd, Gephi or networkx", "kmc.views.trace_graph", "trace_graphml"),
    TraceFormat("html", "a page that explains the trace, one file", "kmc.views.page.page", "page"),
    TraceFormat("json", "the story: steps, messages, changes, why", "kmc.views.story_json", "story_json_text"),
)
FORMATS = {row.name: row for row in _ROWS}


def written(name: str, file: TraceFile, story: Callable[[], Story]) -> str:
    """The trace in the format `name`. The story is made only for a format that uses it."""
    row = FORMATS[name]
    write = getattr(import_module(row.module), row.function)
    text: str = write(file if row.of_file else story())
    return text
