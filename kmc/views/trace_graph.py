"""A trace as a graph: a node for each state, an edge for each step, in DOT for Graphviz or in GraphML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmc.story.parts.story import Story, StoryStep
from kmc.views.dot import dot_of
from kmc.views.sentences import happenings, heading

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def trace_digraph(story: Story) -> MultiDiGraph:
    """The graph of a trace. A node has `label`, `state` (its number) and `changes`, an edge `action` and `matters`."""
    # Imported here: it takes a tenth of a second.
    import networkx

    graph = networkx.MultiDiGraph(name=heading(story))
    for step in story.steps:
        changes = "\n".join(happenings(story, step))
        title = "initial state" if step.number == 1 else f"state {step.number}"
        graph.add_node(step.number, label="\n".join(filter(None, (title, changes))), changes=changes)
        if step.number > 1:
            _edge(graph, step.number - 1, step.number, step)
    if story.loop is not None and story.loop.closing is not None:
        _edge(graph, len(story.steps), story.loop.back_to, story.loop.closing)
    elif story.loop is not None:
        graph.add_edge(len(story.steps), len(story.steps), action="stuttering", matters=True)
    return graph


def _edge(graph: MultiDiGraph, source: int, target: int, step: StoryStep) -> None:
    graph.add_edge(source, target, action=step.label, matters=step.matters)


def trace_dot(story: Story) -> str:
    """The trace in DOT."""
    return dot_of(trace_digraph(story))


def trace_graphml(story: Story) -> str:
    """The trace in GraphML."""
    import networkx

    return "\n".join(networkx.generate_graphml(trace_digraph(story))) + "\n"
