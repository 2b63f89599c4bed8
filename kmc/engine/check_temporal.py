"""Temporal properties on the native engine: the behaviour graph of a search, its lassos, and their states.

Invariant: what is found here is only numbers of states. `kmc.reference.temporal` turns them into states, and replays
them before anyone sees a lasso.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kmc.actions.action import instances_of
from kmc.actions.relation import NextStateRelation
from kmc.compiler.model_kernels import Atoms, all_actions
from kmc.engine.compiled_model import CompiledModel, PackedGrowthWatch, compile_model
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.liveness.early_lassos import EarlyLassos
from kmc.engine.liveness.graph_recorder import GraphRecorder
from kmc.engine.liveness.lasso_choice import LassoAnswers
from kmc.engine.liveness.lasso_search import LassoSearch
from kmc.engine.liveness.noting import Noting
from kmc.engine.liveness.refuting_level import refuting_level
from kmc.engine.search.breadth_first import Search, require_memory
from kmc.engine.search.predecessors import StepLookup
from kmc.liveness.behaviour_graph import BehaviourSource
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, TemporalCheck
from kmc.liveness.problem import TemporalProblem
from kmc.reference.lassos import Path
from kmc.reference.search_end import refuting_end
from kmc.reference.temporal import Tell, TemporalOutcome, cut_fairness, verdicts
from kmc.result import Bound, Counters, CutFairness
from kmc.spec.model import Model


class NotingSearch(Protocol):
    """A search that has noted steps."""

    @property
    def behaviours(self) -> BehaviourSource | None:
        """The source of the behaviour graph."""

    @property
    def predecessors(self) -> StepLookup:
        """The lookup of states and steps."""


@runtime_checkable
class LassoSource(Protocol):
    """A source of a behaviour graph that need not fit into memory."""

    def lassos(self, fairness: Sequence[FairnessCondition], /) -> LassoAnswers:
        """The search for lassos; to be asked once."""


@runtime_checkable
class EndedBefore(Protocol):
    """A search that goes on where its steps refute a property, and can tell what it would have been without that."""

    @property
    def behaviours(self) -> BehaviourSource | None:
        """See `NotingSearch`."""

    def ended_at(self, levels: int, /) -> SearchOutcome:
        """The outcome of a search that ends when it has made so many levels; this one made as many or more."""


class TemporalSearch:
    """A search that makes the behaviour graph for the temporal properties of a model. `noting` says what it notes."""

    def __init__(self, model: Model, problem: TemporalProblem, fingerprint_bits: int) -> None:
        self._model, self._problem = model, problem
        self.instances = instances_of(all_actions(model))
        self.compiled = compile_model(model, fingerprint_bits, Atoms(problem.atoms, problem.step_atoms))
        apart = tuple(int(not action.in_next) for action, _ in self.instances)
        self.noting = Noting(len(problem.atoms), len(problem.step_atoms), apart)
        self._lassos: tuple[BehaviourSource, LassoAnswers] | None = None

    def search(
        self,
        initial: Sequence[PackedState],
        settings: Settings,
        progress: Callable[[Counters], None] | None,
        directory: RunDirectory | None = None,
    ) -> Search:
        """A search in memory, to be run once."""
        require_memory(self.compiled.kernels, settings, directory, has_graph=True)
        noting = self.noting
        apart = np.array(noting.apart, np.int64)
        early = EarlyLassos(self._problem) if not settings.keep_going else None
        recorder = GraphRecorder(self.compiled.kernels, noting.atoms, noting.step_atoms, apart, early)
        watch = PackedGrowthWatch(self.compiled)
        return Search(self.compiled.kernels, initial, settings, progress, directory, recorder, watch)

    def generated(self, outcome: SearchOutcome) -> dict[str, int]:
        """The states that each action of Next generated."""
        counts = {action.title: 0 for action in self._model.spec.actions}
        for (action, _), count in zip(self.instances, outcome.generated_by_action, strict=True):
            if action.title in counts:
                counts[action.title] += count
        return counts

    def ended(self, search: EndedBefore, outcome: SearchOutcome, tell: Tell) -> SearchOutcome:
        """The outcome of a search as if it had ended where its steps refute a property."""
        assert search.behaviours is not None, "the search has noted steps"
        tell("Building the behaviour graph")
        level = refuting_level(self._lassos_of(search.behaviours), self._problem)
        # The steps of a level, counted from 0, are known when the next one has been made.
        refuted_at = None if level is None else level + 2
        end = refuting_end(len(outcome.levels), outcome.failed_at, refuted_at)
        return outcome if end is None else search.ended_at(end)

    def _lassos_of(self, source: BehaviourSource) -> LassoAnswers:
        """The search for lassos in a graph, made once."""
        if self._lassos is None or self._lassos[0] is not source:
            fairness, lassos = self._problem.fairness, None
            if isinstance(source, LassoSource):
                lassos = source.lassos(fairness)
            self._lassos = source, lassos or LassoSearch(source.graph(), fairness, self._problem.checks)
        return self._lassos[1]

    def outcome(
        self, search: NotingSearch, initial: Sequence[PackedState], found: SearchOutcome, start: Any, tell: Tell
    ) -> TemporalOutcome:
        """The verdicts, after a search that found no other failure; `tell` is called with what is going on."""
        assert search.behaviours is not None, "the search has noted steps"
        tell("Building the behaviour graph")
        states = [self.compiled.state(record.row) for record in initial]
        lassos = self._lassos_of(search.behaviours)
        finder = _Finder(self.compiled, search.predecessors, search.behaviours, lassos, states)
        properties, violation = verdicts(self._model, self._problem, finder, start, tell)
        by_depth = found.stopped is Bound.DEPTH
        cut = tuple(self._cut(finder, by_depth=by_depth)) if found.cut else ()
        return TemporalOutcome(properties, violation, cut)

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
                yield cut_fairness(self._model, fair, finder.states([source])[0])


class NumberFinder:
    """A finder in a graph whose states are numbers; see `kmc.reference.temporal.LassoFinder`."""

    def __init__(self, lassos: LassoAnswers) -> None:
        self.lassos = lassos

    def least(self, query: LassoQuery, below: LassoRank | None) -> Path | None:
        """See `kmc.reference.temporal.LassoFinder`."""
        lasso = self.lassos.find(TemporalCheck("", "", (query,)), below)
        return Path(lasso.stem, lasso.cycle) if lasso is not None else None

    def order(self, path: Path) -> tuple[LassoRank, Any]:
        """See `kmc.reference.temporal.LassoFinder`: the states by number, which no thread and no shard decides."""
        return path.rank, (*path.cycle, *path.stem)

    def has_lasso(self, query: LassoQuery) -> bool:
        """Whether a fair lasso answers a query."""
        return self.lassos.has_lasso(query)

    def shortest_prefix(self, query: LassoQuery) -> Path | None:
        """The shortest way into the last phase, or None."""
        distances = self.lassos.distances(query.phases)
        for nodes in distances.levels():
            states = distances.last_states(nodes)
            # The steps of others are not known, and a phase may ask for them.
            states = states[states < self.lassos.expanded]
            if len(states):
                return Path(tuple(distances.path_to(int(states.min()))), ())
        return None


class _Finder(NumberFinder):
    """See `kmc.reference.temporal.LassoFinder`."""

    def __init__(
        self,
        compiled: CompiledModel,
        predecessors: StepLookup,
        source: BehaviourSource,
        lassos: LassoAnswers,
        initial: Sequence[Any],
    ) -> None:
        super().__init__(lassos)
        self._compiled, self._predecessors, self._source = compiled, predecessors, source
        self._initial = initial
        spec = compiled.model.spec
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)

    def states(self, numbers: Sequence[int]) -> list[Any]:
        """The states of a path by number, replayed; others are looked up, for which a search may go again."""
        return self._replayed(numbers) or self._looked_up(numbers)

    def _replayed(self, numbers: Sequence[int]) -> list[Any]:
        """The states of a path from an initial state; empty if it is none."""
        states: list[Any] = []
        candidates: Iterable[Any] = self._initial
        for number in numbers:
            wanted = self._source.fingerprint(number)[0]
            same = (state for state in candidates if self._compiled.record(state).fingerprint == wanted)
            state = next(same, None)
            if state is None:
                return []
            states.append(state)
            candidates = (successor for *_, successor in self._relation.steps(state))
        return states

    def _looked_up(self, numbers: Sequence[int]) -> list[Any]:
        """The states of some numbers, looked up level by level."""
        found: dict[int, Any] = {}
        by_level: dict[int, list[int]] = {}
        for number in dict.fromkeys(numbers):
            level = int(np.searchsorted(self.lassos.level_starts, number, side="right"))
            by_level.setdefault(level, []).append(number)
        # A search that goes again for a level keeps those before it too, as far as they fit.
        for level, there in sorted(by_level.items(), reverse=True):
            fingerprints = {number: self._source.fingerprint(number)[0] for number in there}
            records = self._predecessors.states(level, list(fingerprints.values()))
            for number, fingerprint in fingerprints.items():
                assert fingerprint in records, "the states of the graph are those of the levels"
                found[number] = self._compiled.state(records[fingerprint].row)
        return [found[number] for number in numbers]
