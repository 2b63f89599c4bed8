"""The comparison of a module with steps that TLC computed: `kmc.reference.conformance.edges` with the module's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_states import ModuleStates
from kmc.checking.modules.module_trace import action_of
from kmc.checking.modules.module_trace_file import arguments_of_label, variables_of
from kmc.checking.modules.recorded_states import state_of_trees
from kmc.checking.modules.tlc_dump import is_dump, positional, read_dump
from kmc.checking.modules.value_order import value_key
from kmc.lang.order import SortKey
from kmc.lang.tla import Tla
from kmc.model_files.model_file import Assignment
from kmc.reference.conformance.corpus import Corpus, Parameters, canonical_text, read_corpus
from kmc.reference.conformance.edges import ConformanceReport, check_round_trip, compare
from kmc.tla.resolved.search_level import LEVEL_VARIABLE
from kmc.tla.run.program import ModuleProgram, State


def module_conforms(
    load: Callable[[tuple[Assignment, ...]], CheckedModule],
    corpus: Path,
    *,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ConformanceReport:
    """Compare a module with the steps in a corpus; `load` gets the constants of the corpus.

    Raises as `kmc.reference.conformance.edges.conform`.
    """
    if not is_dump(corpus):
        read = read_corpus(corpus)
        return compare(ComparedModule(load(read.constants), read), read, limit=limit, progress=progress)
    module, read = load(()), read_dump(corpus)
    # A dump does not name the actions that never happen.
    read = replace(read, actions=tuple(dict.fromkeys((*module.program.action_names, *read.actions))))
    if module.program.model.has_level:
        read = _with_levels(module.program, read)
    return compare(ComparedModule(module, read), read, limit=limit, progress=progress)


def _with_levels(program: ModuleProgram, corpus: Corpus) -> Corpus:
    """Return a dump with the level of each state, which TLC does not write: its distance from the initial states."""
    first = [variables_of(program, state) for state in program.initial_states()]
    initial = [{name: json.loads(canonical_text(state[name])) for name in corpus.variables} for state in first]
    queue = [index for index, state in enumerate(corpus.states) if state in initial]
    levels = dict.fromkeys(queue, 1)
    targets = {source.state: [edge.state for edge in source.edges] for source in corpus.sources}
    for index in queue:
        for target in targets[index]:
            if target not in levels:
                levels[target] = levels[index] + 1
                queue.append(target)
    states = tuple({**state, LEVEL_VARIABLE: levels.get(index, 0)} for index, state in enumerate(corpus.states))
    return replace(corpus, states=states, variables=(*corpus.variables, LEVEL_VARIABLE))


class ComparedModule:
    """A module as the subject of a comparison with one corpus."""

    def __init__(self, module: CheckedModule, corpus: Corpus) -> None:
        self._module = module
        self._corpus = corpus
        self._classes = ModuleStates(module.program)
        self._representatives: dict[Hashable, State] | None = None
        self.actions = dict.fromkeys(module.program.action_names, True)

    def state(self, corpus: Corpus, index: int) -> State:
        """Return a state of the corpus; TraceError KMC435 if it would be written differently."""
        where = f"in state {index} of {corpus.path}"
        state = state_of_trees(self._module, corpus.variables_of(index), where)
        check_round_trip(corpus.states[index], variables_of(self._module.program, state), where)
        return state

    def steps(self, state: State) -> Iterator[tuple[str, Parameters, State, int]]:
        """Enumerate the steps of a state, each as often as it is generated."""
        for step in self._module.successors(state):
            if not self._corpus.is_dump:
                arguments = arguments_of_label(step.label, step.action) or ()
                parameters = tuple(sorted((name, canonical_text(value)) for name, value in arguments))
                yield action_of(step.label), parameters, step.state, 1
            elif self._module.is_in_model(step.state, state):
                action, _, arguments_text = step.label.partition("(")
                parameters = positional(f"<<{arguments_text.removesuffix(')')}>>")
                yield action, parameters, self._representative(step.state), 1

    def _representative(self, state: State) -> State:
        """Return the state of the dump that counts as this one, by symmetry or a view; itself if there is none."""
        if self._representatives is None:
            states = (self.state(self._corpus, index) for index in range(len(self._corpus.states)))
            self._representatives = {self._classes.key(known): known for known in states}
        return self._representatives.get(self._classes.key(state), state)

    def variables(self, state: State) -> Mapping[str, Tla]:
        """Return the variables of a state."""
        return variables_of(self._module.program, state)

    def order(self, state: Any) -> SortKey:
        """Return the place of a state in the order of values."""
        return value_key(state)
