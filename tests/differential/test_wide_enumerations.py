"""Sets of an enumeration that has more members than a word has bits: iterated, since no mask holds them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.steps import differences, kernels_in_python, level_states
from support.specs.small import model_of

from kmc.errors import SpecError
from kmc.result import Limits

WORLD = f"""
class Step(Enum):
    {", ".join(f"S{number}" for number in range(70))} = range(70)


class State(Record):
    at: Step
    last: Opt[Step]
    seen: Map[Step, Bool]


FINAL = {{Step.S2, Step.S66, Step.S69}}


@spec.init
def init():
    for at in FINAL | {{Step.S5}}:
        for last in {{None, Step.S2, Step.S66}}:
            yield State(at=at, last=last, seen={{k: k == at for k in Step}})


@spec.action
def move(st):
    yield st.set(at=Step.S66 if st.at in FINAL - {{st.last}} else Step.S69)
"""
GOALS = """
len(set(Step)) == 70
len(set(Step) - {st.at}) == 69
set(Step) == {k for k in Step} and set(Step) > FINAL
set(Step) == FINAL | {st.at}
sum(1 for k in set(Step) if k != st.at) == 69
st.at in FINAL
{st.at, st.last} <= FINAL
{st.at} in subsets({st.at, st.last})
{st.at, Step.S2, Step.S66} == FINAL
len({st.at, Step.S2}) == 1
len(FINAL - {st.at}) == 2
len({s for s in subsets(FINAL)}) == 8
{k for k in st.seen.keys() if st.seen[k]} == {Step.S66}
FINAL in {{st.at, Step.S2, Step.S66}}
"""


def test_sets_of_many_symbols_are_those_of_the_interpreter(tmp_path: Path) -> None:
    goals = enumerate(GOALS.strip().splitlines())
    source = WORLD + "".join(f"\n\n@spec.reachable\ndef goal_{n}(st):\n    return {goal}\n" for n, goal in goals)
    model = model_of(tmp_path, source)
    states = level_states(model, Limits(states=40), at_most=8, seed=1)
    assert list(differences(kernels_in_python(model), states))[:2] == []


@pytest.mark.parametrize("goal", ["[FINAL] == [Step]", "FINAL in {Step}", "(FINAL, 1) == (Step, 1)"])
def test_a_type_inside_of_what_is_compared_is_not_a_set(tmp_path: Path, goal: str) -> None:
    model = model_of(tmp_path, f"{WORLD}\n\n@spec.reachable\ndef goal(st):\n    return {goal}\n")
    with pytest.raises(SpecError, match="a comparison with the type Step"):
        kernels_in_python(model)
