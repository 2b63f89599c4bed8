"""Searches through images of states, and the check that an abstraction loses nothing: engines, definition, traces."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.small import model_of

from kmc.actions.abstraction import image_of
from kmc.actions.relation import NextStateRelation
from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest, Engine
from kmc.checking.search_place import InShards
from kmc.checking.surroundings import Surroundings
from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import EvaluationError, ModelError, SpecError
from kmc.frontend.bisimulation import Bisimulation, difference_in
from kmc.frontend.model import Model
from kmc.invariants.properties import holds
from kmc.reference.states.initial import initial_states
from kmc.reference.states.replay import replay
from kmc.result import Result, Verdict

POST = """
class Ping(Message):
    source: Node
    dest: Node
    round: Int(0, 3)


class State(Record):
    round: Map[Node, Int(0, 3)]
    flight: MessageSet[Ping]
    seen: MessageSet[Ping]
    sent: Int(0, 20)


@spec.init
def init():
    yield State(round={i: 0 for i in Node}, flight=set(), seen=set(), sent=0)


@spec.action
def call(st, i: Node, j: Node):
    \"\"\"A node in a round asks another one; nothing reads how many were asked.\"\"\"
    require(i != j and st.round[i] < 3 and st.sent < 4)
    yield st.set(flight=st.flight.send(Ping(source=i, dest=j, round=st.round[i])), sent=st.sent + 1)


@spec.receive(Ping, i="dest")
def answer(st, m, i):
    \"\"\"A ping of the present round is answered by going on; older ones stay where they are.\"\"\"
    require(m.round >= st.round[i])
    yield st.set(
        round=st.round.set(i, m.round + 1 if m.round < 3 else 3),
        flight=st.flight.discard(m),
        seen=st.seen.send(m),
    )


@spec.abstraction
def Unread(st):
    \"\"\"Rounds never fall, so a ping of an older round is never answered; what was seen is read by nothing.\"\"\"
    return st.set(flight=st.flight.keep(lambda m: m.round >= st.round[m.dest]), seen=set())


@spec.abstraction
def Uncounted(st):
    \"\"\"Wrong: nodes ask four times at most.\"\"\"
    return st.set(sent=0)


@spec.abstraction
def Forgetful(st):
    \"\"\"Wrong: a ping of the present round is answered.\"\"\"
    return st.set(flight=st.flight.keep(lambda m: m.round > st.round[m.dest]))


@spec.invariant
def Low(st):
    return all(st.round[i] < 3 for i in Node)


@spec.invariant
def SeenOnce(st):
    return len(st.seen) < 3


@spec.reachable
def far(st):
    return any(st.round[i] == 2 for i in Node)


@spec.action_property
def RoundsRise(st, new):
    return all(new.round[i] >= st.round[i] for i in Node)


spec.symmetry("Symmetry", Node)
"""

NODES = 'Node = constant("Node", IdentSet(symmetric=True), "Who asks")\n' + POST
TWO, THREE = "CONSTANTS Node = {a, b}", "CONSTANTS Node = {a, b, c}"
FREE = "CHECK_DEADLOCK FALSE"


def result_of(model: Model, engine: Engine = Engine.NATIVE, **more: Any) -> Result:
    return check(CheckRequest(ChosenModel(model, None), engine=engine, **more)).result


def in_shards(model: Model, folder: Path) -> Result:
    folder.mkdir()
    request = CheckRequest(ChosenModel(model, None), place=InShards(3))
    return check(request, Surroundings(open_directory=lambda: RunDirectory.created(folder, {}))).result


def figures(result: Result) -> tuple[Any, ...]:
    violation = result.violation
    shown = (violation.name, violation.trace) if violation is not None else None
    counters = result.counters
    return (
        result.verdict, counters.generated, counters.distinct, result.levels, result.generated_by_action,
        result.unreached, shown,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "sections",
    [
        "ABSTRACTION Unread INVARIANT Low",
        "ABSTRACTION Unread PROPERTY RoundsRise",
        "ABSTRACTION Unread SYMMETRY Symmetry INVARIANT Low",
        "ABSTRACTION Unread SYMMETRY Symmetry",
        "ABSTRACTION Unread VERIFY_ABSTRACTIONS TRUE INVARIANT Low",
        "ABSTRACTION Unread VERIFY_ABSTRACTIONS TRUE SYMMETRY Symmetry INVARIANT Low PROPERTY RoundsRise",
        "ABSTRACTION Unread VERIFY_ABSTRACTIONS TRUE INVARIANT SeenOnce",
        "ABSTRACTIONS Unread Uncounted VERIFY_ABSTRACTIONS TRUE",
        "ABSTRACTION Forgetful VERIFY_ABSTRACTIONS TRUE",
    ],
)
def test_engines_agree(sections: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, NODES, f"{TWO} {FREE} {sections}")
    expected = figures(result_of(model, Engine.PYTHON))
    assert figures(result_of(model, threads=2)) == expected
    assert figures(result_of(model, fingerprint_bits=128)) == expected
    assert figures(in_shards(model, tmp_path / "run")) == expected


def test_images_are_fewer_and_have_the_same_answers(tmp_path: Path) -> None:
    whole, images = (
        result_of(model_of(tmp_path / name, NODES, f"{THREE} {FREE} INVARIANT Low PROPERTY RoundsRise {name}"))
        for name in ("", "ABSTRACTION Unread")
    )
    assert images.violation is not None
    assert whole.violation is not None
    assert (images.verdict, images.violation.name) == (whole.verdict, whole.violation.name)
    assert len(images.violation.trace) == len(whole.violation.trace)
    assert images.counters.distinct < whole.counters.distinct / 2


def test_a_counterexample_is_one_of_the_spec_itself(tmp_path: Path) -> None:
    model = model_of(tmp_path, NODES, f"{TWO} {FREE} ABSTRACTION Unread INVARIANT Low")
    for engine in Engine:
        violation = result_of(model, engine).violation
        assert violation is not None
        last = violation.trace.steps[-1].state
        assert last != image_of(model.abstractions, last, model.spec.files)
        assert len(last.seen) > 0
        replay(replace(model, abstractions=()), violation.trace)


def test_a_search_begins_with_the_image_of_the_state_that_is_given(tmp_path: Path) -> None:
    model = model_of(tmp_path, NODES, f"{TWO} {FREE} ABSTRACTION Unread INVARIANT Low")
    violation = result_of(model).violation
    assert violation is not None
    start = violation.trace.steps[3].state
    found = [figures(result_of(model, engine, start=start)) for engine in Engine]
    assert found[0] == found[1]
    assert found[0][-1][1].steps[0].state == start


@pytest.mark.parametrize(
    ("abstraction", "asked", "why"),
    [
        ("Forgetful", "", "the state has the step Answer("),
        ("Uncounted", "", "the image has the step Call("),
        ("Unread", "INVARIANT SeenOnce", "SeenOnce is FALSE in the state and TRUE in its image"),
    ],
)
def test_a_wrong_abstraction_is_told_apart(abstraction: str, asked: str, why: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, NODES, f"{TWO} {FREE} {asked} ABSTRACTION {abstraction} VERIFY_ABSTRACTIONS TRUE")
    found = check(CheckRequest(ChosenModel(model, None)))
    assert found.result.violation is not None
    assert found.example is not None
    assert found.result.violation.name == f"{abstraction}_loses_nothing"
    difference = difference_in(model, found.result.violation.trace.steps[-1].state)
    assert difference is not None
    assert why in difference.why
    shown = found.example.explained(None, 100)
    assert shown.failure is None
    assert any(line.text == f"Told apart: {difference.why}." for line in shown.lines)
    assert f"Told apart: {difference.why}." in found.example.plain_lines()


@pytest.mark.parametrize("asked", ["INVARIANT Low", "PROPERTY RoundsRise", "SYMMETRY Symmetry INVARIANT Low"])
def test_a_right_abstraction_is_verified_on_the_whole_graph(asked: str, tmp_path: Path) -> None:
    text = f"{TWO} {FREE} {asked}"
    plain = model_of(tmp_path / "plain", NODES, text)
    result = result_of(model_of(tmp_path / "exact", NODES, f"{text} ABSTRACTION Unread VERIFY_ABSTRACTIONS TRUE"))
    assert result.verdict is Verdict.OK
    assert result.counters.distinct == result_of(replace(plain, invariants=())).counters.distinct


def test_a_deadlock_of_the_image_alone_is_a_difference(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 3)
    done: Bool


@spec.init
def init():
    yield State(n=0, done=False)


@spec.action
def up(st):
    yield st.set(n=st.n + 1 if st.n < 3 else 3)


@spec.action_constraint
def Rising(st, new):
    return new.n > st.n


@spec.abstraction
def Done(st):
    \"\"\"Wrong where deadlock is asked for.\"\"\"
    return st.set(done=True)


@spec.action
def rest(st):
    require(not st.done)
    yield st
"""
    free, asked = (
        model_of(tmp_path / name, source.replace("def up(st):\n", f"def up(st):\n    require({name})\n"),
                 f"CHECK_DEADLOCK {name.upper()} ABSTRACTION Done VERIFY_ABSTRACTIONS TRUE")
        for name in ("False", "True")
    )  # fmt: skip
    for engine in Engine:
        assert result_of(free, engine).verdict is Verdict.OK
        assert result_of(asked, engine).verdict is Verdict.OK
    asked = model_of(tmp_path / "dead", source.replace("def up(st):\n", "def up(st):\n    require(False)\n"),
                     "CHECK_DEADLOCK TRUE ABSTRACTION Done VERIFY_ABSTRACTIONS TRUE")  # fmt: skip
    for engine in Engine:
        violation = result_of(asked, engine).violation
        assert violation is not None
        difference = difference_in(asked, violation.trace.steps[-1].state)
        assert difference is not None
        assert "deadlock" in difference.why


SHORTCUT = """
class State(Record):
    n: Int(0, 9)
    seen: Bool


@spec.init
def init():
    yield State(n=0, seen=False)


@spec.action
def up(st):
    require(st.n < 9)
    yield st.set(n=st.n + 1)


@spec.abstraction
def Jumps(st):
    \"\"\"Wrong: it makes states that the spec never reaches.\"\"\"
    return st.set(n=8, seen=True) if st.n == 2 else st


@spec.abstraction
def Fails(st):
    \"\"\"Wrong: it has no value after three steps.\"\"\"
    return st.set(n=10 + st.n - 3) if st.n == 3 else st


@spec.invariant
def Unseen(st):
    return not st.seen
"""


def test_a_violation_that_the_spec_does_not_have_is_an_error(tmp_path: Path) -> None:
    model = model_of(tmp_path, SHORTCUT, "ABSTRACTION Jumps INVARIANT Unseen CHECK_DEADLOCK FALSE")
    for engine in Engine:
        with pytest.raises(EvaluationError) as failure:
            result_of(model, engine)
        assert failure.value.code == "KMC274"
        assert "Jumps" in failure.value.message
        assert "--verify-abstractions" in (failure.value.help or "")


def test_an_abstraction_gives_a_state(tmp_path: Path) -> None:
    source = SHORTCUT.replace("return st.set(n=8, seen=True) if st.n == 2 else st", "return st.n")
    model = model_of(tmp_path, source, "ABSTRACTION Jumps CHECK_DEADLOCK FALSE")
    with pytest.raises(EvaluationError) as failure:
        result_of(model, Engine.PYTHON)
    assert failure.value.code == "KMC273"
    with pytest.raises(SpecError) as refused:
        check_kinds(model.spec)
    assert refused.value.code == "KMC273"


def test_an_error_in_an_abstraction_is_shown_with_the_trace_to_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, SHORTCUT, "ABSTRACTION Fails CHECK_DEADLOCK FALSE")
    for engine in Engine:
        violation = result_of(model, engine).violation
        assert violation is not None
        assert violation.error is not None
        assert violation.verdict is Verdict.ERROR
        assert [step.state.n for step in violation.trace.steps] == [0, 1, 2]
        assert any("Fails" in note for note in violation.error.notes)


def test_a_reason_is_needed(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as failure:
        model_of(tmp_path, SHORTCUT.replace('    """Wrong: it makes states that the spec never reaches."""\n', ""))
    assert failure.value.code == "KMC166"


def test_what_is_verified_has_a_name(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as failure:
        model_of(tmp_path, SHORTCUT, "VERIFY_ABSTRACTIONS TRUE")
    assert failure.value.code == "KMC356"


GROWING = """
class State(Record):
    light: Bool
    turns: Int(0, 200)


@spec.init
def init():
    yield State(light=False, turns=0)


@spec.action(fair=WEAK)
def turn(st):
    yield st.set(light=not st.light, turns=st.turns + 1)


@spec.action(fair=WEAK)
def think(st):
    require(st.turns > 200)
    yield st.set(turns=0)


@spec.abstraction
def Uncounted(st):
    \"\"\"How often the light was turned is read by nothing that ever happens.\"\"\"
    return st.set(turns=0)


@spec.abstraction
def Dark(st):
    \"\"\"Wrong for fairness: it hides that a turn changes something.\"\"\"
    return st.set(turns=0, light=False)


@spec.liveness
def StaysLit():
    return eventually(always(lambda st: st.light))


@spec.liveness
def IsLit():
    return always(eventually(lambda st: st.light))


@spec.constraint
def Few(st):
    return st.turns < 9
"""


def test_a_lasso_of_images_is_one_of_the_spec_without_end(tmp_path: Path) -> None:
    source = "from kmc.spec import WEAK, always, eventually\n" + GROWING
    for prop, verdict in (("StaysLit", Verdict.LIVENESS), ("IsLit", Verdict.OK)):
        model = model_of(tmp_path / prop, source, f"ABSTRACTION Uncounted PROPERTY {prop}")
        for engine in Engine:
            result = result_of(model, engine)
            assert result.verdict is verdict
            assert result.counters.distinct == 2
            assert any("images under Uncounted" in line for line in result.warnings) == (verdict is Verdict.LIVENESS)
    for name, verdict in (("Uncounted", Verdict.OK), ("Dark", Verdict.VIOLATION)):
        text = f"ABSTRACTION {name} PROPERTY IsLit CONSTRAINT Few VERIFY_ABSTRACTIONS TRUE"
        model = model_of(tmp_path / name, source.replace("return st.turns < 9", "return True"), text)
        bounded = replace(model, max_depth=20)
        for engine in Engine:
            result = result_of(bounded, engine)
            assert (result.violation is None) == (verdict is Verdict.OK), (name, engine)


def drawn(rng: random.Random) -> str:
    """A spec of three small numbers with random actions, properties and an abstraction of one of the numbers."""

    def term() -> str:
        return rng.choice(["st.a", "st.b", "st.c", "0", "1", "2"])

    def guard() -> str:
        return f"{term()} {rng.choice(['<', '<=', '==', '!='])} {term()}"

    lines = ["class State(Record):", "    a: Int(0, 2)", "    b: Int(0, 2)", "    c: Int(0, 2)", "", ""]
    lines += ["@spec.init", "def init():", "    yield State(a=0, b=0, c=0)", "", ""]
    for number in range(rng.randint(2, 4)):
        lines += ["@spec.action", f"def act{number}(st, k: Int(0, 1)):", f"    require({guard()})"]
        for _ in range(rng.randint(1, 2)):
            name = rng.choice("abc")
            value = rng.choice([term(), "k", f"min(2, {term()} + k)", f"2 - {term()}"])
            lines.append(f"    yield st.set({name}={value})")
        lines += ["", ""]
    kept = rng.choice(["c=0", "c=0", "b=min(st.b, 1)", "c=0 if st.a == 2 else st.c", "b=0, c=0", "c=st.b"])
    lines += ["@spec.abstraction", "def Image(st):", '    """Drawn."""', f"    return st.set({kept})", "", ""]
    lines += ["@spec.invariant", "def Holds(st):", f"    return {guard()} or {guard()}", "", ""]
    lines += ["@spec.reachable", "def goal(st):", f"    return {guard()}", "", ""]
    lines += ["@spec.action_property", "def Steps(st, new):", f"    return {guard()} or new.a >= st.a", "", ""]
    return "\n".join(lines)


def is_exact(model: Model) -> bool:
    """Whether the image of every reachable state answers and moves as the state does, by plain sets of steps."""
    spec, seen = model.spec, dict.fromkeys(initial_states(model))
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    exact = True
    waiting = list(seen)
    while waiting:
        state = waiting.pop()
        sides = []
        image = image_of(model.abstractions, state, spec.files)
        for side in (state, image):
            answers = [holds(prop, spec.files, side) for prop in (*model.invariants, *model.reachable)]
            steps: dict[Any, int] = {}
            for action, arguments, successor in relation.steps(side):
                truth = holds(model.action_properties[0], spec.files, side, successor)
                there = image_of(model.abstractions, successor, spec.files)
                if there != image or not truth:
                    key = action.label(arguments), there, truth
                    steps[key] = steps.get(key, 0) + 1
                if side is state and successor not in seen:
                    seen[successor] = None
                    waiting.append(successor)
            sides.append((answers, steps))
        exact = exact and sides[0] == sides[1]
    return exact


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_random_abstractions_are_judged_alike(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    for number in range(4):
        source = drawn(rng)
        text = "INVARIANT Holds PROPERTY Steps CHECK_DEADLOCK FALSE"
        plain = model_of(tmp_path / f"plain{number}", source, text)
        images = model_of(tmp_path / f"images{number}", source, f"{text} ABSTRACTION Image")
        verifying = model_of(tmp_path / f"exact{number}", source, f"{text} ABSTRACTION Image VERIFY_ABSTRACTIONS TRUE")
        exact = is_exact(images)
        interpreted = result_of(verifying, Engine.PYTHON)
        assert (interpreted.verdict is Verdict.OK) == exact, source
        if seed < 2:
            assert figures(result_of(verifying)) == figures(interpreted), source
        if exact:
            expected, found = result_of(plain, Engine.PYTHON), result_of(images, Engine.PYTHON)
            assert (found.verdict, found.unreached) == (expected.verdict, expected.unreached), source
            if expected.violation is not None and found.violation is not None:
                assert found.violation.name == expected.violation.name, source
                assert len(found.violation.trace) == len(expected.violation.trace), source
            if seed < 2:
                assert figures(result_of(images)) == figures(found), source


def test_bisimulation_is_a_predicate_of_states_only(tmp_path: Path) -> None:
    model = model_of(tmp_path, NODES, f"{TWO} {FREE} ABSTRACTION Unread")
    with pytest.raises(TypeError):
        Bisimulation(model)(3)  # type: ignore[arg-type]  # a value of another kind, as a check of tautologies tries
