"""Which steps of a trace matter: the others can be left out, and the replay agrees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.guarded import GUARDED, kept_within, run_of
from support.specs.small import model_of

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.reference.search import Search
from kmc.reference.simulation import simulate
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Verdict, Violation
from kmc.story import slice as slicing
from kmc.story.counterexample import story_of
from kmc.story.slice import replays, slice_of

PINGS = """
Server = constant("Server", IdentSet(), "The servers")


class Ping(Message):
    source: Server
    dest: Server


class Node(Record):
    pings: Int(0, 3)
    pongs: Int(0, 3)


class State(Record):
    msgs: MessageSet[Ping]
    nodes: Map[Server, Node]


@spec.init
def init():
    yield State(msgs=set(), nodes={s: Node(pings=0, pongs=0) for s in Server})


@spec.action
def ping(st, s: Server, d: Server):
    if s == d or st.nodes[s].pings == 3:
        return
    me = st.nodes[s].set(pings=st.nodes[s].pings + 1)
    yield st.set(nodes=st.nodes.set(s, me), msgs=st.msgs.send(Ping(source=s, dest=d)))


@spec.receive(Ping, s="dest")
def pong(st, m, s):
    me = st.nodes[s]
    if me.pongs < 3:
        yield st.set(nodes=st.nodes.set(s, me.set(pongs=me.pongs + 1)), msgs=st.msgs.discard(m))


@spec.invariant
def FewPongs(st):
    return all(me.pongs < 2 for me in st.nodes.values())


@spec.action_property
def NoSecondPong(st, nxt):
    return all(nxt.nodes[s].pongs < 2 or st.nodes[s].pongs == nxt.nodes[s].pongs for s in Server)
"""

CFG = "CONSTANT Server = {n1, n2, n3}\nINVARIANT FewPongs\nPROPERTY NoSecondPong\nCHECK_DEADLOCK FALSE"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return model_of(tmp_path_factory.mktemp("pings"), PINGS, CFG)


def violated(model: Model, name: str, *labels: str, is_step: bool = False) -> Violation:
    """The violation of a property at the end of a run."""
    return Violation(Verdict.VIOLATION, name, run_of(model, *labels), is_step=is_step)


WINDING = (
    "Ping(n3, n2)",  # 2: its message is not received
    "Ping(n1, n2)",  # 3
    "Ping(n2, n1)",  # 4: for the pong of n1, which does not matter
    "Pong(n2)",  # 5
    "Pong(n1)",  # 6
    "Ping(n1, n2)",  # 7
    "Pong(n2)",  # 8
)


def test_only_the_steps_without_which_it_does_not_fail_are_kept(model: Model) -> None:
    found = slice_of(model, violated(model, "FewPongs", *WINDING))
    assert found is not None
    assert found.is_minimal
    assert len(found.numbers) == 5
    assert found.numbers[0] == 1
    assert found.numbers[-1] == 8
    assert 4 not in found.numbers
    assert 6 not in found.numbers


def test_the_story_marks_the_others(model: Model) -> None:
    story = story_of(model, violated(model, "FewPongs", *WINDING))
    assert [step.number for step in story.steps if not step.matters and step.note] == [
        step.number for step in story.steps if step.note
    ]
    assert sum(not step.matters for step in story.steps) == 3
    assert story.notes == ("3 of the 7 steps do not matter: the violation happens without them.",)


def test_a_shortest_trace_needs_every_step(model: Model) -> None:
    violation = Search(replace(model, action_properties=())).run().violation
    assert violation is not None
    story = story_of(model, violation)
    assert all(step.matters for step in story.steps)
    assert story.notes == ("Every step is needed for the violation.",)


def test_the_last_step_of_an_action_property_stays(model: Model) -> None:
    found = slice_of(model, violated(model, "NoSecondPong", *WINDING, is_step=True))
    assert found is not None
    assert len(found.numbers) == 5
    assert found.numbers[-1] == 8


def test_the_replay_refuses_a_slice_that_drops_too_much(model: Model) -> None:
    violation = violated(model, "FewPongs", *WINDING)
    steps = violation.trace.steps
    assert replays(model, violation, steps)
    assert not replays(model, violation, [steps[0], steps[-1]])
    assert not replays(model, violation, steps[:-1])


def test_a_slicer_that_drops_too_much_is_not_believed(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(model: Model, violation: Violation, states: Any, loop: Any) -> bool:
        return len(states) != 1

    assert slice_of(model, violated(model, "FewPongs", *WINDING)) is not None
    real = slicing.fails_alike
    monkeypatch.setattr(slicing, "fails_alike", always)
    monkeypatch.setattr(slicing, "replays", lambda *given: _checked(real, *given))
    assert slice_of(model, violated(model, "FewPongs", *WINDING)) is None


def _checked(fails_alike: Any, model: Model, violation: Violation, steps: Any) -> bool:
    """The check with the definition of a failure as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "fails_alike", fails_alike)
        return replays(model, violation, steps)


def test_the_search_ends_after_so_many_steps_and_says_so(model: Model) -> None:
    found = slice_of(model, violated(model, "FewPongs", *WINDING), steps_max=3)
    assert found is not None
    assert not found.is_minimal


def test_a_random_behaviour_of_a_shipped_spec_is_cut_to_what_matters() -> None:
    root = find_spec_root("two_phase_commit")
    file = find_model(root, "broken")
    assert file is not None
    model = bind(root, file)
    lengths = []
    for seed in range(20):
        violation = simulate(model, seed=seed, depth=30, count=50).violation
        assert violation is not None
        found = slice_of(model, violation)
        assert found is not None
        lengths.append((len(violation.trace), len(found.numbers)))
    assert all(kept == 4 for _, kept in lengths), lengths
    assert any(whole > 6 for whole, _ in lengths), lengths


LOOPING = """
class State(Record):
    n: Int(0, 3)
    m: Int(0, 3)

@spec.init
def init():
    yield State(n=0, m=0)

@spec.action
def detour(st):
    if st.m == 0 and st.n == 0:
        yield st.set(m=1)

@spec.action
def back(st):
    if st.m == 1:
        yield st.set(m=0)

@spec.action
def forth(st):
    if st.n < 2 and st.m == 0:
        yield st.set(n=st.n + 1)

@spec.action
def around(st):
    if st.n == 2:
        yield st.set(n=1)

@spec.liveness
def Three():
    return eventually(lambda st: st.n == 3)
"""


def test_the_stem_of_a_lasso_is_sliced_and_its_cycle_kept(tmp_path: Path) -> None:
    source = "from kmc.spec import eventually\n" + LOOPING
    model = model_of(tmp_path, source, "PROPERTY Three\nCHECK_DEADLOCK FALSE")
    short = Search(model, problem=accepted_problem(model)).run().violation
    assert short is not None
    assert short.refutation is not None
    assert short.refutation.cycle is not None
    trace = run_of(model, "Detour", "Back", "Forth", "Forth")
    closing = next(s for s in run_of(model, "Forth", "Forth", "Around").steps if s.action == "Around")
    cycle = replace(short.refutation.cycle, back_to=4, closing=closing)
    violation = replace(short, trace=trace, refutation=replace(short.refutation, cycle=cycle))
    found = slice_of(model, violation)
    assert found is not None
    assert found.numbers == (1, 4, 5)


@pytest.mark.parametrize("constraint", ["CONSTRAINT IsOpenAboveZero", "ACTION_CONSTRAINT RisesWhereOpen"])
def test_a_step_without_which_the_rest_leaves_the_model_matters(constraint: str, tmp_path: Path) -> None:
    assert kept_within(tmp_path / "unbounded", "") == (1, 4, 5, 6)
    assert kept_within(tmp_path / "bounded", constraint) == (1, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("constraint", "source"),
    [
        ("CONSTRAINT Below", "@spec.constraint\ndef Below(st):\n    return st.n < 3"),
        ("ACTION_CONSTRAINT Below", "@spec.action_constraint\ndef Below(st, nxt):\n    return nxt.n < 3"),
    ],
    ids=["constraint", "action constraint"],
)
def test_the_last_state_may_lie_outside_of_the_model(constraint: str, source: str, tmp_path: Path) -> None:
    cfg = f"INVARIANT BelowThree {constraint} CHECK_DEADLOCK FALSE"
    model = model_of(tmp_path, f"{GUARDED}\n{source}\n", cfg)
    found = slice_of(model, violated(model, "BelowThree", "Aside", "Rise", "Unlock", "Rise", "Rise"))
    assert found is not None
    assert found.numbers == (1, 3, 5, 6)
