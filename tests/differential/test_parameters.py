"""Parameters of actions of any type: both engines take the same steps, and fairness is that of each instance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.oracles.steps import differences, kernels_in_python, level_states
from support.specs.small import model_of

from kmc.compiler import model_kernels
from kmc.compiler.ir.nodes import Expr
from kmc.compiler.values.keys import key_value
from kmc.compiler.values.packing import lift
from kmc.compiler.values.value import Value
from kmc.engine.check_model import check_native
from kmc.lang.types import PairType, Type
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Verdict

WORLD = """
from kmc.lang import Pair
from kmc.spec import WEAK, eventually_always

Client = constant("Client", IdentSet(), "x")


class Job(Record):
    by: Client
    n: Int(0, 1)


class State(Record):
    n: Int(0, 2)
    held: Map[Client, Set[Int(1, 2)]]
    last: Job | Set[Client] | None
    friends: Set[Pair[Client]]
    done: Seq[Job, 1]


@spec.init
def init():
    yield State(n=0, held={c: set() for c in Client}, last=None, friends=set(), done=[])


@spec.action
def take(st, c: Client, some: Set[Int(1, 2)]):
    if st.n < 2 and some != set() and all(st.held[d] & some == set() for d in Client):
        yield st.set(n=st.n + 1, held=st.held.set(c, st.held[c] | some))


@spec.action(fair=WEAK)
def give(st, some: Set[Int(1, 2)], c: Client):
    if some != set() and some == st.held[c]:
        yield st.set(held=st.held.set(c, set()))
"""
OTHERS = """

@spec.action
def meet(st, p: Pair[Client]):
    if p not in st.friends:
        yield st.set(friends=st.friends | {p})


@spec.action
def work(st, what: Job | Set[Client] | None, twice: Seq[Bool, 2]):
    if what != st.last and len(twice) > 1 and twice[0] != twice[1]:
        yield st.set(last=what)


@spec.action
def finish(st, job: Job, flags: Map[Client, Bool]):
    if flags[job.by] and st.done != [job]:
        yield st.set(done=[job])
"""
TEMPORAL = """

@spec.liveness
def AllFree():
    return eventually_always(lambda st: all(len(st.held[c]) == 0 for c in Client))
"""


def test_steps_with_parameters_of_any_type_are_those_of_the_interpreter(tmp_path: Path) -> None:
    model = model_of(tmp_path, WORLD + OTHERS, "CONSTANT Client = {a, b, c}")
    states = level_states(model, Limits(states=300), at_most=20)
    assert list(differences(kernels_in_python(model), states))[:2] == []


def pair_by_its_number(declared: Type, code: Expr) -> Value:
    """The value with a number, but for a pair, whose words are its number."""
    return lift(declared, (code,)) if isinstance(declared, PairType) else key_value(declared, code)


def test_the_number_of_a_pair_taken_for_its_words_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_kernels, "key_value", pair_by_its_number)
    model = model_of(tmp_path, WORLD + OTHERS, "CONSTANT Client = {a, b, c}")
    states = level_states(model, Limits(states=30), at_most=3)
    assert any(differences(kernels_in_python(model), states))


@pytest.mark.parametrize(("fairness", "verdict"), [("(fair=WEAK)", Verdict.OK), ("", Verdict.LIVENESS)])
def test_fairness_is_that_of_each_instance(tmp_path: Path, fairness: str, verdict: Verdict) -> None:
    source = WORLD.replace("(fair=WEAK)", fairness) + TEMPORAL
    model = model_of(tmp_path, source, "CONSTANT Client = {a, b} PROPERTY AllFree CHECK_DEADLOCK FALSE")
    results: list[Any] = [
        check_native(model, Limits(), threads=1, problem=accepted_problem(model)),
        Search(model, problem=accepted_problem(model)).run(),
    ]
    assert [result.verdict for result in results] == [verdict, verdict]
    facts = [told(result) for result in results]
    assert facts[0]["counters"] == facts[1]["counters"]


def test_an_instance_is_written_with_its_values_in_order(tmp_path: Path) -> None:
    model = model_of(tmp_path, WORLD + OTHERS, "CONSTANT Client = {a, b}")
    labels = {action.name: [action.label(given) for given in action.instances()] for action in model.spec.actions}
    assert labels["take"][:4] == ["Take(a, {})", "Take(a, {1})", "Take(a, {2})", "Take(a, {1, 2})"]
    assert labels["meet"] == ["Meet({a, b})"]
    assert labels["work"][0] == "Work(Nil, <<>>)"
    assert labels["finish"][0] == "Finish([by |-> a, n |-> 0], (a :> FALSE @@ b :> FALSE))"
