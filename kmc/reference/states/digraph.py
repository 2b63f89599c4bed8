"""The state graph of a small model as a networkx graph: for drawing, or for questions that kmc does not answer.

Invariant: every state within the constraints is there once, identified by its value, whatever view or symmetry the
model has, and every step between two of them, once per action instance that allows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kmc.actions.relation import NextStateRelation
from kmc.errors import CommandLineError
from kmc.frontend.model import Model
from kmc.invariants.properties import holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.lang.tla import text
from kmc.reference.states.initial import initial_states
from kmc.spec.variables import encode_state

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def state_digraph(model: Model, states_max: int) -> MultiDiGraph:
    """The graph of a model. CommandLineError KMC635 if it has more than `states_max` states.

    Nodes are numbers from 1 on, level by level, and in display order within a level. A node has its `level` (1 for an
    initial state) and the text of its `state`, as TLC writes it. An edge has the `action` with its arguments.
    The states of the last level that the model allows have no steps.
    """
    import networkx  # Imported here: it takes a tenth of a second.

    model = model.searched
    graph = networkx.MultiDiGraph(name=f"{model.spec.name} {model.name}".rstrip())
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    numbers: dict[Any, int] = {}
    edges: list[tuple[int, Any, str]] = []
    level, depth = {state for state in initial_states(model) if _is_inside(model, None, state)}, 0
    while level:
        depth += 1
        if len(numbers) + len(level) > states_max:
            raise CommandLineError(
                "KMC635",
                f"the graph has more than {states_max:,} states",
                help="allow more with --max-states N, or choose smaller constants",
            )
        states = sorted(level, key=sort_key)
        for state in states:
            numbers[state] = len(numbers) + 1
            variables = encode_state(state, model.spec.variables).items()
            lines = "\n".join(f"/\\ {name} = {text(tree)}" for name, tree in variables)
            graph.add_node(numbers[state], level=depth, state=lines)
        if depth == model.max_depth:
            break
        steps = [(state, step) for state in states for step in relation.steps(state)]
        steps = [(state, step) for state, step in steps if _is_inside(model, state, step[2])]
        level = {successor for _, (*_, successor) in steps if successor not in numbers}
        edges += [(numbers[state], target, action.label(arguments)) for state, (action, arguments, target) in steps]
    # An action may allow a step in several ways, which count once.
    for source, target, label in dict.fromkeys(edges):
        if target in numbers:
            graph.add_edge(source, numbers[target], action=label)
    return graph


def _is_inside(model: Model, source: Any, state: State) -> bool:
    files = model.spec.files
    if not all(holds(constraint, files, state) for constraint in model.constraints):
        return False
    return source is None or all(holds(c, files, source, state) for c in model.action_constraints)
