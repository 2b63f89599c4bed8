"""Simulation: behaviours are random, checked along the way, and the same for a seed on every run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.specs.small import COUNTER, PHILOSOPHERS, model_of

from kmc.errors import EvaluationError, InvariantError
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.reference import random_walks
from kmc.reference.random_walks import SimulationCounters, SimulationResult
from kmc.reference.simulation import simulate
from kmc.reference.states.replay import check_violation, replay
from kmc.result import Bound, Limits, Verdict, Violation

NO_DEADLOCK = "CHECK_DEADLOCK FALSE"


def run(model: Model, *, seed: int = 1, depth: int = 20, number: int = 5) -> SimulationResult:
    """A short simulation."""
    return simulate(model, seed=seed, depth=depth, count=number)


def violation_in(model: Model, *, seed: int = 1) -> Violation:
    """What a simulation finds; its trace replays and shows the violation."""
    violation = run(model, seed=seed).violation
    assert violation is not None
    check_violation(model, violation)
    return violation


def labels(violation: Violation) -> list[str]:
    """The labels of its trace."""
    return [step.label for step in violation.trace.steps]


def kraft(model: str) -> Model:
    """A model of the KRaft spec."""
    root = find_spec_root("kraft")
    file = find_model(root, model)
    assert file is not None
    return bind(root, file)


class TestBehaviours:
    def test_a_behaviour_has_at_most_depth_states(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, PHILOSOPHERS, NO_DEADLOCK)
        assert run(model, depth=4).counters.longest == 4

    def test_as_many_behaviours_are_run_as_asked_for(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, NO_DEADLOCK)
        assert run(model, number=7).counters.behaviours == 7

    def test_every_generated_state_counts_and_the_initial_ones_once(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, NO_DEADLOCK)
        result = run(model, number=7)
        assert (result.counters.generated, result.generated_by_action) == (1 + 7 * 3, {"Increase": 7 * 3})

    def test_a_behaviour_of_one_state_takes_no_step(self, tmp_path: Path) -> None:
        result = run(model_of(tmp_path, COUNTER), depth=1)
        assert (result.counters.longest, result.never_fired) == (1, ("Increase",))

    def test_each_initial_state_is_a_beginning(self, tmp_path: Path) -> None:
        many = COUNTER.replace(
            "    yield State(n=0)\n", "    yield State(n=7)\n    for n in range(3):\n        yield State(n=n)\n"
        )
        first = {violation_in(model_of(tmp_path, many), seed=seed).trace.steps[0].state.n for seed in range(30)}
        assert first == {0, 1, 2, 7}

    def test_a_given_start_replaces_the_initial_states(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER)
        start = model.spec.state_class(n=2)
        violation = simulate(model, seed=1, depth=9, count=1, start=start).violation
        assert violation is not None
        replay(model, violation.trace, start)
        assert [step.state.n for step in violation.trace.steps] == [2, 3]

    def test_a_step_generated_twice_is_twice_as_likely(self, tmp_path: Path) -> None:
        source = CHOICE.replace("WAYS", "ways(True, True)")
        taken = [len(violation_in(model_of(tmp_path, source), seed=seed).trace) for seed in range(90)]
        assert 50 <= taken.count(3) <= 70

    def test_a_depth_or_number_below_one_is_refused(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER)
        with pytest.raises(ValueError, match="at least 1, not 0 and 5"):
            run(model, depth=0)


CHOICE = """
class State(Record):
    n: Int(0, 3)


@spec.init
def init():
    yield State(n=0)


@spec.action
def near(st):
    if st.n == 0:
        yield st.set(n=1)


@spec.action
def far(st):
    if st.n == 0:
        for _ in WAYS:
            yield st.set(n=2)


@spec.action
def on(st):
    if st.n == 2:
        yield st.set(n=3)
"""
"""From 0 to 1 and a deadlock in two states, or to 2, 3 and a deadlock in three."""


class TestChecks:
    def test_a_deadlock_is_found(self, tmp_path: Path) -> None:
        violation = violation_in(model_of(tmp_path, COUNTER))
        assert (violation.verdict, len(violation.trace)) == (Verdict.DEADLOCK, 4)

    def test_a_deadlock_is_found_among_many_states(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, PHILOSOPHERS)
        violation = simulate(model, seed=3, depth=100, count=50).violation
        assert violation is not None
        check_violation(model, violation)
        assert all(violation.trace.steps[-1].state.left.values())

    def test_without_deadlock_a_behaviour_just_ends(self, tmp_path: Path) -> None:
        result = run(model_of(tmp_path, COUNTER, NO_DEADLOCK))
        assert (result.violation, result.counters.longest, result.interrupted) == (None, 4, False)

    def test_an_invariant_is_checked(self, tmp_path: Path) -> None:
        violation = violation_in(model_of(tmp_path, COUNTER, "INVARIANTS NotNegative BelowTwo"))
        assert (violation.name, len(violation.trace)) == ("BelowTwo", 3)

    def test_an_invariant_is_checked_initially(self, tmp_path: Path) -> None:
        source = COUNTER.replace("State(n=0)", "State(n=2)")
        assert labels(violation_in(model_of(tmp_path, source, "INVARIANT BelowTwo"))) == ["Initial predicate"]

    def test_each_of_several_successors_is_checked(self, tmp_path: Path) -> None:
        source = CHOICE.replace("WAYS", "ways(True)") + "\n\n@spec.invariant\ndef NotTwo(st):\n    return st.n != 2\n"
        model = model_of(tmp_path, source, "INVARIANT NotTwo")
        assert {tuple(labels(violation_in(model, seed=seed))) for seed in range(8)} == {("Initial predicate", "Far")}

    def test_an_action_property_is_asked_of_each_step_and_not_of_the_whole_way(self, tmp_path: Path) -> None:
        source = COUNTER.replace("nxt.n != 3", "nxt.n == st.n + 1")
        assert run(model_of(tmp_path, source, f"PROPERTY NeverToThree {NO_DEADLOCK}")).violation is None

    @pytest.mark.parametrize(
        ("old", "new", "cfg"),
        [
            ("nxt.n != 3", "{1: True, 2: True}[nxt.n]", "PROPERTY NeverToThree"),
            ("st.n <= 2", "{0: True, 1: True, 2: True}[st.n]", "CONSTRAINT AtMostTwo"),
        ],
    )
    def test_a_step_whose_check_fails_is_an_error(self, old: str, new: str, cfg: str, tmp_path: Path) -> None:
        violation = violation_in(model_of(tmp_path, COUNTER.replace(old, new), cfg))
        assert (violation.verdict, [step.state.n for step in violation.trace.steps]) == (Verdict.ERROR, [0, 1, 2])

    def test_a_successor_that_is_not_taken_is_checked_too(self, tmp_path: Path) -> None:
        source = CHOICE.replace("WAYS", "ways(True)") + "\n\n@spec.invariant\ndef NotOne(st):\n    return st.n != 1\n"
        found = {violation_in(model_of(tmp_path, source, "INVARIANT NotOne"), seed=seed).name for seed in range(12)}
        assert found == {"NotOne"}

    def test_an_action_property_is_checked(self, tmp_path: Path) -> None:
        violation = violation_in(model_of(tmp_path, COUNTER, "PROPERTY NeverToThree"))
        assert (violation.name, violation.is_step, len(violation.trace)) == ("NeverToThree", True, 4)

    def test_a_state_outside_a_constraint_is_checked(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.invariant\ndef NotThree(st):\n    return st.n != 3\n"
        assert violation_in(model_of(tmp_path, source, "CONSTRAINT AtMostTwo INVARIANT NotThree")).name == "NotThree"

    def test_a_state_outside_a_constraint_is_not_left(self, tmp_path: Path) -> None:
        result = run(model_of(tmp_path, COUNTER, "CONSTANT Limit = 9 CONSTRAINT AtMostTwo"), number=1)
        assert (result.violation, result.counters.longest, result.counters.generated) == (None, 3, 4)

    def test_a_step_against_an_action_constraint_is_not_taken(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.action_constraint\ndef StaysBelowTwo(st, nxt):\n    return nxt.n < 2\n"
        result = run(model_of(tmp_path, source, "ACTION_CONSTRAINT StaysBelowTwo"), number=1)
        assert (result.violation, result.counters.longest) == (None, 2)

    def test_no_behaviour_begins_outside_the_constraints(self, tmp_path: Path) -> None:
        source = COUNTER.replace("State(n=0)", "State(n=3)")
        assert run(model_of(tmp_path, source, "CONSTRAINT AtMostTwo")).counters.behaviours == 0

    def test_a_failed_assert_is_a_violation(self, tmp_path: Path) -> None:
        source = COUNTER.replace("    if st.n < Limit:\n        yield", "    assert st.n < 2\n    yield")
        violation = violation_in(model_of(tmp_path, source))
        assert (violation.verdict, len(violation.trace)) == (Verdict.ASSERTION, 3)

    def test_an_action_that_fails_is_an_error(self, tmp_path: Path) -> None:
        violation = violation_in(model_of(tmp_path, COUNTER.replace("st.n + 1", "st.n + 101")))
        assert violation.verdict is Verdict.ERROR
        assert "'n' of State: 101 is not in 0..100" in str(violation.error)

    def test_an_invariant_that_fails_is_an_error(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.invariant\ndef Fails(st):\n    return {0: True, 1: True}[st.n]\n"
        violation = violation_in(model_of(tmp_path, source, "INVARIANT Fails"))
        assert isinstance(violation.error, InvariantError)

    def test_reachable_properties_that_were_not_reached_are_named(self, tmp_path: Path) -> None:
        more = "".join(f"\n\n@spec.reachable\ndef at_{n}(st):\n    return st.n == {n}\n" for n in (2, 3, 4))
        assert run(model_of(tmp_path, COUNTER + more, NO_DEADLOCK)).unreached == ("at_4",)


class TestSeeds:
    def test_the_same_seed_gives_the_same_run(self) -> None:
        model = kraft("restarts_two_leaders")
        first, second = run(model, seed=5), run(model, seed=5)
        assert first.generated_by_action == second.generated_by_action

    def test_another_seed_gives_another_run(self) -> None:
        model = kraft("restarts_two_leaders")
        assert run(model, seed=5).generated_by_action != run(model, seed=6).generated_by_action

    @pytest.mark.slow
    def test_the_run_does_not_depend_on_the_process(self) -> None:
        assert len({output_with(hash_seed) for hash_seed in ("0", "1", "20261121")}) == 1


SCRIPT = """
from kmc.reference.simulation import simulate
from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.spec.variables import encode_state
root = find_spec_root("kraft")
model = bind(root, find_model(root, "restarts"))
for seed in range(6):
    result = simulate(model, seed=seed, depth=60, count=4)
    print(result.counters.generated, result.generated_by_action)
    for step in result.violation.trace.steps if result.violation else ():
        print(step.label, encode_state(step.state, model.spec.variables))
"""


def output_with(hash_seed: str) -> str:
    """What the script prints under this PYTHONHASHSEED."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert "IllegalState" in done.stdout, "no behaviour of the script fails"
    return done.stdout


class TestEnds:
    def test_a_limit_of_time_ends_it(self, tmp_path: Path) -> None:
        result = simulate(model_of(tmp_path, COUNTER), seed=1, depth=9, count=9, limits=Limits(seconds=0))
        assert (result.bound, result.violation) == (Bound.TIME, None)

    def test_a_limit_of_memory_ends_it(self, tmp_path: Path) -> None:
        result = simulate(model_of(tmp_path, COUNTER), seed=1, depth=9, count=9, limits=Limits(memory_bytes=1))
        assert (result.bound, result.violation) == (Bound.MEMORY, None)

    def test_an_interrupt_ends_it_with_the_counts_so_far(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls: list[SimulationCounters] = []

        def interrupt_third(counters: SimulationCounters) -> None:
            calls.append(counters)
            if len(calls) == 3:
                raise KeyboardInterrupt

        monkeypatch.setattr(random_walks, "PROGRESS_SECONDS", 0.0)
        model = model_of(tmp_path, COUNTER, NO_DEADLOCK)
        result = simulate(model, seed=1, depth=9, count=9, progress=interrupt_third)
        assert (result.interrupted, result.counters.generated, result.counters.behaviours) == (True, 3, 1)

    def test_progress_tells_how_far_it_has_come(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[int] = []
        monkeypatch.setattr(random_walks, "PROGRESS_SECONDS", 0.0)
        model = model_of(tmp_path, COUNTER, NO_DEADLOCK)
        simulate(model, seed=1, depth=3, count=2, progress=lambda counters: told.append(counters.generated))
        assert told == [1, 2, 3, 4]

    def test_no_initial_state_is_an_error(self, tmp_path: Path) -> None:
        source = COUNTER.replace("    yield State(n=0)", "    if Limit > 99:\n        yield State(n=0)")
        with pytest.raises(EvaluationError, match="no initial state"):
            run(model_of(tmp_path, source))
