"""`require` of what one shape of a message never satisfies: what stands after it is not compiled for that shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.results import told
from support.specs.small import model_of

from kmc.compiler.view_order import fingerprint_order
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

KINDS = """
Server = constant("Server", IdentSet(), "Who")


class Kind(Enum):
    FETCH, VOTE, NONE = range(3)


class Fetch(Message):
    source: Server
    dest: Server
    kind: Kind
    offset: Int(0, 3)


class Vote(Message):
    source: Server
    dest: Server
    kind: Kind
    epoch: Int(0, 5)


class Mark(Record):
    kind: Kind
    at: Int(0, 3)


class State(Record):
    net: MessageSet[Fetch | Vote]
    n: Int(0, 5)
    log: Seq[Mark | Fetch | None, 2]


@spec.init
def init():
    yield State(net=set(), n=0, log=[])


@spec.action
def send(st, s: Server, n: Int(0, 2)):
    yield st.set(net=st.net.send(Fetch(source=s, dest=s, kind=Kind.FETCH, offset=n)))
    yield st.set(net=st.net.send(Vote(source=s, dest=s, kind=Kind.VOTE, epoch=n + 2)))


def number(m):
    if m.kind == Kind.FETCH:
        return m.offset
    return m.epoch


@spec.action
def hear(st):
    for m in st.net:
        require(len(st.log) < 2 and (m.kind == Kind.FETCH) == (number(m) < WRONG))
        log = st.log.append(m if isinstance(m, Fetch) else Mark(kind=Kind.NONE, at=m.epoch - 2))
        yield st.set(net=st.net.discard(m), n=m.offset if m.kind == Kind.FETCH else m.epoch, log=log)


@spec.invariant
def Kept(st):
    return all(e is None or (e.at < 3 if e.kind == Kind.NONE else e.offset < 3) for e in st.log)


@spec.reachable
def vote_of_four(st):
    return any(m.epoch == 4 for m in st.net if m.kind == Kind.VOTE)
"""


@pytest.mark.parametrize("wrong", [0, 2, 3])
@pytest.mark.parametrize("read", ["m.epoch", "m.epoch if m.kind != Kind.FETCH else m.epoch"])
def test_any_condition_may_rule_a_shape_out(tmp_path: Path, wrong: int, read: str) -> None:
    """A field is read of shapes that have it, and where one without it comes, both engines fail at its place."""
    text = KINDS.replace("WRONG", str(wrong)).replace("return m.epoch", f"return {read}")
    model = model_of(tmp_path, text, "CONSTANT Server = {a} CHECK_DEADLOCK FALSE INVARIANT Kept")
    assert told(check_native(model, Limits())) == told(Search(model, view_order=fingerprint_order).run())


def test_a_shape_that_is_not_ruled_out_is_an_error_at_its_place(tmp_path: Path) -> None:
    text = KINDS.replace("WRONG", "2").replace("m.kind == Kind.FETCH:", "m.kind != Kind.FETCH:")
    model = model_of(tmp_path, text, "CONSTANT Server = {a} CHECK_DEADLOCK FALSE INVARIANT Kept")
    result = Search(model, view_order=fingerprint_order).run()
    assert result.violation is not None
    assert "KMC212" in repr(result.violation.error)
    assert told(check_native(model, Limits())) == told(result)


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


def test_a_field_of_other_shapes_is_read_where_a_requirement_rules_this_one_out(tmp_path: Path) -> None:
    model = model_of(tmp_path, ANSWERS + FIELD_OF_YES, "CONSTANT Server = {a} CHECK_DEADLOCK FALSE")
    assert told(check_native(model, Limits())) == told(Search(model).run())


def test_the_refusal_of_a_field_that_no_shape_has_says_so(tmp_path: Path) -> None:
    text = ANSWERS + "class Unrelated(Record):\n    m: Bool\n" + FIELD_OF_YES.replace("m.n", "m.m")
    model = model_of(tmp_path, text, "CONSTANT Server = {a} CHECK_DEADLOCK FALSE")
    with pytest.raises(SpecError, match="field 'm', which Yes does not have") as caught:
        check_native(model, Limits())
    assert caught.value.help == "check the spelling"
