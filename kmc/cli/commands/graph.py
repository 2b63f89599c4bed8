"""`kmc graph`: the state graph of a small model in a format that other programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmc.checking.model_choice import choose_model
from kmc.cli.modules.module_argument import configuration_of, is_module
from kmc.cli.options.completion import MODEL_TYPE, SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, set_option
from kmc.cli.text.console import say
from kmc.errors import ExitStatus

if TYPE_CHECKING:
    from networkx import MultiDiGraph

STATES_MAX = 10_000

_EPILOG = """\b
Examples:
  kmc graph die_hard > die_hard.graphml             for yEd, Gephi, Cytoscape
  kmc graph die_hard --format dot | dot -Tsvg > die_hard.svg
  kmc graph two_phase_commit --format json > graph.json
  kmc graph kraft smoke --max-states 50000 > kraft.graphml
  kmc graph Lease.tla --format dot > lease.dot      a TLA+ module, with Lease.cfg beside it

\b
In Python: networkx.read_graphml("die_hard.graphml"), or for JSON
networkx.node_link_graph(json.load(file), edges="edges").

\b
Exit status: 0 written; 2 wrong command line, or more states than are allowed;
75, 76, 150, 151 as for `kmc check`; 153 the disk is full.
"""


@click.command(epilog=_EPILOG, short_help="Print the state graph of a small model as GraphML, DOT or JSON.")
@click.argument("spec", type=SPEC_TYPE)
@click.argument("model", type=MODEL_TYPE, required=False)
@set_option
@click.option(
    "--format",
    "output",
    type=click.Choice(["graphml", "dot", "json"]),
    default="graphml",
    show_default=True,
    help="GraphML, DOT for Graphviz, or the node-link JSON of networkx.",
)
@click.option(
    "--max-states",
    metavar="N",
    type=click.IntRange(1),
    default=STATES_MAX,
    show_default=True,
    help="Refuse a model with more states.",
)
@debug_option
def graph(spec: str, model: str | None, sets: tuple[str, ...], output: str, max_states: int) -> int:
    """Print all states of a model, and all steps between them, as a graph.

    A node has a state with its level, an edge the action with its arguments. Two states are one node if their values
    are equal: views and symmetry merge none. Properties are not checked. SPEC may be a TLA+ module, and MODEL its .cfg
    file.
    """
    # Imported here, because networkx takes a tenth of a second.
    import networkx

    from kmc.views.dot import dot_of

    digraph = _graph_of(spec, model, sets, max_states)
    if output == "dot":
        say(dot_of(digraph).rstrip("\n"))
    elif output == "json":
        say(json.dumps(networkx.node_link_data(digraph, edges="edges"), indent=1))
    else:
        say("\n".join(networkx.generate_graphml(digraph)))
    return ExitStatus.OK


def _graph_of(spec: str, model: str | None, sets: tuple[str, ...], max_states: int) -> MultiDiGraph:
    if not is_module(spec):
        from kmc.reference.states.digraph import state_digraph

        return state_digraph(choose_model(spec, model, sets).model, max_states)
    # Imported here, because the graph of a spec in Python does not need the layer of TLA+.
    from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module
    from kmc.checking.modules.module_digraph import module_digraph

    module = load_runnable_module(ModuleRequest(Path(spec), configuration_of(spec, model), sets))
    return module_digraph(module, max_states)
