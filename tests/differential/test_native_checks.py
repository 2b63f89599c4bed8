"""Every check in compiled code stops the run with the interpreter's error: code, place, words, notes, and the trace.

Each row is one line of an action or a property that fails two steps from the initial state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.specs.small import IMPORTS

from kmc.engine import violation_report
from kmc.engine.check_model import check_native
from kmc.engine.search.predecessors import Predecessors
from kmc.errors import InternalError, KmcError
from kmc.frontend.binding import bind_all
from kmc.model_files.value_text import parse_set
from kmc.reference.search import Search
from kmc.result import Limits, Result

WORLD = """
from kmc.lang import pair

Server = constant("Server", IdentSet(), "x")


class Entry(Record):
    epoch: Int(0, 3)
    who: Opt[Server]


class Hi(Message):
    source: Server
    dest: Server
    n: Int(0, 9)


class State(Record):
    n: Int(0, 3)
    who: Opt[Server]
    log: Seq[Entry, 2]
    votes: Set[Server]
    ints: Set[Int(0, 3)]
    p: PartialMap[Server, Int(0, 3)]
    net: MessageSet[Hi, 2]
    bag: MessageBag[Hi, 2, 2]


@spec.init
def init():
    yield State(n=0, who=None, log=[], votes=set(), ints=set(), p={}, net=set(), bag={})


@spec.action
def step(st):
    if st.n < 2:
        yield st.set(n=st.n + 1)


def hi(i, n):
    return Hi(source=i, dest=i, n=n)
"""

ACTIONS = {
    "number above its domain": "yield st.set(n=st.n + 2)",
    "number below its domain": "yield st.set(n=st.n - 3)",
    "element outside of its domain": "yield st.set(ints={st.n + 2})",
    "value of a map outside of its domain": "yield st.set(p=st.p.add(i, st.n + 2))",
    "field of a record outside of its domain": "yield st.set(log=st.log.append(Entry(epoch=st.n * 2, who=i)))",
    "sequence past its capacity": "yield st.set(log=st.log.append(e(i)).append(e(i)).append(e(i)))",
    "list longer than its field": "yield st.set(log=[e(i), e(i), e(i)])",
    "message set past its capacity": "yield st.set(net=st.net.send(hi(i, 0)).send(hi(i, 1)).send(hi(i, 2)))",
    "messages sent together past the capacity": "yield st.set(net=st.net.send_all({hi(i, k) for k in range(0, 3)}))",
    "bag past its capacity": "yield st.set(bag=st.bag.add(hi(i, 0)).add(hi(i, 1)).add(hi(i, 2)))",
    "count past the largest": "yield st.set(bag=st.bag.add(hi(i, 0)).add(hi(i, 0)).add(hi(i, 0)))",
    "taking what is not there": "yield st.set(bag=st.bag.take(hi(i, 0)))",
    "None as a number": "yield st.set(n=max((k for k in st.ints), default=None) + 1)",
    "None as a key": "yield st.set(n=st.p[st.who])",
    "None stored where a server must be": "yield st.set(votes={st.who})",
    "a key that is missing": "yield st.set(n=st.p[i])",
    "a missing key that is changed": "yield st.set(p=st.p.set(i, 1))",
    "a key that is there already": "yield st.set(p=st.p.add(i, 1).add(i, 2))",
    "a key without": "yield st.set(p=st.p.without(i))",
    "a key with two values": "yield st.set(p={i: k for k in range(0, 2)})",
    "offset past the end": "yield st.set(n=st.log.at(1).epoch)",
    "prefix past the end": "yield st.set(log=st.log.upto(1))",
    "division by zero": "yield st.set(n=st.n // (st.n - 2))",
    "remainder of zero": "yield st.set(n=st.n % (st.n - 2))",
    "the largest of nothing": "yield st.set(n=max(st.ints))",
    "a pair of one member": "yield st.set(n=len(pair(i, i)))",
    "no fresh member": "yield st.set(who=Server.fresh(set(Server)))",
    "a Bool as a number": "yield st.set(n=st.n + (i in st.votes))",
    "a Bool compared with 1": "if (i in st.votes) == 1:\n        yield st",
    "an assert": "assert st.n < 2\n    yield st",
}
PROPERTIES = {
    "invariant": "@spec.invariant\ndef Fails(st):\n    return st.n < 2 or st.log.at(st.n).epoch == 1\n",
    "two invariants": "@spec.invariant\ndef One(st):\n    return st.n < 2 or st.p[st.who] == 1\n\n\n"
    "@spec.invariant\ndef Two(st):\n    return st.n < 2 or st.log.at(st.n).epoch == 1\n",
    "action property": "@spec.action_property\ndef Fails(st, nxt):\n    return st.n < 1 or nxt.p[st.who] == 1\n",
    "reachable property": "@spec.reachable\ndef fails(st):\n    return st.n == 2 and st.n // (st.n - 2) == 1\n",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What an engine says of a failure."""

    code: str
    message: str
    place: tuple[str, int, int, int, int]
    help: str | None
    notes: tuple[str, ...]
    trace: tuple[tuple[object, str], ...]


def told(result: Result) -> Told:
    """The failure of a result."""
    violation = result.violation
    assert violation is not None
    error = violation.error
    assert isinstance(error, KmcError)
    span = error.span
    assert span is not None
    place = span.path, span.line, span.column, span.end_line or 0, span.end_column or 0
    trace = tuple((step.state, step.label) for step in violation.trace.steps)
    return Told(error.code, error.message, place, error.help, error.notes, trace)


def compared(source: str, folder: Path) -> tuple[Told, Told]:
    """What the native engine and the interpreter say."""
    path = folder / "spec.py"
    path.write_text(IMPORTS + WORLD + "\n\n" + source, encoding="utf-8")
    model = bind_all(path, [parse_set("Server={s1, s2}")])
    return told(check_native(model, Limits(), threads=2)), told(Search(model).run())


@pytest.mark.parametrize("name", ACTIONS)
def test_a_check_in_an_action_gives_the_error_of_the_interpreter(name: str, tmp_path: Path) -> None:
    body = f"    if st.n < 2:\n        return\n    {ACTIONS[name]}\n"
    source = f"def e(i):\n    return Entry(epoch=1, who=i)\n\n\n@spec.action\ndef fail(st, i: Server):\n{body}"
    native, interpreted = compared(source, tmp_path)
    assert native == interpreted
    assert (len(native.trace), "while evaluating Fail(s1)" in native.notes) == (3, True)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_check_in_a_property_gives_the_error_of_the_interpreter(name: str, tmp_path: Path) -> None:
    native, interpreted = compared(PROPERTIES[name], tmp_path)
    assert native == interpreted


def test_a_check_that_fails_in_compiled_code_alone_is_a_mistake_of_kmc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(violation_report, "check_errors", lambda *_, **__: [])
    with pytest.raises(InternalError, match="fails where the interpreter finds no error") as caught:
        compared(PROPERTIES["invariant"], tmp_path)
    assert (caught.value.code, caught.value.help) == ("KMC921", "run with --engine python")


def test_a_level_that_does_not_lead_to_the_next_is_a_mistake_of_kmc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Predecessors, "of", lambda *_, **__: [])
    with pytest.raises(InternalError, match="no state of level 1 leads to a state of the next level") as caught:
        compared(PROPERTIES["invariant"], tmp_path)
    assert caught.value.code == "KMC922"


MANY = """
class State(Record):
    n: Int(0, 100_000)


@spec.init
def init():
    yield State(n=0)


@spec.action
def choose(st):
    if st.n == 0:
        for k in range(1, 100_001):
            yield st.set(n=k)
"""


def test_a_state_may_have_a_hundred_thousand_successors(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(IMPORTS + MANY, encoding="utf-8")
    model = replace(bind_all(path, []), deadlock=False)
    assert check_native(model, Limits()).levels == (1, 100_000)
