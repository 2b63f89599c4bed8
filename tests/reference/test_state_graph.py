"""Which states count as one, the levels and shortest paths of the graph, and which of several failures is reported."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from support.drawing.values import Server, VoteRequest, record_class

from kmc.errors import EvaluationError, Span
from kmc.invariants.properties import SymmetrySet, View
from kmc.lang.annotations import Bool, Int, MessageSet, Opt, PartialMap
from kmc.lang.idents import ident_class
from kmc.lang.maps import map_literal
from kmc.lang.networks import set_of_messages
from kmc.reference.states.findings import Finding, Findings, error_rank
from kmc.reference.states.identity import StateSet
from kmc.reference.states.state_graph import StateGraph
from kmc.result import Verdict

HERE = Span("spec.py", 1)
S1, S2, S3 = Server
State = record_class({"n": Int(0, 9), "who": Opt[Server]}, name="State")
Worker: Any = ident_class("Worker", ("1", "2", "3"), symmetric=True, spawned=True, started="alive")
Team = record_class({"alive": PartialMap[Worker, Bool]}, name="Team")
Mailed = record_class({"who": Opt[Server], "messages": MessageSet[VoteRequest]}, name="Mailed")
SERVERS = (SymmetrySet("servers", (Server,), HERE),)


def state(n: int, who: Any = None) -> Any:
    """A state."""
    return State(n=n, who=who)


def team(*alive: bool) -> Any:
    """A state with these workers, the first members of their type."""
    return Team(alive=map_literal(zip(Worker, alive, strict=False)))


class TestStateSet:
    def test_without_symmetry_each_state_is_its_own(self) -> None:
        known = StateSet(State, (), None)
        assert [known.add(state(0, who)) for who in (S1, S2)] == [0, 1]
        assert (known.find(state(0, S2)), known.find(state(0, S3)), len(known)) == (1, None, 2)

    def test_permuted_states_are_one(self) -> None:
        known = StateSet(State, SERVERS, None)
        known.add(state(0, S2))
        assert [known.find(state(0, who)) for who in (S1, S2, S3, None)] == [0, 0, 0, None]
        assert known.orbit(state(0, S3)) == known.orbit(state(0, S1)) != known.orbit(state(1, S1))
        assert known.images(state(0, S2))[0] == state(0, S2)
        assert len(known.images(state(0, S2))) == 6

    def test_a_permutation_applies_to_messages_and_to_variables_together(self) -> None:
        def mailed(who: Any, dest: Any) -> Any:
            request = VoteRequest(source=S3, dest=dest, epoch=0)
            return Mailed(who=who, messages=set_of_messages([request]))

        known = StateSet(Mailed, SERVERS, None)
        known.add(mailed(S1, S1))
        known.add(mailed(S1, S2))
        assert [known.find(mailed(*pair)) for pair in ((S2, S2), (S2, S1), (S3, S3), (S2, S3))] == [0, 1, None, None]

    def test_a_type_in_two_symmetry_sets_is_permuted_once(self) -> None:
        assert len(StateSet(State, SERVERS * 2, None).images(state(0, S1))) == 6

    def test_a_view_compares_the_fields_that_it_keeps(self) -> None:
        known = StateSet(State, (), View("numbers", frozenset({"who"}), HERE))
        known.add(state(3, S1))
        assert (known.find(state(3, S2)), known.find(state(4, S1)), known.has_view) == (0, None, True)

    def test_spawned_identifiers_are_permuted_among_those_in_use(self) -> None:
        known = StateSet(Team, (SymmetrySet("workers", (Worker,), HERE),), None)
        known.add(team(True, False))
        known.add(team(True, False, False))
        assert (known.find(team(False, True)), known.find(team(True, True))) == (0, None)
        assert [len(known.images(team(*[True] * used))) for used in range(4)] == [1, 1, 2, 6]
        assert {known.find(team(*alive)) for alive in permutations((True, False, False))} == {1}


def diamond(known: StateSet | None = None) -> StateGraph:
    """0; then 2 and 1; then 5 from both, and 4 from 2."""
    graph = StateGraph(known or StateSet(State, (), None))
    graph.offer(None, state(0))
    graph.commit_level()
    for n in (2, 1):
        graph.offer(0, state(n))
    graph.commit_level()
    for source, n in ((1, 5), (2, 5), (1, 4)):
        graph.offer(source, state(n))
    graph.commit_level()
    return graph


class TestStateGraph:
    def test_a_state_is_to_be_checked_when_it_is_new(self) -> None:
        graph = StateGraph(StateSet(State, (), None))
        assert [graph.offer(None, state(n)) for n in (0, 1, 0)] == [True, True, False]
        assert (graph.commit_level(), graph.commit_level()) == (range(2), range(2, 2))
        assert (graph.offer(0, state(1)), graph.levels) == (False, [2])

    def test_levels_count_from_one(self) -> None:
        graph = diamond()
        assert (graph.levels, [graph.level_of(number) for number in range(5)]) == ([1, 2, 2], [1, 2, 2, 3, 3])

    def test_a_path_takes_the_least_predecessor(self) -> None:
        graph = diamond()
        assert [graph.states[number].n for number in graph.chain(3)] == [0, 1, 5]
        assert [graph.states[number].n for number in graph.chain(4)] == [0, 2, 4]
        assert graph.chain(0) == [0]

    def test_an_edge_back_is_not_part_of_a_path(self) -> None:
        graph = diamond()
        graph.offer(3, state(1))
        graph.offer(4, state(0))
        assert [graph.states[number].n for number in graph.chain(3)] == [0, 1, 5]

    def test_stored_states_are_known(self) -> None:
        graph = diamond()
        assert [(graph.is_known(state(n)), graph.stored(state(n))) for n in (4, 5, 6)] == [
            (True, 4),
            (True, 3),
            (False, None),
        ]

    def test_of_one_view_the_first_in_precedence_is_kept_within_its_level(self) -> None:
        graph = StateGraph(StateSet(State, (), View("numbers", frozenset({"who"}), HERE)))
        assert [graph.offer(None, state(0, who)) for who in (S2, S1, S3)] == [True, True, True]
        assert graph.offer(None, state(0, S1)) is False
        assert graph.commit_level() == range(1)
        assert graph.states == [state(0, S1)]
        assert (graph.stored(state(0, S1)), graph.stored(state(0, S2)), graph.is_known(state(0, S2))) == (0, None, True)
        assert graph.offer(0, state(0, None)) is False
        assert graph.states == [state(0, S1)]

    def test_the_path_to_a_view_leads_to_the_state_that_is_kept(self) -> None:
        graph = StateGraph(StateSet(State, (), View("numbers", frozenset({"who"}), HERE)))
        graph.offer(None, state(0))
        graph.offer(None, state(1))
        graph.commit_level()
        for source, who in ((0, S2), (1, S1)):
            graph.offer(source, state(2, who))
        graph.commit_level()
        assert (graph.chain(2), graph.states[2]) == ([1, 2], state(2, S1))


def found(n: int, source: int | None = 1, order: int = 0, verdict: Verdict = Verdict.VIOLATION, **more: Any) -> Finding:
    """A failure in the state `n`."""
    return Finding(verdict, more.pop("name", f"Inv{order}"), order, source, state(n), **more)


ERROR = EvaluationError("KMC221", "no such offset", Span("spec.py", 5, 3))


class TestFindings:
    @pytest.mark.parametrize(
        ("others", "least"),
        [
            ([found(3, None), found(2, 0)], found(3, None)),
            ([found(6), found(5)], found(5)),
            ([found(5, 2), found(5, 1)], found(5, 2)),
            ([found(5, order=0), found(4, order=1)], found(5, order=0)),
            ([found(4), found(6, verdict=Verdict.DEADLOCK)], found(6, verdict=Verdict.DEADLOCK)),
            (
                [found(4, verdict=Verdict.DEADLOCK), found(6, verdict=Verdict.ASSERTION)],
                found(6, verdict=Verdict.ASSERTION),
            ),
            (
                [found(4, verdict=Verdict.ASSERTION), found(6, verdict=Verdict.ERROR, error=ERROR)],
                found(6, verdict=Verdict.ERROR, error=ERROR),
            ),
            ([found(9, 3), found(5, 0, index=4), found(9, 1)], found(5, 0, index=4)),
            ([found(8, 0), found(2, 0, index=1)], found(2, 0, index=1)),
            ([found(2, 0), found(8, 0, index=1)], found(2, 0)),
        ],
    )
    def test_the_least_is_reported(self, others: list[Finding], least: Finding) -> None:
        graph = diamond()
        for order in permutations(others):
            findings = Findings()
            for finding in order:
                findings.add(finding)
            assert findings.least(graph) == least

    def test_nothing_is_reported_of_nothing(self) -> None:
        assert (Findings().least(diamond()), bool(Findings())) == (None, False)

    def test_after_the_first_level_with_a_failure_others_are_only_counted(self) -> None:
        findings = Findings()
        findings.close()
        findings.add(found(5, name="Inv"))
        findings.close()
        findings.add(found(0, None, name="Inv"))
        least = findings.least(diamond())
        assert least is not None
        assert (least.state.n, findings.count("Inv"), findings.count("Other")) == (5, 2, 0)

    def test_the_failures_of_a_property_in_one_orbit_count_once(self) -> None:
        findings = Findings()
        for name, orbit in (("A", 1), ("A", 1), ("B", 1), ("A", 2), ("A", None), ("A", None), (None, 1)):
            findings.add(found(5, name=name), orbit)
        assert (findings.count("A"), findings.count("B")) == (4, 1)

    def test_errors_are_ordered_by_place_and_then_by_text(self) -> None:
        errors = [
            None,
            EvaluationError("KMC299", "z"),
            EvaluationError("KMC221", "b", Span("a.py", 7, 9)),
            EvaluationError("KMC221", "a", Span("b.py", 2, 9)),
            EvaluationError("KMC221", "a", Span("b.py", 10, 1)),
            EvaluationError("KMC221", "a", Span("b.py", 10, 2)),
            EvaluationError("KMC221", "b", Span("b.py", 10, 2)),
            EvaluationError("KMC221", "b", Span("b.py", 10, 2), notes=("while evaluating Act",)),
            EvaluationError("KMC222", "a", Span("b.py", 10, 2)),
        ]
        backwards = errors[::-1]
        assert sorted(backwards, key=error_rank) == errors
