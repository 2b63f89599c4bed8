"""The least lasso that answers a query, by obvious means: sets of states, plain searches, and every predicate as it is.

A behaviour answers a query if it goes through its phases and stays in the last one, in a cycle that meets all
conditions of the query and of fairness. Invariant: a set of states that holds such a cycle is never dropped. A strongly
connected part that misses a recurrence holds none. A part that triggers a response without its answer holds none
through a trigger, so these states are removed and the rest is searched again (Emerson and Lei; Streett).

Of all lassos that answer, the reported one is the least by `kmc.liveness.lasso_order`. Of those of one rank it is the
one with the least states in display order: those of the cycle, then those of the stem, from the cycle back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kmc.lang.order import SortKey, sort_key
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, Recurrence
from kmc.reference.temporal.behaviours import Behaviours

Node: TypeAlias = tuple[int, int]
"""A state, and the phase that a behaviour is in there."""

Edges: TypeAlias = Mapping[int, Collection[int]]
"""The successors of each state of a part of the graph, all of them in that part."""


@dataclass(frozen=True, slots=True)
class Path:
    """The states of a lasso or of a finite prefix by number; a prefix has no cycle, and a cycle of one state stutters.

    The stem does not repeat the first state of the cycle.
    """

    stem: tuple[int, ...]
    cycle: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.stem) + len(self.cycle)

    @property
    def rank(self) -> LassoRank:
        """Its place in the order of counterexamples, but for its states."""
        return LassoRank.of(self.stem, self.cycle)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A cycle through a state of `trigger`, or any if that is None, has a state of `states` or a step of `steps`."""

    trigger: frozenset[int] | None
    states: frozenset[int]
    steps: frozenset[tuple[int, int]]

    def is_met(self, states: Collection[int], steps: Iterable[tuple[int, int]]) -> bool:
        """Whether a cycle of these states and steps meets it."""
        if self.trigger is not None and self.trigger.isdisjoint(states):
            return True
        return not self.states.isdisjoint(states) or any(step in self.steps for step in steps)


class ObviousLassos:
    """The lassos of one query, in expanded states only: kmc does not know what the others enable."""

    def __init__(self, behaviours: Behaviours, initial: int, query: LassoQuery) -> None:
        self._behaviours = behaviours
        self._query = query
        self._last = len(query.phases) - 1
        self._predecessors: dict[Node, list[Node]] = {}
        self._distances = self._reached(initial)

    def shortest_prefix(self) -> Path | None:
        """The shortest way into the last phase."""
        return self._prefix_to(state for state, phase in self._distances if phase == self._last)

    def least(self, fairness: Iterable[FairnessCondition]) -> Path | None:
        """The least lasso, or None."""
        edges = self._last_phase()
        conditions = self._conditions(fairness, edges)
        components = list(_fair_parts(edges, conditions))
        asked: list[_Condition] = []
        while components:
            lasso = self._least_of(components, asked)
            if lasso is None:
                return None
            steps = list(zip(lasso.cycle, (*lasso.cycle[1:], lasso.cycle[0]), strict=True))
            steps = [step for step in steps if step[0] != step[1]]
            missed = next((c for c in conditions if not c.is_met(lasso.cycle, steps)), None)
            if missed is None:
                return lasso
            # The lasso found is the least that meets the conditions so far, so if it meets all of them it is the least
            # of all.
            asked.append(missed)
        return None

    def _reached(self, initial: int) -> dict[Node, int]:
        """The distance of each reachable node; `_predecessors` are those one step nearer."""
        distances: dict[Node, int] = {}
        level = [(state, 0) for state in range(min(initial, self._behaviours.expanded)) if self._enters(state, 0)]
        distances.update(dict.fromkeys(level, 0))
        while level:
            reached_next: list[Node] = []
            for node in level:
                for successor in self._steps(node):
                    if successor not in distances:
                        distances[successor] = distances[node] + 1
                        self._predecessors[successor] = []
                        reached_next.append(successor)
                    if distances[successor] == distances[node] + 1:
                        self._predecessors[successor].append(node)
            level = reached_next
        return distances

    def _enters(self, state: int, phase: int) -> bool:
        wanted = self._query.phases[phase]
        return self._behaviours.has(wanted.enters_at, state) and self._behaviours.has(wanted.states, state)

    def _steps(self, node: Node) -> Iterator[Node]:
        source, phase = node
        for target in self._behaviours.successors(source):
            if target >= self._behaviours.expanded:
                continue
            if self._stays(source, target, phase):
                yield target, phase
            if phase < self._last:
                entered_by = self._query.phases[phase + 1].entered_by
                if self._behaviours.has_step(entered_by, source, target) and self._enters(target, phase + 1):
                    yield target, phase + 1

    def _stays(self, source: int, target: int, phase: int) -> bool:
        wanted = self._query.phases[phase]
        return self._behaviours.has(wanted.states, target) and self._behaviours.has_step(wanted.steps, source, target)

    def _last_phase(self) -> dict[int, set[int]]:
        """The states of the last phase and the steps within it."""
        states = [state for state, phase in self._distances if phase == self._last]
        return {
            source: {target for target, phase in self._steps((source, self._last)) if phase == self._last}
            for source in states
        }

    def _conditions(self, fairness: Iterable[FairnessCondition], edges: Edges) -> list[_Condition]:
        known: dict[Any, _Condition] = {}
        asked: list[Any] = [*self._query.recurrences, *self._query.responses, *(fair.condition for fair in fairness)]
        for condition in asked:
            if condition not in known:
                known[condition] = self._condition(condition, edges)
        return list(known.values())

    def _condition(self, condition: Any, edges: Edges) -> _Condition:
        behaviours = self._behaviours
        answer: Recurrence = condition if isinstance(condition, Recurrence) else condition.answer
        triggers = None
        if not isinstance(condition, Recurrence):
            triggers = frozenset(state for state in edges if behaviours.has(condition.trigger, state))
        return _Condition(
            triggers,
            frozenset(state for state in edges if behaviours.has(answer.states, state)),
            frozenset(
                (source, target)
                for source, targets in edges.items()
                for target in behaviours.successors_by(answer.steps, source).intersection(targets)
            ),
        )

    def _least_of(self, components: list[Edges], asked: list[_Condition]) -> Path | None:
        """The least lasso whose cycle lies in one of `components` and meets the conditions `asked`."""
        candidates = [
            (self._distances[state, self._last], self._rank(state), state, component)
            for component in components
            for state in component
        ]
        candidates.sort(key=lambda candidate: candidate[:2])
        least: Path | None = None
        staying = (
            candidate[2] for candidate in candidates if all(condition.is_met({candidate[2]}, ()) for condition in asked)
        )
        stuttering = next(staying, None)
        if stuttering is not None:
            least = Path(self._stem((stuttering, self._last)), (stuttering,))
        # Whatever comes later wins only with fewer states in all.
        for distance, _, start, component in candidates:
            longest = None if least is None else len(least) - distance - 1
            if longest is not None and longest < 2:
                break
            cycle = _shortest_cycle(component, asked, start, longest, self._rank)
            if cycle is not None:
                least = Path(self._stem((start, self._last)), cycle)
        return least

    def _prefix_to(self, states: Iterable[int]) -> Path | None:
        ends = [(self._distances[state, self._last], self._rank(state), state) for state in states]
        if not ends:
            return None
        end = min(ends)[2]
        return Path((*self._stem((end, self._last)), end), ())

    def _stem(self, node: Node) -> tuple[int, ...]:
        """The states before `node` on a shortest way, by least predecessors."""
        path: list[int] = []
        nodes = {node}
        for _ in range(self._distances[node]):
            before = {source for each in nodes for source in self._predecessors[each]}
            state = min({state for state, _ in before}, key=self._rank)
            # In several phases a state is several nodes, and which of them leads on to the least states is open.
            nodes = {source for source in before if source[0] == state}
            path.append(state)
        return tuple(path[::-1])

    def _rank(self, state: int) -> SortKey:
        return sort_key(self._behaviours.states[state])


def _pairs(edges: Edges) -> Iterator[tuple[int, int]]:
    return ((source, target) for source, targets in edges.items() for target in targets)


def _fair_parts(edges: Edges, conditions: Collection[_Condition]) -> Iterator[Edges]:
    """The parts of the graph with a cycle through all their states that meets all conditions."""
    waiting = [edges]
    while waiting:
        for states in _components(waiting.pop()):
            component = {source: [target for target in edges[source] if target in states] for source in states}
            missed = [condition for condition in conditions if not condition.is_met(states, _pairs(component))]
            if not missed:
                yield component
            elif all(condition.trigger is not None for condition in missed):
                triggers = frozenset().union(*(condition.trigger or () for condition in missed))
                rest = states - triggers
                waiting.append({source: [t for t in component[source] if t in rest] for source in rest})


def _components(edges: Edges) -> Iterator[set[int]]:
    """The strongly connected components, by networkx: nothing of the native engine's search is shared."""
    import networkx  # Imported here: it takes a tenth of a second.

    graph = networkx.DiGraph()
    graph.add_nodes_from(edges)
    graph.add_edges_from(_pairs(edges))
    components: Iterator[set[int]] = networkx.strongly_connected_components(graph)
    return components


def _shortest_cycle(
    component: Edges, asked: list[_Condition], start: int, longest: int | None, rank: Callable[[int], SortKey]
) -> tuple[int, ...] | None:
    """The shortest cycle of several states from `start`, at most `longest`, that meets `asked`; the least in order."""
    first = _Seen.of(asked, start)
    # A place is a state with what the conditions have seen on the way; one level holds those at one distance.
    levels: list[dict[_Place, set[_Place]]] = [{(start, first): set()}]
    known = {(start, first)}
    while levels[-1] and (longest is None or len(levels) <= longest):
        next_level: dict[_Place, set[_Place]] = {}
        for node in levels[-1]:
            for target in component[node[0]]:
                reached = target, node[1].then(asked, node[0], target)
                if reached not in known:
                    next_level.setdefault(reached, set()).add(node)
        known.update(next_level)
        ends = {node for node in next_level if node[0] == start and node[1].meets(asked)}
        if ends:
            return _least_way([*levels, next_level], ends, rank)
        levels.append(next_level)
    return None


@dataclass(frozen=True, slots=True)
class _Seen:
    """The conditions that a path has triggered so far, and those that it has answered."""

    triggered: frozenset[int]
    answered: frozenset[int]

    @classmethod
    def of(cls, asked: list[_Condition], state: int) -> _Seen:
        """The conditions that the state alone meets."""
        return cls(
            frozenset(
                n for n, condition in enumerate(asked) if condition.trigger is None or state in condition.trigger
            ),
            frozenset(n for n, condition in enumerate(asked) if state in condition.states),
        )

    def then(self, asked: list[_Condition], source: int, target: int) -> _Seen:
        """The same after one more step of the path."""
        there = _Seen.of(asked, target)
        taken = {n for n, condition in enumerate(asked) if (source, target) in condition.steps}
        return _Seen(self.triggered | there.triggered, self.answered | there.answered | taken)

    def meets(self, asked: list[_Condition]) -> bool:
        """Whether nothing is missing."""
        return self.triggered <= self.answered


_Place: TypeAlias = tuple[int, _Seen]


def _least_way(
    levels: list[dict[_Place, set[_Place]]], ends: set[_Place], rank: Callable[[int], SortKey]
) -> tuple[int, ...]:
    """The least of the shortest ways, state by state; `levels` give the predecessors of each place."""
    after: dict[_Place, set[_Place]] = {}
    wanted = ends
    for level in reversed(levels[1:]):
        before: set[_Place] = set()
        for node in wanted:
            for source in level[node]:
                after.setdefault(source, set()).add(node)
                before.add(source)
        wanted = before
    (start,) = levels[0]
    nodes, way = {start}, [start[0]]
    for _ in levels[1:-1]:
        following = {later for node in nodes for later in after[node]}
        state = min({state for state, _ in following}, key=rank)
        nodes = {node for node in following if node[0] == state}
        way.append(state)
    return tuple(way)
