"""The search over a module, by itself: on graphs whose states and steps are written down."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kmc.checking.modules.check_module import ModuleRequest, load_module
from kmc.checking.modules.checked_module import CheckedModule, checked_module
from kmc.checking.modules.module_replay import check_module_violation
from kmc.checking.modules.module_search import ModuleSearch
from kmc.errors import EvaluationError, InternalError, KmcError, Span
from kmc.result import Bound, Limits, Result, Trace, TraceStep, Verdict
from kmc.tla.resolved.model import Assumption, BehaviourParts, ResolvedModel
from kmc.tla.resolved.nodes import BooleanExpr, Expression, OperatorDefinition
from kmc.tla.run.program import ModuleProgram, ModuleStep, Poll, State
from kmc.tla.values.kinds import Value, truth

PLACE = Span("Graph.tla", 1)
INITIAL, NEXT = BooleanExpr(True, place=PLACE), BooleanExpr(True, place=PLACE)


def definition(name: str) -> OperatorDefinition:
    """Return a definition whose meaning a graph gives by its name."""
    return OperatorDefinition(name, (), BooleanExpr(True, place=PLACE), PLACE, "Graph", 1)


@dataclass
class Graph:
    """A graph of numbered states: `steps` are names of actions with targets, once for each way."""

    initial: Sequence[int]
    steps: Mapping[int, Sequence[tuple[str, int]]]
    invariants: Mapping[str, Callable[[int], bool]] = field(default_factory=dict)
    constraint: Callable[[int], bool] | None = None
    step_constraint: Callable[[int, int], bool] | None = None
    symmetric: Callable[[int], int] | None = None
    view: Callable[[int], int] | None = None
    failing: frozenset[int] = frozenset()
    check_deadlock: bool = False

    def model(self) -> ResolvedModel:
        """Return the model of the graph, without formulas."""
        return ResolvedModel(
            "Graph",
            "Graph.tla",
            None,
            ("x",),
            (),
            (),
            BehaviourParts((INITIAL,), NEXT, None, ()),
            invariants=tuple(map(definition, self.invariants)),
            constraints=(definition("Small"),) if self.constraint is not None else (),
            action_constraints=(definition("Slow"),) if self.step_constraint is not None else (),
            symmetry=definition("Symmetry") if self.symmetric is not None else None,
            view=definition("View") if self.view is not None else None,
            check_deadlock=self.check_deadlock,
        )


class GraphProgram(ModuleProgram):
    """A program that walks a graph; its formulas look at the graph, and enumerate nothing."""

    def __init__(self, graph: Graph) -> None:
        self.model = graph.model()
        self.graph = graph
        self.action_names = tuple(dict.fromkeys(label for steps in graph.steps.values() for label, _ in steps))

    def failed_assumption(self) -> Assumption | None:
        return None

    def initial_states(self, poll: Poll | None = None, most: int | None = None) -> Iterator[State]:
        return ((number,) for number in self.graph.initial)

    def successors(self, state: State, poll: Poll | None = None) -> Iterator[ModuleStep]:
        if state[0] in self.graph.failing:
            raise EvaluationError("KMC257", "no value", PLACE)
        return (ModuleStep(label, None, (to,)) for label, to in self.graph.steps.get(number(state), ()))

    def holds(self, predicate: OperatorDefinition, state: State) -> bool:
        if predicate.name == "Small":
            return self.is_in_model(state)
        return self.graph.invariants[predicate.name](number(state))

    def holds_in_step(self, predicate: Expression, state: State, successor: State) -> bool:
        assert predicate is NEXT
        return any(to == successor[0] for _, to in self.graph.steps.get(number(state), ()))

    def is_in_model(self, state: State) -> bool:
        return self.graph.constraint is None or self.graph.constraint(number(state))

    def is_step_in_model(self, state: State, successor: State) -> bool:
        return self.graph.step_constraint is None or self.graph.step_constraint(number(state), number(successor))

    def identity(self, state: State) -> Hashable:
        function = self.graph.view or self.graph.symmetric
        return state if function is None else function(number(state))

    def evaluate(self, expression: Expression, state: State | None, successor: State | None = None) -> Value:
        assert expression is INITIAL
        assert state is not None
        return truth(state[0] in self.graph.initial)

    def alias(self, state: State, successor: State, level: int) -> Value | None:
        return None


def number(state: State) -> int:
    """Return the number of a state."""
    assert isinstance(state[0], int)
    return state[0]


def module_of(graph: Graph) -> CheckedModule:
    """Return the graph as a module."""
    return checked_module(GraphProgram(graph))


def searched(graph: Graph, limits: Limits | None = None, *, keep_going: bool = False) -> Result:
    """Return the result of a search of the graph."""
    return ModuleSearch(module_of(graph), limits, keep_going=keep_going).run()


def numbers(result: Result) -> list[int]:
    """Return the states of the trace."""
    assert result.violation is not None
    return [number(step.state) for step in result.violation.trace.steps]


DIAMOND = Graph([1], {1: [("Left", 2), ("Right", 3), ("Right", 3)], 2: [("Down", 4)], 3: [("Down", 4), ("Back", 1)]})


def test_states_are_counted_as_tlc_counts_them() -> None:
    result = searched(DIAMOND)
    counters = result.counters
    assert (counters.generated, counters.distinct, counters.depth, counters.left) == (7, 4, 3, 0)
    assert (result.initial, result.levels) == (1, (1, 2, 1))
    assert result.generated_by_action == {"Left": 1, "Right": 2, "Down": 2, "Back": 1}
    assert (result.verdict, result.collision_bound) == (Verdict.OK, 0.0)


def test_an_initial_state_that_is_generated_twice_counts_twice() -> None:
    result = searched(replace(DIAMOND, initial=[1, 1, 3]))
    assert (result.initial, result.counters.generated, result.levels) == (3, 9, (2, 2))


def test_the_least_state_of_the_first_failing_level_is_reported_with_the_least_trace() -> None:
    graph = replace(DIAMOND, steps={1: [("Right", 3), ("Left", 2)], 2: [("Down", 4)], 3: [("Down", 4), ("Up", 0)]})
    result = searched(replace(graph, invariants={"Low": lambda x: x < 4}))
    assert numbers(result) == [1, 2, 4]
    assert result.violation is not None
    assert [step.label for step in result.violation.trace.steps] == ["Initial predicate", "Left", "Down"]
    assert (result.verdict, result.violation.name) == (Verdict.VIOLATION, "Low")


def test_a_deadlock_is_a_state_without_any_successor() -> None:
    result = searched(replace(DIAMOND, check_deadlock=True))
    assert (result.verdict, numbers(result)) == (Verdict.DEADLOCK, [1, 2, 4])
    assert searched(replace(DIAMOND, check_deadlock=True, constraint=lambda x: x < 4, steps={
        **DIAMOND.steps, 4: [("Stay", 4)]})).verdict is Verdict.OK  # fmt: skip


def test_a_state_outside_of_a_constraint_is_checked_and_not_stored() -> None:
    graph = replace(DIAMOND, constraint=lambda x: x < 4)
    result = searched(graph)
    assert (result.counters.generated, result.counters.distinct, result.cut) == (7, 3, 2)
    assert searched(replace(graph, invariants={"Low": lambda x: x < 4})).verdict is Verdict.VIOLATION


def test_a_step_outside_of_an_action_constraint_is_not_taken() -> None:
    result = searched(replace(DIAMOND, step_constraint=lambda x, to: (x, to) not in ((2, 4), (3, 4))))
    assert (result.counters.generated, result.counters.distinct, result.levels) == (7, 3, (1, 2))


def test_a_level_bound_checks_the_level_behind_it() -> None:
    result = searched(replace(DIAMOND, invariants={"Lower": lambda x: x < 5}), Limits(depth=2))
    assert (result.verdict, result.bound, result.levels) == (Verdict.BOUND_REACHED, Bound.DEPTH, (1, 2))
    assert result.counters.generated == 7
    assert searched(replace(DIAMOND, invariants={"Low": lambda x: x < 4}), Limits(depth=2)).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("limits", "bound"),
    [
        (Limits(states=2), Bound.STATES),
        (Limits(seconds=0.0), Bound.TIME),
        (Limits(memory_bytes=1), Bound.MEMORY),
    ],
)
def test_limits_end_a_search(limits: Limits, bound: Bound) -> None:
    result = searched(DIAMOND, limits)
    assert (result.verdict, result.bound) == (Verdict.BOUND_REACHED, bound)


def test_a_search_that_keeps_going_counts_all_violations() -> None:
    graph = replace(DIAMOND, invariants={"Low": lambda x: x < 3, "Even": lambda x: x % 2 == 0})
    result = searched(graph, keep_going=True)
    assert {prop.name: prop.violations for prop in result.properties} == {"Low": 2, "Even": 2}
    assert (result.counters.distinct, numbers(result)) == (4, [1])


def test_symmetric_states_count_as_one_and_the_trace_is_a_behaviour() -> None:
    # 2 and 3 are one state with the names exchanged, so are 4 and 5.
    graph = Graph(
        [1],
        {1: [("A", 3), ("A", 2)], 2: [("B", 4)], 3: [("B", 5)], 4: [("C", 6)], 5: [("C", 6)]},
        {"Low": lambda x: x < 6},
        symmetric=lambda x: {3: 2, 5: 4}.get(x, x),
    )
    result = searched(graph)
    assert result.levels == (1, 1, 1, 1)
    assert numbers(result) == [1, 2, 4, 6]


def test_the_state_of_a_view_that_is_found_first_is_expanded() -> None:
    graph = Graph([1], {1: [("A", 12), ("A", 2)], 2: [("B", 3)], 12: [("B", 4)]}, view=lambda x: x % 10)
    assert searched(graph).levels == (1, 1, 1)
    assert numbers(searched(replace(graph, invariants={"Low": lambda x: x != 4}))) == [1, 12, 4]
    # A state that is not expanded is checked.
    assert numbers(searched(replace(graph, invariants={"Low": lambda x: x != 2}))) == [1, 2]


def test_an_error_of_a_step_is_reported_where_it_happens() -> None:
    result = searched(replace(DIAMOND, failing=frozenset({3})))
    assert (result.verdict, numbers(result)) == (Verdict.ERROR, [1, 3])
    assert result.violation is not None
    assert result.violation.exit_status == 75


def test_an_invariant_without_a_value_is_an_error_of_its_own() -> None:
    def fails(x: int) -> bool:
        if x == 3:
            raise EvaluationError("KMC257", "no value", PLACE)
        return True

    result = searched(replace(DIAMOND, invariants={"Low": fails}))
    assert result.violation is not None
    assert (result.verdict, result.violation.exit_status) == (Verdict.ERROR, 76)


def test_a_module_without_an_initial_state_is_refused() -> None:
    with pytest.raises(KmcError, match="no state satisfies the initial predicate"):
        searched(replace(DIAMOND, initial=[]))


def test_an_interrupt_ends_it_with_the_counts_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(DIAMOND)
    successors = module.program.successors

    def interrupted(state: State, poll: Poll | None = None) -> Iterator[ModuleStep]:
        if state == (3,):
            raise KeyboardInterrupt
        return successors(state)

    monkeypatch.setattr(module.program, "successors", interrupted)
    result = ModuleSearch(module).run()
    assert (result.verdict, result.counters.generated, result.counters.distinct) == (Verdict.INTERRUPTED, 5, 4)


LOW = replace(DIAMOND, invariants={"Low": lambda x: x < 4})


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        ([2, 4], "its first state does not satisfy the initial predicate"),
        ([1, 4], "the step X to state 2 does not satisfy the next-state relation"),
        ([1, 3], "Low holds at its end"),
    ],
)
def test_a_trace_that_does_not_replay_is_refused(states: list[int], reason: str) -> None:
    violation = searched(LOW).violation
    assert violation is not None
    first, *others = [(one,) for one in states]
    trace = Trace((TraceStep(first), *(TraceStep(state, "X", "X") for state in others)))
    with pytest.raises(InternalError, match=reason) as raised:
        check_module_violation(module_of(LOW), replace(violation, trace=trace))
    assert raised.value.code == "KMC942"


def test_a_successor_that_the_relation_does_not_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(LOW)
    successors = module.program.successors

    def with_another(state: State, poll: Poll | None = None) -> Iterator[ModuleStep]:
        yield from successors(state)
        yield ModuleStep("Left", None, (9,))

    monkeypatch.setattr(module.program, "successors", with_another)
    with pytest.raises(InternalError, match="the step Left to state 2 does not satisfy the next-state relation"):
        ModuleSearch(module).run()


def test_a_parent_that_does_not_lead_to_its_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.checking.modules.module_trace.chain_of", lambda graph, finding: [0])
    with pytest.raises(InternalError, match="no step of the module leads to the next state") as raised:
        searched(LOW)
    assert raised.value.code == "KMC941"


def test_a_successor_that_is_dropped_changes_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(DIAMOND)
    successors = module.program.successors
    monkeypatch.setattr(module.program, "successors", lambda state, poll=None: iter(list(successors(state))[:-1]))
    result = ModuleSearch(module).run()
    assert (result.counters.generated, result.counters.distinct) == (4, 4)


ENDLESS = """---- MODULE Wide ----
EXTENDS Naturals
CONSTANT Most
VARIABLE x
Init == x = 0
Inits == x \\in 0..Most
Assigned == x' \\in 0..Most
Chosen == \\E i \\in x..Most : x' = i
Guarded == \\E i \\in x..Most : i > Most /\\ x' = i
===="""


@pytest.mark.parametrize(
    ("first", "following"),
    [("Init", "Assigned"), ("Init", "Chosen"), ("Init", "Guarded"), ("Inits", "Assigned")],
)
def test_a_limit_ends_the_search_within_a_state(first: str, following: str, tmp_path: Path) -> None:
    (tmp_path / "Wide.tla").write_text(ENDLESS)
    (tmp_path / "Wide.cfg").write_text(f"INIT {first}\nNEXT {following}\nCONSTANT Most = 1000000000\n")
    module = load_module(ModuleRequest(tmp_path / "Wide.tla", tmp_path / "Wide.cfg"))
    result = ModuleSearch(module, Limits(seconds=0.05)).run()
    assert (result.verdict, result.bound) == (Verdict.BOUND_REACHED, Bound.TIME)
    assert result.counters.generated == sum(result.generated_by_action.values()) + result.initial
