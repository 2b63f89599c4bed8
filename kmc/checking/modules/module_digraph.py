"""The state graph of a module within its constraints, for `kmc.reference.states.digraph`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_trace_file import variables_of
from kmc.checking.modules.value_order import value_key
from kmc.lang.order import SortKey
from kmc.lang.tla import Tla
from kmc.reference.states.digraph import digraph_of
from kmc.tla.run.program import State

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def module_digraph(module: CheckedModule, states_max: int) -> MultiDiGraph:
    """Return the graph of a module; CommandLineError KMC635 if it has more than `states_max` states."""
    return digraph_of(_GraphedModule(module), states_max)


class _GraphedModule:
    """The states and steps of a module."""

    depth_max = None

    def __init__(self, module: CheckedModule) -> None:
        self._module = module
        model = module.model
        self.title = model.spec.name if model.name == model.spec.name else f"{model.spec.name} {model.name}"

    def initial(self) -> Iterator[State]:
        return (state for state in self._module.initial_states() if self._module.is_in_model(state, None))

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        for step in self._module.successors(state):
            if self._module.is_in_model(step.state, state):
                yield step.label, step.state

    def variables(self, state: State) -> Mapping[str, Tla]:
        return variables_of(self._module.program, state)

    def order(self, state: State) -> SortKey:
        return value_key(state)
