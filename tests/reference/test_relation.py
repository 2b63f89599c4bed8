"""The next-state relation: the steps of a state, their display order, and what an action that fails says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.specs.small import model_of

from kmc.actions.relation import AssertionFailure, NextStateRelation
from kmc.errors import EvaluationError
from kmc.reference.states.initial import initial_states

MAIL = """
Server = constant("Server", IdentSet(), "The servers")


class Mail(Message):
    source: Server
    dest: Server
    n: Int(0, 9)


class State(Record):
    n: Int(0, 9)
    seq: Seq[Int(0, 9), 2]
    net: MessageBag[Mail, 9, 2]


@spec.init
def init():
    a = Server.at(1)
    b = Server.at(2)
    yield State(n=0, seq=[7], net={Mail(source=a, dest=b, n=1): 1, Mail(source=b, dest=a, n=2): 1,
                                   Mail(source=a, dest=a, n=3): 0})


@spec.action
def count_up(st, s: Server, to: Int(1, 2)):
    if s == Server.at(1):
        yield st.set(n=to)


@spec.receive(Mail, to="dest", sender="source")
def read(st, m, to, sender):
    BODY
"""
CFG = "CONSTANT Server = {a, b}"


def relation_of(folder: Path, body: str) -> tuple[NextStateRelation, Any]:
    """The relation of the spec whose receiving action has this body, and its initial state."""
    source = MAIL.replace("BODY", body)
    model = model_of(folder, source, CFG)
    (state,) = initial_states(model)
    return NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files), state


def test_an_action_runs_for_all_arguments_and_a_receiving_one_for_all_messages(tmp_path: Path) -> None:
    relation, state = relation_of(tmp_path, "yield st.set(n=m.n + 2)")
    found = [(action.label(arguments), successor.n) for action, arguments, successor in relation.steps(state)]
    assert found[:2] == [("CountUp(a, 1)", 1), ("CountUp(a, 2)", 2)]
    assert sorted(found[2:]) == [("Read(a, b)", 4), ("Read(b, a)", 3)]


def test_steps_are_shown_by_successor_then_action_then_arguments(tmp_path: Path) -> None:
    relation, state = relation_of(tmp_path, "yield st.set(n=1)")
    shown = sorted(relation.steps(state), key=relation.display_key)
    assert [(successor.n, action.label(arguments)) for action, arguments, successor in shown] == [
        (1, "CountUp(a, 1)"),
        (1, "Read(a, b)"),
        (1, "Read(b, a)"),
        (2, "CountUp(a, 2)"),
    ]


def test_a_state_in_which_nothing_fails_has_no_errors(tmp_path: Path) -> None:
    relation, state = relation_of(tmp_path, "yield st")
    assert relation.errors(state) == []


FAILURES = {
    "no state": ("yield st.seq", EvaluationError, "KMC251"),
    "an assert": ("assert m.n > 9\n    yield st", AssertionFailure, "KMC290"),
    "an exception": ("yield st.set(n=st.seq.at(m.n + 1))", EvaluationError, "KMC221"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_step_of_a_receiving_action_that_fails_is_an_error_with_its_label(failure: str, tmp_path: Path) -> None:
    body, kind, code = FAILURES[failure]
    relation, state = relation_of(tmp_path, body)
    with pytest.raises(EvaluationError) as caught:
        list(relation.steps(state))
    assert (type(caught.value), caught.value.code) == (kind, code)
    assert caught.value.notes in {("while evaluating Read(a, b)",), ("while evaluating Read(b, a)",)}


@pytest.mark.parametrize("failure", FAILURES)
def test_every_instance_that_fails_is_among_the_errors_with_its_cause(failure: str, tmp_path: Path) -> None:
    body, kind, code = FAILURES[failure]
    relation, state = relation_of(tmp_path, body)
    errors = relation.errors(state)
    assert {(type(error), error.code) for error in errors} == {(kind, code)}
    assert sorted(error.notes for error in errors) == [
        ("while evaluating Read(a, b)",),
        ("while evaluating Read(b, a)",),
    ]
    assert all(error.__cause__ is not None for error in errors)


def test_what_is_not_a_state_is_refused_at_its_yield(tmp_path: Path) -> None:
    relation, state = relation_of(tmp_path, "yield st.seq")
    with pytest.raises(EvaluationError) as caught:
        list(relation.steps(state))
    error = caught.value
    assert error.message == "Read yields a sequence, not a State"
    assert error.help == "yield the whole next state: yield st.set(...)"
    assert error.span is not None
    assert (error.span.source_line() or "").strip() == "yield st.seq"
