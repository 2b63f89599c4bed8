"""Successors with changed networks are those of the interpreter, and successors that do not fit are asked for again."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.drawing.states import random_state
from support.oracles.steps import Kernels, differences, noise, padded
from support.specs.small import model_of

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.model_kernels import build_kernels
from kmc.compiler.successor.writer import SLACK
from kmc.frontend.model import Model
from kmc.reference.states.initial import initial_states
from kmc.runtime.codec import encode_row

SOURCE = """
Server = constant("Server", IdentSet(), "Who")


class Hi(Message):
    source: Server
    dest: Server
    n: Int(0, 3)


class Log(Message):
    source: Server
    dest: Server
    entries: Seq[Int(0, 1000), 7]


class State(Record):
    n: Int(0, 3)
    first: MessageSet[Hi, 12]
    wide: MessageSet[Hi | Log, 12]
    bag: MessageBag[Hi, 12, 9]
    last: MessageSet[Hi, 12]


def hi(s, n):
    return Hi(source=s, dest=s, n=n)


@spec.init
def init():
    yield State(n=0, first=set(), wide=set(), bag={}, last=set())


@spec.action
def change(st, s: Server):
    BODY
"""
BODIES = {
    "nothing": "yield st.set(n=3 - st.n)",
    "a message of each": "yield st.set(first=st.first.send(hi(s, st.n)), wide=st.wide.send(hi(s, 0)), "
    "bag=st.bag.add(hi(s, 1)), last=st.last.send(hi(s, 2)))",
    "a wide message": "yield st.set(wide=st.wide.send(Log(source=s, dest=s, entries=[st.n, 7])))",
    "what is kept": "yield st.set(first=st.first.keep(lambda m: m.n > st.n))",
    "what is kept of each": "yield st.set(first=st.first.keep(lambda m: m.n > st.n), "
    "wide=st.wide.keep(lambda m: m.source == s), last=st.last.keep(lambda m: m.n == 1 and m.dest == s))",
    "what is kept, and one more": "yield st.set(wide=st.wide.keep(lambda m: isinstance(m, Log)).send(hi(s, st.n)))",
    "what is kept, one less, one more": "yield st.set(first=st.first.keep(lambda m: m.n != st.n)"
    ".discard(hi(s, 1)).send(hi(s, 3)))",
    "kept in the middle": "yield st.set(first=st.first.send(hi(s, 0)), wide=st.wide.keep(lambda m: m.source != s), "
    "last=st.last.discard(hi(s, 2)))",
    "one less": "yield st.set(first=st.first.discard(hi(s, st.n)))",
    "two less": "yield st.set(last=st.last.discard(hi(s, st.n)).discard(hi(s, 0)))",
    "more, less and more": "yield st.set(first=st.first.send(hi(s, 1)).discard(hi(s, 0)).send(hi(s, 2)))",
    "less, more and the same less": "yield st.set(first=st.first.discard(hi(s, 0)).send(hi(s, 1)).discard(hi(s, 1)))",
    "more, more and less": "yield st.set(first=st.first.send(hi(s, 0)).send(hi(s, 3)).discard(hi(s, st.n)))",
    "a message for everybody": "yield st.set(first=st.first.send_all({hi(t, st.n) for t in Server}).discard(hi(s, 0)))",
    "messages beside wide ones": "yield st.set(wide=st.wide.send_all({hi(t, 1) for t in Server}))",
    "all gone": "yield st.set(first=set(), last=st.last.send(hi(s, st.n)))",
    "all gone but one": "yield st.set(first={hi(s, st.n)}, wide=set(), bag=st.bag.add(hi(s, 0)))",
    "one delivered": "for m in st.first.of(Hi):\n        yield st.set(first=st.first.discard(m), n=m.n)",
    "one delivered and answered": "for m in st.wide.of(Hi):\n"
    "        yield st.set(wide=st.wide.discard(m).send(hi(m.dest, st.n)), last=st.last.discard(m).send(hi(s, 0)))",
    "one delivered from a bag": "for m in st.bag.of(Hi):\n        yield st.set(bag=st.bag.take(m).add(hi(s, st.n)))",
}


def states_of(model: Model) -> list[Any]:
    """Random states, the same in every run."""
    chance = Random(1)
    return [*initial_states(model), *(random_state(model, chance) for _ in range(40))]


def compiled(folder: Path, body: str) -> Kernels:
    """The kernels of the spec with this action."""
    model = model_of(folder, SOURCE.replace("BODY", body), "CONSTANT Server = {a, b, c} CHECK_DEADLOCK FALSE")
    return Kernels(model, emit_python(build_kernels(model).module).call)


@pytest.mark.slow
@pytest.mark.parametrize("title", BODIES)
def test_networks_are_changed_as_in_the_interpreter(title: str, tmp_path: Path) -> None:
    kernels = compiled(tmp_path, BODIES[title])
    assert list(differences(kernels, states_of(kernels.model)))[:2] == []


def test_expand_says_when_its_successors_do_not_fit(tmp_path: Path) -> None:
    kernels = compiled(tmp_path, BODIES["a wide message"])
    row = encode_row(next(iter(initial_states(kernels.model))))
    words = sum(2 + len(successor.row) for successor in kernels.expand(row) or [])
    answers = []
    for limit in (0, 1, 3, words, SLACK, SLACK + 10, SLACK + words, SLACK + 2 * words):
        out = noise(limit + words + 50)[:]
        found = kernels.call("expand", [(padded(row), 0), (out, 0)], (limit,))
        answers.append(found - (1 << 64) if found >> 63 else found)
        assert out[limit:] == noise(limit + words + 50)[limit:]
    assert answers == [-1] * 6 + [3] * 2


PLAIN = """
class Part(Record):
    k: Int(0, 7)
    of: Set[Int(0, 3)]


class State(Record):
    x: Int(0, 3)
    y: Opt[Int(0, 3)]
    part: Part


@spec.init
def init():
    yield State(x=0, y=None, part=Part(k=0, of=set()))


def changed(st):
    if st.x == 0:
        return st.set(x=1, part=st.part.set(k=3))
    if st.y is None:
        return st.set(y=st.x)
    return st.set(x=0)


@spec.action
def change(st):
    yield BODY
"""


@pytest.mark.parametrize(
    "body",
    [
        "changed(st)",
        "changed(st).set(y=2)",
        "changed(st).set(x=3).set(y=None)",
        "changed(changed(st))",
        "(st.set(x=1) if st.y is None else st).set(part=st.part.set(of={1}))",
    ],
)
def test_states_that_branches_give_are_written_whole(body: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, PLAIN.replace("BODY", body), "CHECK_DEADLOCK FALSE")
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, states_of(model)))[:2] == []
