"""The state graph of a small model as a networkx graph: for drawing, or for questions that kmc does not answer.

Invariant: every state within the constraints is there once, identified by its value, whatever view or symmetry the
model has, and every step between two of them, once per action instance that allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kmc.actions.relation import NextStateRelation
from kmc.errors import CommandLineError
from kmc.frontend.model import Model
from kmc.invariants.properties import holds
from kmc.lang.order import SortKey, sort_key
from kmc.lang.records import State
from kmc.lang.tla import Tla, text
from kmc.reference.states.initial import initial_states
from kmc.spec.variables import encode_state

if TYPE_CHECKING:
    from networkx import MultiDiGraph


class GraphedStates(Protocol):
    """The states and steps of a model within its constraints, as `digraph_of` needs them."""

    @property
    def title(self) -> str:
        """The name of the graph."""
        ...

    @property
    def depth_max(self) -> int | None:
        """The number of levels that the model allows."""
        ...

    def initial(self) -> Iterable[Any]:
        """Enumerate the initial states."""
        ...

    def steps(self, state: Any) -> Iterable[tuple[str, Any]]:
        """Enumerate the steps from a state: the action with its arguments, and the successor."""
        ...

    def variables(self, state: Any) -> Mapping[str, Tla]:
        """Return the TLA+ variables of a state."""
        ...

    def order(self, state: Any) -> SortKey:
        """Return the place of a state in display order."""
        ...


def state_digraph(model: Model, states_max: int) -> MultiDiGraph:
    """The graph of a model of a spec, as `digraph_of`."""
    return digraph_of(_SpecStates(model.searched), states_max)


def digraph_of(source: GraphedStates, states_max: int) -> MultiDiGraph:
    """The graph of these states. CommandLineError KMC635 if it has more than `states_max` states.

    Nodes are numbers from 1 on, level by level, and in display order within a level. A node has its `level` (1 for an
    initial state) and the text of its `state`, as TLC writes it. An edge has the `action` with its arguments.
    The states of the last level that the model allows have no steps.
    """
    import networkx  # Imported here: it takes a tenth of a second.

    graph = networkx.MultiDiGraph(name=source.title)
    numbers: dict[Any, int] = {}
    edges: list[tuple[int, Any, str]] = []
    level, depth = set(source.initial()), 0
    while level:
        depth += 1
        if len(numbers) + len(level) > states_max:
            raise CommandLineError(
                "KMC635",
                f"the graph has more than {states_max:,} states",
                help="allow more with --max-states N, or choose smaller constants",
            )
        states = sorted(level, key=source.order)
        for state in states:
            numbers[state] = len(numbers) + 1
            lines = "\n".join(f"/\\ {name} = {text(tree)}" for name, tree in source.variables(state).items())
            graph.add_node(numbers[state], level=depth, state=lines)
        if depth == source.depth_max:
            break
        steps = [(state, label, successor) for state in states for label, successor in source.steps(state)]
        level = {successor for *_, successor in steps if successor not in numbers}
        edges += [(numbers[state], successor, label) for state, label, successor in steps]
    # An action may allow a step in several ways, which count once.
    for before, target, label in dict.fromkeys(edges):
        if target in numbers:
            graph.add_edge(before, numbers[target], action=label)
    return graph


class _SpecStates:
    """The states and steps of a model of a spec in Python."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)

    @property
    def title(self) -> str:
        return f"{self._model.spec.name} {self._model.name}".rstrip()

    @property
    def depth_max(self) -> int | None:
        return self._model.max_depth

    def initial(self) -> Iterator[State]:
        return (state for state in initial_states(self._model) if self._is_inside(None, state))

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        for action, arguments, successor in self._relation.steps(state):
            if self._is_inside(state, successor):
                yield action.label(arguments), successor

    def variables(self, state: State) -> Mapping[str, Tla]:
        return encode_state(state, self._model.spec.variables)

    def order(self, state: State) -> SortKey:
        return sort_key(state)

    def _is_inside(self, source: Any, state: State) -> bool:
        model, files = self._model, self._model.spec.files
        if not all(holds(constraint, files, state) for constraint in model.constraints):
            return False
        return source is None or all(holds(c, files, source, state) for c in model.action_constraints)
