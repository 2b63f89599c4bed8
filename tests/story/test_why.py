"""Why a property fails: the instance is the least that fails, the values are those of the state, and nothing else is
told."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.small import IMPORTS, model_of

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.invariants.properties import Invariant
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.story.explain.facts import compared_fact, reproduced
from kmc.story.explain.functions import source_of
from kmc.story.explain.scopes import Binding, Context, Label, Wording
from kmc.story.explain.why import why, why_fails
from kmc.story.parts.story import Why

SERVERS = """
Server = constant("Server", IdentSet(), "The servers")


class Role(Enum):
    FOLLOWER, LEADER = range(2)


class Node(Record):
    epoch: Int(0, 3)
    role: Role
    leader: Opt[Server]
    log: Seq[Int(0, 3), 3]


class State(Record):
    servers: Map[Server, Node]
    acked: Set[Int(0, 3)]


@spec.init
def init():
    yield State(servers={s: Node(epoch=0, role=Role.FOLLOWER, leader=None, log=[]) for s in Server}, acked=set())


@spec.action
def lead(st, s: Server):
    if st.servers[s].epoch < 1:
        me = st.servers[s].set(epoch=1, role=Role.LEADER, leader=s, log=[1, 2])
        yield st.set(servers=st.servers.set(s, me), acked={3})


def is_leader(me):
    return me.role == Role.LEADER


def holds(log, v):
    return any(entry == v for entry in log)


def none(st, condition):
    return not any(condition(me) for me in st.servers.values())


def moves(old, new):
    if old.epoch == new.epoch:
        return True
    higher = new.epoch > old.epoch
    if new.role == Role.LEADER:
        return not higher
    return False
"""

CFG = "CONSTANT Server = {n1, n2, n3}\n"


def reached(model: Model) -> list[Any]:
    """All states of a model."""
    search = Search(replace(model, invariants=(), deadlock=False))
    search.run()
    return list(search.graph.states)


def failing(folder: Path, body: str, *, is_step: bool = False) -> Why:
    """Why the property with this body fails first."""
    parameters = "st, nxt" if is_step else "st"
    decorator = "action_property" if is_step else "invariant"
    source = f"{SERVERS}\n\n@spec.{decorator}\ndef Wanted({parameters}):\n"
    model = model_of(folder, source + "".join(f"    {line}\n" for line in body.splitlines()), CFG + "PROPERTY Wanted")
    violation = Search(model).run().violation
    assert violation is not None
    return why(model, violation)


@pytest.mark.parametrize(
    ("body", "instance", "sentence"),
    [
        (
            "return all(me.role == Role.FOLLOWER for me in st.servers.values())",
            {"me": "n3"},
            "Wanted fails for n3: role of n3 is Leader, not Follower.",
        ),
        (
            "return not any(0 < me.epoch <= 2 for me in st.servers.values())",
            {"me": "n3"},
            "Wanted fails for n3: epoch of n3 is 1, more than 0; epoch of n3 is 1, at most 2.",
        ),
        (
            "return not any(s != t and st.servers[s].epoch == st.servers[t].epoch and st.servers[s].epoch > 0"
            " for s in Server for t in Server)",
            {"s": "n2", "t": "n3"},
            "Wanted fails for n2 and n3: n2 and n3 have the same epoch, 1; epoch of n2 is 1, more than 0.",
        ),
        (
            "return all(holds(me.log, v) for v in st.acked for s, me in st.servers.items() if is_leader(me))",
            {"v": "3", "s": "n3"},
            "Wanted fails for n3 and v = 3: role of n3 is Leader; log of n3 has no entry with entry == 3.",
        ),
        (
            "return none(st, is_leader)",
            {"me": "n3"},
            "Wanted fails for n3: role of n3 is Leader.",
        ),
        (
            "leaders = {s for s in Server if is_leader(st.servers[s])}\nreturn len(leaders) < 1",
            {},
            "Wanted fails: len(leaders) is 1; leaders is {n3}; role of n3 is Leader.",
        ),
        (
            "return all(0 <= me.epoch < 1 for me in st.servers.values())",
            {"me": "n3"},
            "Wanted fails for n3: epoch of n3 is 1.",
        ),
        (
            "if len(st.acked) == 0:\n    return True\nreturn False",
            {},
            "Wanted fails: len(acked) is 1, not 0.",
        ),
        (
            "return all(me.log.at(o) == 1 for me in st.servers.values() for o in range(1, len(me.log) + 1))",
            {"o": "2", "me": "n3"},
            "Wanted fails for n3 and o = 2: log[2] of n3 is 2, not 1.",
        ),
    ],
)  # fmt: skip
def test_the_sentence_names_instance_and_values(
    tmp_path: Path, body: str, instance: dict[str, str], sentence: str
) -> None:
    told = failing(tmp_path, body)
    assert told.sentence == sentence
    assert dict(told.instance) == instance


def test_a_step_is_told_with_old_and_new_values(tmp_path: Path) -> None:
    told = failing(tmp_path, "return all(moves(st.servers[s], nxt.servers[s]) for s in Server)", is_step=True)
    assert dict(told.instance) == {"s": "n3"}
    assert told.sentence == "Wanted fails for n3: new role of n3 is Leader; epoch of n3 rises from 0 to 1."
    assert {c.expression: c.value for c in told.compared} == {
        "old epoch of n3": "0",
        "new epoch of n3": "1",
        "new role of n3": "Leader",
    }


def test_a_fact_that_does_not_reproduce_is_dropped(tmp_path: Path) -> None:
    model = model_of(tmp_path, SERVERS + "\n\n@spec.invariant\ndef Wanted(st):\n    return len(st.acked) == 1\n", CFG)
    prop = model.spec.properties["Wanted"]
    assert isinstance(prop, Invariant)
    definition = source_of(prop.function, model.spec.files)
    assert definition is not None
    (returned,) = definition.body
    assert isinstance(returned, ast.Return)
    assert isinstance(returned.value, ast.Compare)
    (state,) = initial_states(model)
    scope = Context(model.spec.init.__globals__, {"st": Binding(state, Label())})
    fact = compared_fact(returned.value, scope, False, Wording(model.spec))
    (value,) = fact.values
    assert list(reproduced([fact])) == [fact]
    assert list(reproduced([replace(fact, truth=True)])) == []
    assert list(reproduced([replace(fact, values=(replace(value, value=7),))])) == []


def test_what_cannot_be_followed_is_told_plainly(tmp_path: Path) -> None:
    told = failing(tmp_path, "def low(me):\n    return me.epoch < 1\nreturn all(low(st.servers[s]) for s in Server)")
    assert told.sentence == "Wanted is false in state 2."
    assert told.instance == ()


@pytest.mark.parametrize("seed", range(12))
def test_the_instance_is_the_least_that_fails(tmp_path: Path, seed: int) -> None:
    """Random conditions over two servers and an offset, compared with all instances taken one by one."""
    rng = random.Random(seed)
    condition = _condition(rng, 3)
    source = f"{SERVERS}\n\ndef wanted(st, s, t, o):\n    return {condition}\n"
    loops = "for s in Server for t in Server if s != t for o in range(0, 4)"
    body = f"return all(wanted(st, s, t, o) {loops})"
    model = model_of(tmp_path, f"{source}\n\n@spec.invariant\ndef Wanted(st):\n    {body}\n", CFG)
    prop = model.spec.properties["Wanted"]
    assert isinstance(prop, Invariant)
    wanted = prop.function.__globals__["wanted"]
    servers = list(prop.function.__globals__["Server"])
    for state in reached(model):
        failing = [
            (str(s), str(t), str(o))
            for s in servers
            for t in servers
            for o in range(4)
            if s != t and not wanted(state, s, t, o)
        ]
        assert bool(failing) is not prop.function(state)
        if failing:
            told = why_fails(model, prop, state)
            assert tuple(dict(told.instance)[name] for name in "sto") == failing[0], (condition, told)


def _condition(rng: random.Random, depth: int) -> str:
    """A random condition over servers s and t, and a number o."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(
            [
                "st.servers[s].epoch == st.servers[t].epoch",
                "st.servers[s].role != st.servers[t].role",
                "o in st.servers[s].log",
                "len(st.servers[t].log) <= o",
                "holds(st.servers[t].log, o)",
                "is_leader(st.servers[s])",
                "st.servers[s].leader is None",
                "o < 3",
            ]
        )
    left, right = _condition(rng, depth - 1), _condition(rng, depth - 1)
    return rng.choice(
        [
            f"({left} and {right})",
            f"({left} or {right})",
            f"(not {left})",
            f"({left} if is_leader(st.servers[t]) else {right})",
            f"any({left} or u == s for u in Server)",
            f"all({right} for u in st.servers if u != s)",
        ]
    )


@pytest.mark.parametrize(
    ("spec", "name", "sentence"),
    [
        ("die_hard", "solution", "NotSolved fails: big and Wanted are both 4."),
        ("two_phase_commit", "broken", "Consistent fails: rms of r2 is Committed; rms of r3 is Aborted."),
        ("kraft", "new_table", "NewQuorumStateTransitions fails for n1: state of n1 changes from Unattached to"
         " Candidate; new state of n1 is Candidate."),
        ("kip_996", "no_pre_vote", "OnlyProspectiveBecomesCandidate fails for s2: new state of s2 is Candidate;"
         " old state of s2 is Follower, not Prospective."),
        ("kip_996", "observers_campaign", "ValidRolesAndStates fails for s3: config.members of s3 is {s1, s2}, which"
         " does not contain s3; state of s3 is Prospective, not in OBSERVER_STATES, which is {Unattached, Follower,"
         " Leader, Resigned}."),
        ("kip_996", "leader_commits_alone_and_crashes", "Durability fails for v = v1: state of s1 is DeadNoState; log"
         " of s2 has no entry with value v1; log of s3 has no entry with value v1."),
    ],
)  # fmt: skip
def test_shipped_mutants_say_why(spec: str, name: str, sentence: str) -> None:
    root = find_spec_root(spec)
    file = find_model(root, name)
    assert file is not None
    model = bind(root, file)
    violation = Search(model).run().violation
    assert violation is not None
    assert why(model, violation).sentence == sentence


def test_a_deadlock_names_the_guard_of_each_action(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 3)

@spec.init
def init():
    yield State(n=0)

@spec.action
def up(st):
    if st.n < 2:
        yield st.set(n=st.n + 1)

@spec.action
def end(st):
    if st.n != 3:
        return
    yield st
"""
    model = model_of(tmp_path, source, "CHECK_DEADLOCK TRUE")
    violation = Search(model).run().violation
    assert violation is not None
    assert why(model, violation).sentence == "No action is enabled in state 3: Up: n is 2; End: n is 2, not 3."


FAILING = """
Server = constant("Server", IdentSet(), "The servers")

class State(Record):
    n: Map[Server, Int(0, 3)]

@spec.init
def init():
    yield State(n={s: 0 for s in Server})

@spec.action
def up(st, s: Server):
    ASSERTION
    yield st.set(n=st.n.set(s, st.n[s] + 1))
"""


def test_an_assertion_tells_its_text_and_values(tmp_path: Path) -> None:
    model = model_of(tmp_path, FAILING.replace("ASSERTION", "assert st.n[s] < 1"), "CONSTANT Server = {n1, n2}")
    violation = Search(model).run().violation
    assert violation is not None
    told = why(model, violation)
    assert told.sentence == "In state 2, Up(n2): the assertion does not hold: st.n[s] < 1: n[n2] is 1."
    assert told.instance == (("s", "n2"),)
    line = (IMPORTS + FAILING).splitlines().index("    ASSERTION") + 1
    assert told.place.endswith(f"/spec.py:{line}")


def test_an_error_tells_the_values_of_its_expression(tmp_path: Path) -> None:
    source = FAILING.replace("ASSERTION", "require(st.n[s] >= 0)").replace("Int(0, 3)]", "Int(0, 1)]")
    model = model_of(tmp_path, source, "CONSTANT Server = {n1, n2}")
    violation = Search(model).run().violation
    assert violation is not None
    told = why(model, violation)
    assert told.sentence.startswith("In state 2, Up(n2): ")
    assert [(c.expression, c.value) for c in told.compared] == [("n[n2]", "1")]


def test_an_error_that_begins_with_a_name_keeps_it(tmp_path: Path) -> None:
    source = FAILING.replace("ASSERTION", "require(st.first.n > 0)").replace("State(n", "State(first=None, n")
    source = source.replace("    n: Map", "    first: Opt[Inner]\n    n: Map")
    source = source.replace("class State", "class Inner(Record):\n    n: Int(0, 3)\n\nclass State")
    model = model_of(tmp_path, source, "CONSTANT Server = {n1, n2}")
    violation = Search(model).run().violation
    assert violation is not None
    assert why(model, violation).sentence == "In state 1, Up(n1): None has no field 'n'."


def test_a_lasso_tells_the_values_of_its_last_state() -> None:
    root = find_spec_root("die_hard")
    file = find_model(root, "aimless")
    assert file is not None
    model = bind(root, file)
    violation = Search(model, problem=accepted_problem(model)).run().violation
    assert violation is not None
    told = why(model, violation)
    assert told.sentence.startswith("EventuallySolved fails: solved is true in no state. ")
    last = violation.trace.steps[-1].state
    assert [(c.expression, c.value) for c in told.compared] == [("big", str(last.big)), ("Wanted", "4")]


def test_a_variable_with_the_name_of_a_process_is_called_by_its_type(tmp_path: Path) -> None:
    body = "all(st.servers[n1].epoch < 1 for n1 in Server)"
    told = failing(tmp_path, f"return {body}")
    assert told.instance == (("Server", "n3"),)
    assert told.sentence == "Wanted fails for n3: epoch of n3 is 1."


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("1 < st.n", "n is 0, at most 1"),
        ("1 <= st.n", "n is 0, less than 1"),
        ("3 > st.n", "n is 4, at least 3"),
        ("3 >= st.n", "n is 4, more than 3"),
        ("st.n < 3", "n is 4, at least 3"),
        ("st.n <= 3", "n is 4, more than 3"),
        ("st.n > 1", "n is 0, at most 1"),
        ("st.n >= 1", "n is 0, less than 1"),
        ("not 1 > st.n", "n is 0, less than 1"),
        ("not 1 >= st.n", "n is 0, at most 1"),
        ("not 3 < st.n", "n is 4, more than 3"),
        ("not 3 <= st.n", "n is 4, at least 3"),
    ],
)
def test_a_comparison_is_said_of_the_place_whichever_side_it_stands_on(
    tmp_path: Path, condition: str, sentence: str
) -> None:
    source = f"""
class State(Record):
    n: Int(0, 4)

@spec.init
def init():
    yield State(n={4 if "n is 4" in sentence else 0})

@spec.action
def stay(st):
    yield st

@spec.invariant
def Wanted(st):
    return {condition}
"""
    model = model_of(tmp_path, source, "INVARIANT Wanted")
    violation = Search(model).run().violation
    assert violation is not None
    assert why(model, violation).sentence == f"Wanted fails: {sentence}."
