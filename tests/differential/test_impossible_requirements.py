"""`require` of what one shape of a message never satisfies: what stands after it is not compiled for that shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.results import told
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.errors import SpecError
from kmc.reference.search import Search
from kmc.result import Limits, Verdict

ANSWERS = """
Server = constant("Server", IdentSet(), "Who")


class Answer(Message, abstract=True):
    source: Server
    dest: Server


class Yes(Answer):
    n: Int(0, 3)


class No(Answer):
    again: Bool


class State(Record):
    net: MessageSet[Answer]
    n: Int(0, 3)


@spec.init
def init():
    yield State(net=set(), n=0)


@spec.action
def send(st, s: Server, n: Int(0, 3)):
    yield st.set(net=st.net.send(Yes(source=s, dest=s, n=n)))
    yield st.set(net=st.net.send(No(source=s, dest=s, again=n > 1)))
"""

ACTIONS = {
    "in an action": """
@spec.receive(Answer)
def read(st, m):
    require(isinstance(m, Yes))
    yield st.set(net=st.net.discard(m), n=m.n)
""",
    "a return, not a requirement": """
@spec.receive(Answer)
def read_again(st, m):
    if not isinstance(m, No):
        return
    require(m.again)
    yield st.set(net=st.net.discard(m))
""",
    "in a choice": """
@spec.receive(Answer)
def choose(st, m):
    for k in range(0, 2):
        require(isinstance(m, Yes))
        if m.n > k:
            yield st.set(n=k)
""",
    "in a branch": """
@spec.receive(Answer)
def branch(st, m):
    if st.n > 1:
        require(isinstance(m, No))
        n = 1 if m.again else 0
    else:
        n = 3 - st.n
    yield st.set(n=n)


def times(m):
    require(isinstance(m, Yes))
    return 2
""",
    "in a helper that returns a value": """
def times(m):
    require(isinstance(m, Yes))
    return 2


@spec.receive(Answer)
def helped(st, m):
    yield st.set(n=times(m))
""",
    "in a helper that yields": """
def steps(st, m):
    require(isinstance(m, Yes))
    yield st.set(n=m.n)


@spec.receive(Answer)
def delegate(st, m):
    yield from steps(st, m)
    yield st.set(n=0)
""",
}

FIELD_OF_YES = """
def number(m):
    require(isinstance(m, Yes))
    return m.n


@spec.receive(Answer)
def read(st, m):
    yield st.set(n=number(m))
"""


@pytest.mark.parametrize("title", ACTIONS)
def test_nothing_is_compiled_after_a_requirement_that_a_shape_never_meets(title: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, ANSWERS + ACTIONS[title], "CONSTANT Server = {a, b} CHECK_DEADLOCK FALSE")
    result = Search(model).run()
    assert (result.verdict, result.counters.distinct > 200) == (Verdict.OK, True)
    assert told(check_native(model, Limits())) == told(result)


def test_the_refusal_of_a_field_names_a_shape_that_has_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, ANSWERS + FIELD_OF_YES, "CONSTANT Server = {a} CHECK_DEADLOCK FALSE")
    with pytest.raises(SpecError, match="field 'n', which No does not have") as caught:
        check_native(model, Limits())
    assert caught.value.help == "test if isinstance(x, Yes) first"


def test_the_refusal_of_a_field_that_no_shape_has_says_so(tmp_path: Path) -> None:
    text = ANSWERS + "class Unrelated(Record):\n    m: Bool\n" + FIELD_OF_YES.replace("m.n", "m.m")
    model = model_of(tmp_path, text, "CONSTANT Server = {a} CHECK_DEADLOCK FALSE")
    with pytest.raises(SpecError, match="field 'm', which Yes does not have") as caught:
        check_native(model, Limits())
    assert caught.value.help == "check the spelling"
