"""The states that are observed before a translation: a prefix and random walks, each state expanded once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

import kmc
from kmc.budget import BudgetSpent, require_budget, within_budget
from kmc.checking.modules import native_search
from kmc.errors import SpecError
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.shapes import observation
from kmc.tla.shapes.observation import ObservedExtent, observe, sampled
from kmc.tla.shapes.shape import NumberShape
from kmc.tla.translate.translated import used_names

WALK = r"""---- MODULE Walk ----
EXTENDS Integers
VARIABLES x, y
Init == x = 0 /\ y \in {0, 1}
Next == \/ x < 90 /\ x' = x + 1 /\ y' \in 0..3
        \/ x > 0 /\ x' = x - 1 /\ UNCHANGED y
Fails == [Next]_<<x, y>> /\ (x = 5 => y[1] = 0)
Small == x < 60
====
"""


def _program(folder: Path, next_state: str = "Next") -> ModuleProgram:
    path = folder / "Walk.tla"
    path.write_text(WALK, encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"INIT Init\nNEXT {next_state}\nCONSTRAINT Small\n", encoding="utf-8")
    return ModuleProgram(load_model(path, path.with_suffix(".cfg")))


class _Counting(ModuleProgram):
    expanded: ClassVar[Counter[State]] = Counter()

    def successors(self, state: State, poll: Any = None) -> Any:
        self.expanded[state] += 1
        return super().successors(state)


def test_walks_stay_in_the_model_and_expand_no_state_twice(tmp_path: Path) -> None:
    program = _Counting(_program(tmp_path).model)
    sample = sampled(program, ObservedExtent(states_max=20, steps_max=500))
    assert not sample.is_complete
    assert set(program.expanded.values()) == {1}
    assert len(sample.states) > 400
    assert max(x for x, _ in sample.states if isinstance(x, int)) < 60
    again = sampled(_program(tmp_path), ObservedExtent(states_max=20, steps_max=500))
    assert again == sample
    others = [(200, 7)]
    shapes = observe(sample, program, used_names(program.model), others).variables
    assert shapes[0] == NumberShape(0, 200)


def test_all_states_of_a_small_model_are_a_whole_sample(tmp_path: Path) -> None:
    sample = sampled(_program(tmp_path), ObservedExtent())
    assert sample.is_complete
    assert len(sample.states) == 61 * 4


def test_a_state_whose_steps_fail_ends_its_walk(tmp_path: Path) -> None:
    sample = sampled(_program(tmp_path, "Fails"), ObservedExtent(states_max=4, steps_max=100))
    assert {x for x, _ in sample.states} == set(range(6))


def test_a_refused_module_is_sampled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def counted(program: ModuleProgram, *more: Any) -> Any:
        taken.append(1)
        return sampled(program, *more)

    monkeypatch.setattr(native_search, "sampled", counted)
    path = tmp_path / "Refused.tla"
    step = "Next == x' = [<<p, q>> \\in {<<1, 2>>}, r \\in {3} |-> p + x][<<1, 2>>, 3]"
    path.write_text(f"---- MODULE Refused ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\n{step}\n====\n")
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n")
    with pytest.raises(SpecError, match="a tuple pattern beside another range"):
        kmc.check_module(path, engine="native")
    assert taken == [1]


@pytest.mark.parametrize(("initial", "length"), [("x \\in 0..999", 1), ("x \\in 0..19", 20), ("x \\in 0..9", 10)])
def test_more_initial_states_than_are_observed_are_not_all_enumerated(
    initial: str, length: int, tmp_path: Path
) -> None:
    path = tmp_path / "Wide.tla"
    again = " \\/ ".join(["y = 0"] * 9)
    path.write_text(
        "---- MODULE Wide ----\nEXTENDS Integers\nVARIABLES x, y\n"
        f"Init == {initial} /\\ ({again})\nNext == FALSE /\\ UNCHANGED <<x, y>>\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n")
    program = ModuleProgram(load_model(path, path.with_suffix(".cfg")))
    sample = sampled(program, ObservedExtent(states_max=20, steps_max=0))
    assert sample.is_complete == (length > 1)
    assert sample.states == tuple((x, 0) for x in range(length))


def test_steps_that_take_too_long_end_the_observation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "Walk.tla"
    slow = "Slow == x = 0 /\\ x' = x + 1 /\\ y' = {i \\in 1..300 : i > x}\n"
    path.write_text(WALK.replace("Fails ==", slow + "Fails =="), encoding="utf-8")
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Slow\n", encoding="utf-8")
    program = ModuleProgram(load_model(path, path.with_suffix(".cfg")))
    assert sampled(program, ObservedExtent()).is_complete
    monkeypatch.setattr(observation, "_STEP_SECONDS", 0.0)
    sample = sampled(program, ObservedExtent())
    assert (set(sample.states), sample.is_complete) == ({(0, 0), (0, 1)}, False)


def test_a_check_without_time_ends_while_steps_are_observed(tmp_path: Path) -> None:
    program = _program(tmp_path)
    with within_budget(0.0), pytest.raises(BudgetSpent):
        sampled(program, ObservedExtent(), require_budget)
