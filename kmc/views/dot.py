r"""Graphs in DOT, the language of Graphviz.

Written here, because networkx writes it only through pydot: a graph of kmc needs nothing but quoted strings, in which
`"` and `\` are escaped, and lines end with `\l`, so that they are aligned to the left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from networkx import MultiDiGraph

_GREY = "gray60"


def dot_of(graph: MultiDiGraph) -> str:
    """A graph in DOT: nodes are labelled with their `label`, else their `state`, edges with their `action`.

    Initial states (`level` 1) have a bold frame; edges whose `matters` is False are grey.
    """
    lines = [f"digraph {_quoted(graph.graph.get('name', ''))} {{", "  rankdir=TB;"]
    lines.append('  node [shape=box, fontname="monospace", fontsize=10];')
    lines.append('  edge [fontname="sans-serif", fontsize=10];')
    lines += [f"  {node} [{_of_node(data)}];" for node, data in graph.nodes(data=True)]
    lines += [f"  {source} -> {target} [{_of_edge(data)}];" for source, target, data in graph.edges(data=True)]
    return "\n".join([*lines, "}"]) + "\n"


def _of_node(data: dict[str, Any]) -> str:
    bold = ", style=bold" if data.get("level") == 1 else ""
    return f"label={_block(data.get('label', data.get('state', '')))}{bold}"


def _of_edge(data: dict[str, Any]) -> str:
    grey = f", color={_GREY}, fontcolor={_GREY}" if data.get("matters") is False else ""
    return f"label={_quoted(data['action'])}{grey}"


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace("\n", r"\n") + '"'


def _block(text: str) -> str:
    return '"' + "".join(f"{_escaped(line)}\\l" for line in text.split("\n")) + '"'


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"")
