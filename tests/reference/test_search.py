"""The search counts as TLC counts: small specs against an obvious search over tuples, written without kmc."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.specs.small import COUNTER, PHILOSOPHERS, RIVER, TOKENS, model_of

from kmc.compiler.view_order import fingerprint_order
from kmc.errors import ExitStatus
from kmc.frontend.model import Model
from kmc.reference import value_search
from kmc.reference.search import Search
from kmc.result import Bound, Limits, Result, Verdict


@dataclass
class Explored:
    """What a search over tuples counts."""

    generated: int = 1
    levels: list[int] = field(default_factory=list)
    fired: Counter[str] = field(default_factory=Counter)
    deadlock_level: int | None = None


def explore(
    first: Hashable,
    steps: Callable[[Any], Iterator[tuple[str, Hashable]]],
    canonical: Callable[[Any], Hashable] = lambda state: state,
) -> Explored:
    """Breadth first from one state; states with one canonical form count as one."""
    found = Explored()
    level, seen = [first], {canonical(first)}
    while level:
        found.levels.append(len(level))
        following = []
        for state in level:
            successors = list(steps(state))
            found.generated += len(successors)
            found.fired.update(action for action, _ in successors)
            if not successors and found.deadlock_level is None:
                found.deadlock_level = len(found.levels)
            for _, successor in successors:
                if canonical(successor) not in seen:
                    seen.add(canonical(successor))
                    following.append(successor)
        level = following
    return found


def agrees(result: Result, expected: Explored) -> bool:
    """The same counters, levels and coverage."""
    counters = result.counters
    return (
        (counters.generated, counters.distinct, counters.depth)
        == (expected.generated, sum(expected.levels), len(expected.levels))
        and result.levels == tuple(expected.levels)
        and {title: count for title, count in result.generated_by_action.items() if count} == dict(expected.fired)
    )


def dining(seats: int) -> Callable[[Any], Iterator[tuple[str, Hashable]]]:
    """The steps of PHILOSOPHERS: a state is who holds which fork, by fork, and on which side."""

    def steps(forks: tuple[tuple[int, str] | None, ...]) -> Iterator[tuple[str, Hashable]]:
        for s in range(seats):
            left, right = s, (s + 1) % seats
            has_left, has_right = forks[left] == (s, "left"), forks[right] == (s, "right")
            if forks[left] is None:
                yield "TakeLeft", (*forks[:left], (s, "left"), *forks[left + 1 :])
            if has_left and forks[right] is None:
                yield "TakeRight", (*forks[:right], (s, "right"), *forks[right + 1 :])
            if has_left and has_right:
                yield "PutDown", tuple(None if fork and fork[0] == s else fork for fork in forks)

    return steps


class TestCounting:
    @pytest.mark.parametrize("seats", [2, 3, 4, 5])
    def test_philosophers_come_out_as_by_brute_force(self, seats: int, tmp_path: Path) -> None:
        model = model_of(tmp_path, PHILOSOPHERS, f"CONSTANT Seats = {seats} CHECK_DEADLOCK FALSE")
        assert agrees(Search(model).run(), explore((None,) * seats, dining(seats)))

    @pytest.mark.parametrize("seats", [2, 3, 4])
    def test_the_deadlock_has_the_shortest_trace(self, seats: int, tmp_path: Path) -> None:
        violation = Search(model_of(tmp_path, PHILOSOPHERS, f"CONSTANT Seats = {seats}")).run().violation
        assert violation is not None
        assert (violation.verdict, len(violation.trace)) == (
            Verdict.DEADLOCK,
            explore((None,) * seats, dining(seats)).deadlock_level,
        )

    def test_the_river_is_crossed_in_seven_steps(self, tmp_path: Path) -> None:
        violation = Search(model_of(tmp_path, RIVER, "INVARIANT NotAcross")).run().violation
        assert violation is not None
        actions = [step.action for step in violation.trace.steps[1:]]
        assert (len(actions), actions[0], actions[3], actions[-1]) == (7, "CarryGoat", "CarryGoat", "CarryGoat")
        assert sorted(map(str, actions)).count("CrossAlone") == 2

    def test_a_way_of_a_guard_counts_and_so_does_a_stuttering_step(self, tmp_path: Path) -> None:
        source = COUNTER.replace(
            "        yield", "        for _ in ways(True, True):\n            yield st.set(n=st.n)\n        yield"
        )
        result = Search(model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")).run()
        assert (result.counters.generated, result.counters.distinct, result.counters.depth) == (1 + 3 * 3, 4, 4)

    def test_every_initial_state_counts_as_generated(self, tmp_path: Path) -> None:
        source = COUNTER.replace(
            "    yield State(n=0)\n", "    for n in {0, 2}:\n        yield State(n=n)\n    yield State(n=0)\n"
        )
        result = Search(model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")).run()
        assert (result.initial, result.levels, result.counters.generated) == (3, (2, 2), 3 + 3)

    def test_coverage_lists_actions_that_never_fired(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.action\ndef explode(st):\n    if st.n > 50:\n        yield st\n"
        result = Search(model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")).run()
        assert (result.generated_by_action, result.never_fired) == ({"Increase": 3, "Explode": 0}, ("Explode",))

    def test_reachable_properties_that_are_never_reached_are_named(self, tmp_path: Path) -> None:
        result = Search(model_of(tmp_path, RIVER, "CHECK_DEADLOCK FALSE")).run()
        assert result.unreached == ("wolf_with_goat_alone",)

    def test_a_property_that_only_the_initial_state_has_is_reached(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.reachable\ndef at_start(st):\n    return st.n == 0\n"
        assert Search(model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")).run().unreached == ()

    @pytest.mark.parametrize(("check", "verdict"), [("TRUE", Verdict.DEADLOCK), ("FALSE", Verdict.OK)])
    def test_deadlock_can_be_switched_off(self, check: str, verdict: Verdict, tmp_path: Path) -> None:
        assert Search(model_of(tmp_path, COUNTER, f"CHECK_DEADLOCK {check}")).run().verdict is verdict

    def test_a_stuttering_step_is_not_a_deadlock(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.action\ndef idle(st):\n    yield st\n"
        assert Search(model_of(tmp_path, source)).run().verdict is Verdict.OK


class TestConstraints:
    def test_a_state_outside_is_generated_but_not_stored(self, tmp_path: Path) -> None:
        result = Search(model_of(tmp_path, COUNTER, "CONSTANT Limit = 9 CONSTRAINT AtMostTwo")).run()
        assert (result.verdict, result.counters.generated, result.levels, result.cut) == (Verdict.OK, 4, (1, 1, 1), 1)

    def test_a_constraint_that_holds_everywhere_cuts_nothing(self, tmp_path: Path) -> None:
        result = Search(model_of(tmp_path, COUNTER, "CONSTANT Limit = 2 CONSTRAINT AtMostTwo")).run()
        assert (result.counters.distinct, result.cut) == (3, 0)

    def test_a_state_outside_is_checked(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.invariant\ndef NotThree(st):\n    return st.n != 3\n"
        violation = Search(model_of(tmp_path, source, "CONSTRAINT AtMostTwo INVARIANT NotThree")).run().violation
        assert violation is not None
        assert [step.state.n for step in violation.trace.steps] == [0, 1, 2, 3]

    def test_an_initial_state_outside_is_checked_and_not_stored(self, tmp_path: Path) -> None:
        source = COUNTER.replace("State(n=0)", "State(n=3)")
        result = Search(model_of(tmp_path, source, "CONSTRAINT AtMostTwo INVARIANT BelowTwo")).run()
        assert (result.verdict, result.counters.generated, result.counters.distinct) == (Verdict.VIOLATION, 1, 0)
        assert result.cut == 1

    def test_a_step_against_an_action_constraint_is_not_taken_but_checked(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.action_constraint\ndef StaysBelowTwo(st, nxt):\n    return nxt.n < 2\n"
        bounded = "CONSTANT Limit = 9 ACTION_CONSTRAINT StaysBelowTwo"
        assert Search(model_of(tmp_path, source, bounded)).run().levels == (1, 1)
        assert Search(model_of(tmp_path, source, bounded + " INVARIANT BelowTwo")).run().verdict is Verdict.VIOLATION

    def test_a_refused_step_gives_its_own_trace_not_a_longer_way(self, tmp_path: Path) -> None:
        source = (
            COUNTER.replace("        yield", "        yield st.set(n=3)\n        yield").replace(
                "@spec.constraint",
                "@spec.action_constraint\ndef ByOnes(st, nxt):\n    return nxt.n == st.n + 1\n\n\n@spec.constraint",
            )
            + "\n\n@spec.invariant\ndef NotThree(st):\n    return st.n != 3\n"
        )
        model = model_of(tmp_path, source, "ACTION_CONSTRAINT ByOnes INVARIANT NotThree CHECK_DEADLOCK FALSE")
        result = Search(model, keep_going=True).run()
        assert result.violation is not None
        assert ([step.state.n for step in result.violation.trace.steps], result.levels) == ([0, 3], (1, 1, 1, 1))


class TestLevelBound:
    def test_successors_of_the_last_level_are_generated_and_not_stored(self, tmp_path: Path) -> None:
        result = Search(model_of(tmp_path, COUNTER), Limits(depth=2)).run()
        assert (result.verdict, result.bound) == (Verdict.BOUND_REACHED, Bound.DEPTH)
        assert (result.counters.generated, result.levels) == (3, (1, 1))

    def test_successors_of_the_last_level_are_checked(self, tmp_path: Path) -> None:
        violation = Search(model_of(tmp_path, COUNTER, "INVARIANT BelowTwo"), Limits(depth=2)).run().violation
        assert violation is not None
        assert len(violation.trace) == 3

    def test_a_bound_that_cuts_nothing_is_not_reached(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, "CHECK_DEADLOCK FALSE")
        assert Search(model, Limits(depth=4)).run().verdict is Verdict.OK

    @pytest.mark.parametrize("depth", [1, 2, 5, 8])
    def test_the_levels_within_the_bound_are_those_without_it(self, depth: int, tmp_path: Path) -> None:
        model = model_of(tmp_path, PHILOSOPHERS, "CONSTANT Seats = 5 CHECK_DEADLOCK FALSE")
        assert Search(model, Limits(depth=depth)).run().levels == Search(model).run().levels[:depth]


class TestContinue:
    def test_the_search_stops_after_the_level_of_a_violation(self, tmp_path: Path) -> None:
        result = Search(model_of(tmp_path, COUNTER, "INVARIANT BelowTwo")).run()
        assert (result.counters.generated, result.levels) == (3, (1, 1, 1))

    def test_it_can_go_on_and_still_reports_the_shortest(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, "INVARIANTS NotNegative BelowTwo CHECK_DEADLOCK FALSE")
        result = Search(model, keep_going=True).run()
        assert result.violation is not None
        assert (result.levels, len(result.violation.trace)) == ((1, 1, 1, 1), 3)
        assert [(p.name, p.verdict, p.violations) for p in result.properties] == [
            ("NotNegative", "holds", 0),
            ("BelowTwo", "violated", 2),
        ]

    @pytest.mark.parametrize("constraint", ["", "CONSTRAINT KeepsOneFree"])
    def test_a_state_that_several_steps_reach_is_one_violation(self, constraint: str, tmp_path: Path) -> None:
        constants = f"CONSTANTS Client = {{a, b, c}} Token = {{t, u}} INVARIANT SomeTokenIsFree {constraint}"
        (found,) = Search(model_of(tmp_path, TOKENS, constants), keep_going=True).run().properties
        # Two of three clients hold the two tokens, in 3 * 2 ways; one of the two has moved last.
        assert found.violations == 12


class TestActionProperties:
    def test_a_violated_step_ends_the_trace(self, tmp_path: Path) -> None:
        result = Search(model_of(tmp_path, COUNTER, "PROPERTY NeverToThree")).run()
        assert result.violation is not None
        assert (result.violation.is_step, len(result.violation.trace)) == (True, 4)
        assert result.exit_status() is ExitStatus.LIVENESS

    def test_a_stuttering_step_is_never_asked(self, tmp_path: Path) -> None:
        source = (
            COUNTER.replace("return nxt.n != 3", "return nxt.n > st.n")
            + "\n\n@spec.action\ndef idle(st):\n    yield st\n"
        )
        assert Search(model_of(tmp_path, source, "PROPERTY NeverToThree")).run().verdict is Verdict.OK

    def test_a_step_to_a_known_state_is_asked(self, tmp_path: Path) -> None:
        source = (
            COUNTER.replace("nxt.n != 3", "nxt.n != 0") + "\n\n@spec.action\ndef reset(st):\n    yield st.set(n=0)\n"
        )
        violation = Search(model_of(tmp_path, source, "PROPERTY NeverToThree")).run().violation
        assert violation is not None
        assert [step.label for step in violation.trace.steps] == ["Initial predicate", "Increase", "Reset"]


def token_steps(clients: int, tokens: int) -> Callable[[Any], Iterator[tuple[str, Hashable]]]:
    """The steps of TOKENS: a state is the token of each client, and who moved last."""

    def steps(state: tuple[tuple[int | None, ...], int | None]) -> Iterator[tuple[str, Hashable]]:
        held, _ = state
        for c in range(clients):
            for t in range(tokens):
                if held[c] is None and t not in held:
                    yield "Take", ((*held[:c], t, *held[c + 1 :]), c)
            if held[c] is not None:
                yield "Drop", ((*held[:c], None, *held[c + 1 :]), c)
            for d in range(clients):
                if held[c] is not None and held[d] is None:
                    moved = {c: None, d: held[c]}
                    yield "HandOver", (tuple(moved.get(e, held[e]) for e in range(clients)), d)

    return steps


def least_permutation(clients: int, tokens: int, which: str) -> Callable[[Any], Hashable]:
    """The least image of a state when clients, tokens or both are permuted."""
    client_orders = list(permutations(range(clients))) if which in ("clients", "both") else [tuple(range(clients))]
    token_orders = list(permutations(range(tokens))) if which in ("tokens", "both") else [tuple(range(tokens))]

    def canonical(state: Any) -> Hashable:
        held, last = state
        images = []
        for order in client_orders:
            for names in token_orders:
                moved = sorted((order[c], -1 if t is None else names[t]) for c, t in enumerate(held))
                images.append((tuple(t for _, t in moved), -1 if last is None else order[last]))
        return min(images)

    return canonical


class TestSymmetry:
    @pytest.mark.parametrize("which", ["none", "clients", "tokens", "both"])
    @pytest.mark.parametrize(("clients", "tokens"), [(2, 2), (3, 2), (2, 3), (4, 3)])
    def test_orbits_are_those_of_brute_force(self, which: str, clients: int, tokens: int, tmp_path: Path) -> None:
        names = f"Client = {{{', '.join('abcd'[:clients])}}} Token = {{{', '.join('tuvw'[:tokens])}}}"
        symmetry = "" if which == "none" else f"SYMMETRY {which}"
        result = Search(model_of(tmp_path, TOKENS, f"CONSTANTS {names} {symmetry}")).run()
        expected = explore(
            ((None,) * clients, None), token_steps(clients, tokens), least_permutation(clients, tokens, which)
        )
        assert agrees(result, expected)

    def test_the_trace_is_as_long_as_without_symmetry(self, tmp_path: Path) -> None:
        constants = "CONSTANTS Client = {a, b, c} Token = {t, u} INVARIANT SomeTokenIsFree"
        lengths = set()
        for symmetry in ("", "SYMMETRY clients", "SYMMETRY both"):
            violation = Search(model_of(tmp_path, TOKENS, f"{constants} {symmetry}")).run().violation
            assert violation is not None
            lengths.add(len(violation.trace))
        assert lengths == {3}


WINNER = """
class State(Record):
    n: Int(0, 3)
    hidden: Int(0, 9)


@spec.init
def init():
    yield State(n=0, hidden=0)


@spec.action
def with_two(st):
    if st.n == 0:
        yield st.set(n=1, hidden=2)


@spec.action
def with_one(st):
    if st.n == 0:
        yield st.set(n=1, hidden=1)


@spec.action
def on(st):
    if st.n == 1:
        yield st.set(n=1 + st.hidden)


spec.view("visible", drop=["hidden"])


@spec.invariant
def NotTwo(st):
    return st.hidden != 2
"""
"""n = 1 with hidden 2, generated first, and hidden 1: the same view; on from there to 3 or to 2."""


REACHABLE = "\n\n@spec.reachable\ndef at_{n}(st):\n    return st.n == {n}\n"


class TestView:
    def test_states_of_one_view_count_as_one(self, tmp_path: Path) -> None:
        result = Search(
            model_of(tmp_path, WINNER, "VIEW visible CHECK_DEADLOCK FALSE"), view_order=fingerprint_order
        ).run()
        assert (result.levels, result.counters.generated) == ((1, 1, 1), 4)

    @pytest.mark.parametrize("twins", [(1, 2), (4, 2), (3, 5), (7, 2)])
    def test_of_one_view_the_state_of_the_least_fingerprint_is_expanded(
        self, twins: tuple[int, int], tmp_path: Path
    ) -> None:
        source = WINNER.replace("hidden=1)", f"hidden={twins[0]})").replace("hidden=2)", f"hidden={twins[1]})")
        source = source.replace("Int(0, 3)", "Int(0, 10)") + "".join(REACHABLE.format(n=1 + twin) for twin in twins)
        model = model_of(tmp_path, source, "VIEW visible CHECK_DEADLOCK FALSE")
        fingerprint = fingerprint_order(model)
        assert fingerprint is not None
        lost = max(twins, key=lambda hidden: fingerprint(model.spec.state_class(n=1, hidden=hidden)))
        assert Search(model, view_order=fingerprint_order).run().unreached == (f"at_{1 + lost}",)

    def test_without_a_layout_the_least_state_of_a_view_is_expanded(self, tmp_path: Path) -> None:
        record = "class Point(Record):\n    n: Int(0, 1999)\n\n"
        source = record + WINNER.replace("hidden: Int(0, 9)", "hidden: Int(0, 9)\n    points: PartialMap[Point, Bool]")
        source = source.replace("hidden=0)", "hidden=0, points={})") + REACHABLE.format(n=2) + REACHABLE.format(n=3)
        model = model_of(tmp_path, source, "VIEW visible CHECK_DEADLOCK FALSE")
        assert fingerprint_order(model) is None
        assert Search(model, view_order=fingerprint_order).run().unreached == ("at_3",)

    def test_a_view_without_an_order_of_its_states_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="a model with a view needs view_order"):
            Search(model_of(tmp_path, WINNER, "VIEW visible CHECK_DEADLOCK FALSE"))

    def test_a_state_that_is_not_expanded_is_checked(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, WINNER, "VIEW visible INVARIANT NotTwo")
        violation = Search(model, view_order=fingerprint_order).run().violation
        assert violation is not None
        assert [step.label for step in violation.trace.steps] == ["Initial predicate", "WithTwo"]

    def test_without_the_view_they_are_different(self, tmp_path: Path) -> None:
        assert Search(model_of(tmp_path, WINNER, "CHECK_DEADLOCK FALSE")).run().levels == (1, 2, 2)


class TestLimits:
    @pytest.fixture
    def model(self, tmp_path: Path) -> Model:
        return model_of(tmp_path, PHILOSOPHERS, "CONSTANT Seats = 4 CHECK_DEADLOCK FALSE")

    def test_states_end_it_at_the_end_of_a_level(self, model: Model) -> None:
        result = Search(model, Limits(states=6)).run()
        assert (result.verdict, result.bound, result.levels) == (Verdict.BOUND_REACHED, Bound.STATES, (1, 4, 10))
        assert result.counters.left == 10

    def test_limits_are_looked_at_every_so_many_states(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        memory = iter([0, 100, 0])
        monkeypatch.setattr(value_search, "memory_bytes", lambda: next(memory))
        model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 99 CHECK_DEADLOCK FALSE")
        monkeypatch.setattr(value_search, "_CLOCK_EVERY", 40)
        result = Search(model, Limits(memory_bytes=10)).run()
        assert (result.bound, result.counters.distinct, result.counters.left) == (Bound.MEMORY, 41, 1)

    def test_progress_is_told_about_once_a_second(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[float] = []
        clock = count()
        monkeypatch.setattr(value_search, "_CLOCK_EVERY", 1)
        monkeypatch.setattr(value_search, "time", SimpleNamespace(monotonic=lambda: next(clock) / 4))
        model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 40 CHECK_DEADLOCK FALSE")
        Search(model, progress=lambda counters: told.append(counters.seconds)).run()
        assert len(told) > 5
        assert {later - earlier for earlier, later in pairwise(told)} == {1.0}

    @pytest.mark.parametrize(
        ("limits", "bound"), [(Limits(seconds=0), Bound.TIME), (Limits(memory_bytes=1), Bound.MEMORY)]
    )
    def test_time_and_memory_end_it_at_once(self, limits: Limits, bound: Bound, model: Model) -> None:
        result = Search(model, limits).run()
        assert (result.bound, result.counters.distinct, result.exit_status()) == (bound, 1, ExitStatus.BOUND_REACHED)

    def test_limits_that_are_not_reached_change_nothing(self, model: Model) -> None:
        limits = Limits(depth=99, states=10**9, seconds=10**9, memory_bytes=10**15)
        assert Search(model, limits).run().verdict is Verdict.OK

    def test_an_interrupt_ends_it_with_the_counts_so_far(self, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        memory = iter([KeyboardInterrupt, 0])

        def interrupted_once() -> int:
            found = next(memory)
            if found is KeyboardInterrupt:
                raise KeyboardInterrupt
            return 0

        monkeypatch.setattr(value_search, "memory_bytes", interrupted_once)
        result = Search(model, Limits(memory_bytes=10)).run()
        assert (result.verdict, result.counters.generated) == (Verdict.INTERRUPTED, 1)

    def test_a_given_start_is_never_reported_as_a_proof(self, model: Model) -> None:
        search = Search(model)
        search.run()
        start = search.graph.states[-1]
        result = Search(model, start=start).run()
        assert (result.verdict, result.bound, result.initial) == (Verdict.BOUND_REACHED, Bound.START, 1)
