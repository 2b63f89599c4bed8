"""Temporal properties on the native engine: the behaviour graph of a search, its lassos, and their states.

Invariant: this module finds only numbers of states. `kmc.reference.temporal.verdicts` turns them into states, and
replays them before a lasso is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kmc.actions.action import instances_of
from kmc.actions.relation import NextStateRelation
from kmc.compiler.model_kernels import Atoms, all_actions
from kmc.engine.behaviour_graph.early_lassos import EarlyLassos
from kmc.engine.behaviour_graph.recorder import GraphRecorder
from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.compiled_model import CompiledModel, PackedGrowthWatch, compile_model
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.lassos.choice import LassoAnswers
from kmc.engine.lassos.number_finder import NumberFinder
from kmc.engine.lassos.refuting_level import refuting_level
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.model_search import ModelSearch
from kmc.engine.optimised_kernels import optimised_later
from kmc.engine.search.breadth_first import require_memory
from kmc.engine.search.predecessors import StepLookup
from kmc.engine.search_in_memory import SearchInMemory
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.liveness.behaviour_graph import BehaviourSource
from kmc.liveness.problem import TemporalProblem
from kmc.reference.search_end import refuting_end
from kmc.reference.temporal.vacuity import Dropping, vacuous_properties
from kmc.reference.temporal.verdicts import Tell, TemporalOutcome, cut_fairness, verdicts
from kmc.result import Bound, Counters, CutFairness


class TemporalSearch:
    """A search that builds the behaviour graph for the temporal properties of a model. `noting` lists its records."""

    def __init__(self, model: Model, problem: TemporalProblem, fingerprint_bits: int, *, at_once: bool = False) -> None:
        """`at_once` as `compile_model` has it."""
        self._model, self._problem = model, problem
        self.instances = instances_of(all_actions(model))
        atoms = Atoms(problem.atoms, problem.step_atoms)
        self.compiled = compile_model(model, fingerprint_bits, atoms, at_once=at_once)
        apart = tuple(int(not action.in_next) for action, _ in self.instances)
        self.noting = Noting(len(problem.atoms), len(problem.step_atoms), apart)
        self._lassos: tuple[BehaviourSource, LassoAnswers] | None = None

    def search(
        self,
        compiled: CompiledModel,
        initial: Sequence[PackedState],
        settings: Settings,
        progress: Callable[[Counters], None] | None,
        directory: RunDirectory | None = None,
        /,
        noting: Noting | None = None,
    ) -> SearchInMemory:
        """A search in memory of the model that this one compiled, to be run once: a `SearchMaker`."""
        assert compiled is self.compiled, "the atoms are those of this model"
        assert noting is None, "the recorder of a search in memory has been chosen here"
        require_memory(self.compiled.kernels, settings, directory, has_graph=True)
        noted = self.noting
        apart = np.array(noted.apart, np.int64)
        early = EarlyLassos(self._problem) if not settings.keep_going else None
        recorder = GraphRecorder(self.compiled.kernels, noted.atoms, noted.step_atoms, apart, early)
        watch, later = PackedGrowthWatch(self.compiled), optimised_later(self.compiled)
        return SearchInMemory(self.compiled.kernels, initial, settings, progress, directory, recorder, watch, later)

    def generated(self, outcome: SearchOutcome) -> dict[str, int]:
        """The states that each action of Next generated."""
        counts = {action.title: 0 for action in self._model.spec.actions}
        for (action, _), count in zip(self.instances, outcome.generated_by_action, strict=True):
            if action.title in counts:
                counts[action.title] += count
        return counts

    def ended(self, search: ModelSearch, outcome: SearchOutcome, tell: Tell) -> SearchOutcome:
        """The outcome of a search as if it had ended where its steps refute a property."""
        tell("Building the behaviour graph")
        level = refuting_level(self._lassos_of(search), self._problem)
        # The steps of a level, counted from 0, are known when the next one has been made.
        refuted_at = None if level is None else level + 2
        end = refuting_end(len(outcome.levels), outcome.failed_at, refuted_at)
        return outcome if end is None else search.ended_at(end)

    def _lassos_of(self, search: ModelSearch) -> LassoAnswers:
        """The search for lassos in the graph of a search, made once."""
        source = search.behaviours
        assert source is not None, "the search has recorded steps"
        if self._lassos is None or self._lassos[0] is not source:
            self._lassos = source, search.lassos(self._problem.fairness, self._problem.checks)
        return self._lassos[1]

    def outcome(
        self,
        search: ModelSearch,
        initial: Sequence[PackedState],
        searched: SearchOutcome,
        start: State | None,
        tell: Tell,
    ) -> TemporalOutcome:
        """The verdicts, after a search that found no other failure; `tell` is called with the name of each phase of
        work.
        """
        assert search.behaviours is not None, "the search has recorded steps"
        tell("Building the behaviour graph")
        states = [self.compiled.state(record.row) for record in initial]
        lassos = self._lassos_of(search)
        finder = _Finder(self.compiled, search.predecessors, search.behaviours, lassos, states)
        properties, violation = verdicts(self._model, self._problem, finder, start, tell)
        by_depth = searched.stopped is Bound.DEPTH
        cut = tuple(self._cut(finder, by_depth=by_depth)) if searched.cut else ()
        dropping = Dropping.of(stopped=searched.stopped is not None, cut=searched.cut > 0)
        vacuous = vacuous_properties(self._problem, finder, properties, dropping)
        return TemporalOutcome(properties, violation, cut, vacuous)

    def _cut(self, finder: _Finder, *, by_depth: bool) -> Iterator[CutFairness]:
        """The conditions of fairness whose steps a constraint drops, each with the first state in the graph."""
        lassos, fairness = finder.lassos, self._problem.fairness
        # The steps of the last level may lead out of the bound; those of the others, out of the constraints only.
        end = min(int(lassos.level_starts[-2 if by_depth else -1]), lassos.expanded)
        actions = self._model.spec.actions
        in_next = frozenset(label for label, (action, _) in enumerate(self.instances) if action in actions)
        dropped = lassos.first_dropped([fair.steps for fair in fairness], in_next, end)
        for fair, source in zip(fairness, dropped, strict=True):
            if source is not None:
                yield cut_fairness(self._model, self._problem, fair, finder.states([source])[0])


class _Finder(NumberFinder):
    """See `kmc.reference.temporal.verdicts.LassoFinder`."""

    def __init__(
        self,
        compiled: CompiledModel,
        predecessors: StepLookup,
        source: BehaviourSource,
        lassos: LassoAnswers,
        initial: Sequence[State],
    ) -> None:
        super().__init__(lassos)
        self._compiled, self._predecessors, self._source = compiled, predecessors, source
        self._initial = initial
        spec = compiled.model.spec
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)

    def states(self, indices: Sequence[int]) -> list[State]:
        """The states of a path by number, replayed; others are looked up, for which a search may go again."""
        return self._replayed(indices) or self._looked_up(indices)

    def _replayed(self, indices: Sequence[int]) -> list[State]:
        """The states of a path from an initial state; empty if it is none."""
        states: list[State] = []
        candidates: Iterable[State] = self._initial
        for index in indices:
            wanted = self._source.fingerprint(index)[0]
            same = (state for state in candidates if self._compiled.record(state).fingerprint == wanted)
            state = next(same, None)
            if state is None:
                return []
            states.append(state)
            candidates = (successor for *_, successor in self._relation.steps(state))
        return states

    def _looked_up(self, indices: Sequence[int]) -> list[State]:
        """The states of some numbers, looked up level by level."""
        state_of: dict[int, Any] = {}
        by_level: dict[int, list[int]] = {}
        for state_number in dict.fromkeys(indices):
            level = int(np.searchsorted(self.lassos.level_starts, state_number, side="right"))
            by_level.setdefault(level, []).append(state_number)
        # A search that goes again for a level keeps those before it too, as far as they fit.
        for level, there in sorted(by_level.items(), reverse=True):
            fingerprints = {state_number: self._source.fingerprint(state_number)[0] for state_number in there}
            records = self._predecessors.states(level, list(fingerprints.values()))
            for state_number, fingerprint in fingerprints.items():
                assert fingerprint in records, "the states of the graph are those of the levels"
                state_of[state_number] = self._compiled.state(records[fingerprint].row)
        return [state_of[state_number] for state_number in indices]
