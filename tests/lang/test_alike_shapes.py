"""Records of two classes with the same fields make different states, so traces and files tell them apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.process_kinds import violation_of
from support.specs.small import model_of
from support.views.read_back import file_of, told_in_every_view

from kmc.frontend.model import Model
from kmc.spec.variables import decode_state
from kmc.trace.files import resolved
from kmc.trace.itf import itf_text, parse_itf
from kmc.trace.tlc_json import parse_tlc_json, tlc_json_text

ALIKE = """
Server = constant("Server", IdentSet(), "Who prepares and commits")


class Ballot(Record, abstract=True):
    number: Int(0, 1)


class Prepare(Ballot):
    who: Server


class Commit(Ballot):
    who: Server


class Ack(Record):
    text: Opt[Server]


class Nack(Record):
    text: Bool


class Alone(Record):
    text: Bool
    last: Prepare | Commit | None


class State(Record):
    FIELD


@spec.init
def init():
    yield State(FIRST)


@spec.action
def go(st, s: Server):
    yield st.set(SECOND)


@spec.action
def go_on(st, s: Server):
    if st == State(FIRST):
        return
    yield st.set(THIRD)


@spec.invariant
def NeverThird(st):
    return st != State(THIRD)
"""
PREPARED, COMMITTED = (f"{name}(number=1, who=Server.at(1))" for name in ("Prepare", "Commit"))
PLACES = {
    "a union": ("it: Prepare | Commit | None", "it=None", f"it={PREPARED}", f"it={COMMITTED}"),
    "a base": ("it: Opt[Ballot]", "it=None", f"it={PREPARED}", f"it={COMMITTED}"),
    "fields of other types": ("it: Ack | Nack | None", "it=None", "it=Ack(text=None)", "it=Nack(text=True)"),
    "a network": (
        "it: MessageSet[Prepare | Commit]",
        "it=set()",
        f"it={{{PREPARED}}}",
        f"it={{{COMMITTED}, {PREPARED}}}",
    ),
    "a map": (
        "it: Map[Server, Opt[Ballot]]",
        "it={s: None for s in Server}",
        f"it={{s: {PREPARED} for s in Server}}",
        f"it={{s: {COMMITTED} for s in Server}}",
    ),
    "a field of a record": (
        "it: Opt[Alone]",
        "it=None",
        f"it=Alone(text=True, last={PREPARED})",
        f"it=Alone(text=True, last={COMMITTED})",
    ),
    "a sequence": ("it: Seq[Ballot, 2]", "it=[]", f"it=[{PREPARED}]", f"it=[{COMMITTED}]"),
}


def alike(place: str, folder: Path) -> Model:
    """A model whose third state differs from its second by the class of a record, or by one such record."""
    source = ALIKE
    for name, value in zip(("FIELD", "FIRST", "SECOND", "THIRD"), PLACES[place], strict=True):
        source = source.replace(name, value)
    return model_of(folder, source, "CONSTANT Server = {a}\nINVARIANT NeverThird")


@pytest.mark.parametrize("place", PLACES)
def test_a_trace_tells_classes_with_the_same_fields_apart(place: str, tmp_path: Path) -> None:
    model = alike(place, tmp_path)
    violation = violation_of(model)
    story = told_in_every_view(model, violation)
    assert len(story.steps) == 3
    assert all(step.changes for step in story.steps[1:])
    states = [step.state for step in violation.trace.steps]
    file, spec = file_of(model, violation), model.spec
    for written in (parse_itf(itf_text(file)), parse_tlc_json(tlc_json_text(file))):
        read = resolved(written, spec).steps
        assert [decode_state(step.variables, spec.state_class, spec.variables) for step in read] == states


TAGGED = """
Server = constant("Server", IdentSet(), "Who sends")


class Ping(BASE):
    type: Int(0, 1)
    source: Server
    dest: Server


class Pong(BASE):
    type: Int(0, 1)
    source: Server
    dest: Server


class State(Record):
    net: MessageSet[Ping | Pong]


@spec.init
def init():
    yield State(net=set())


@spec.action
def send(st, s: Server):
    ping = Ping(type=1, source=s, dest=s)
    yield st.set(net=st.net.send(Pong(type=1, source=s, dest=s) if ping in st.net else ping))


@spec.invariant
def Few(st):
    return len(st.net) < 2
"""


@pytest.mark.parametrize("base", ["Message", "Record"])
def test_a_field_with_the_name_of_the_tag_is_written_beside_the_type(base: str, tmp_path: Path) -> None:
    source = TAGGED.replace("BASE", base)
    model = model_of(tmp_path, source, "CONSTANT Server = {a}\nINVARIANT Few")
    violation = violation_of(model)
    told_in_every_view(model, violation)
    file, spec = file_of(model, violation), model.spec
    assert '"tag": "Pong", "type": {' in itf_text(file)
    for written in (parse_itf(itf_text(file)), parse_tlc_json(tlc_json_text(file))):
        read = resolved(written, spec).steps
        states = [decode_state(step.variables, spec.state_class, spec.variables) for step in read]
        assert states == [step.state for step in violation.trace.steps]


def test_a_class_that_no_other_stands_for_is_written_by_its_fields_alone(tmp_path: Path) -> None:
    model = alike("a field of a record", tmp_path)
    (names,) = model.spec.modules.values()
    written = {name: names[name].written_type for name in ("Prepare", "Commit", "Alone", "Ack", "Nack")}
    assert written == {"Prepare": "Prepare", "Commit": "Commit", "Alone": None, "Ack": None, "Nack": None}


def test_a_trace_of_before_types_were_written_is_read(tmp_path: Path) -> None:
    model = alike("a union", tmp_path)
    spec = model.spec
    text = itf_text(file_of(model, violation_of(model))).replace('"type": "Prepare", ', "")
    second = resolved(parse_itf(text), spec).steps[1]
    (names,) = spec.modules.values()
    prepared = names["Prepare"](number=1, who=names["Server"].at(1))
    assert decode_state(second.variables, spec.state_class, spec.variables).it == prepared
