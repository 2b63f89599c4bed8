"""A constant that is an operator is the function that the model names, in both engines."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.checking.model_text import constants_text
from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.result import Limits

# docs/language.md has it as a module, but for Draw; the counts below are those that TLC gives.
TICKETS = """
from kmc.lang import Operator

Client = constant("Client", IdentSet(symmetric=True), "Who draws a ticket")


def lower(a, b):
    return a < b


def higher(a, b):
    return a > b


def drawn(ticket, most):
    for n in range(1, most + 1):
        if n != ticket:
            yield n


def one(ticket, most):
    yield most


Before = constant("Before", Operator(2), "Which of two tickets is served first", default=lower)
Draw = constant("Draw", Operator(2), "Which tickets may be drawn", default=drawn)


class State(Record):
    ticket: Map[Client, Int(0, 3)]
    served: Int(0, 3)


@spec.init
def init():
    yield State(ticket={c: 0 for c in Client}, served=0)


@spec.action
def take(st, c: Client):
    if st.ticket[c] == 0:
        for n in Draw(0, 3):
            yield st.set(ticket=st.ticket.set(c, n))


@spec.action
def serve(st, c: Client):
    mine = st.ticket[c]
    if mine != 0 and all(st.ticket[d] == 0 or not Before(st.ticket[d], mine) for d in Client):
        yield st.set(served=mine, ticket=st.ticket.set(c, 0))


@spec.invariant
def InOrder(st):
    return all(st.ticket[c] == 0 or not Before(st.ticket[c], st.served) or st.served == 0 for c in Client)


spec.symmetry("clients", Client)
"""
CLIENTS = "CONSTANT Client = {a, b} CHECK_DEADLOCK FALSE"


def counts(model: Model) -> tuple[int, int]:
    """The states generated and distinct, the same in both engines."""
    results = [Search(model, view_order=fingerprint_order).run(), check_native(model, Limits())]
    (found,) = {(result.counters.generated, result.counters.distinct, result.verdict) for result in results}
    return found[:2]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("CONSTANT Before <- Higher", (169, 64)),
        ("CONSTANT Before <- higher", (169, 64)),
        ("CONSTANT Before <- Higher Draw <- One", (17, 8)),
        ("", (169, 64)),
        ("CONSTANT Before <- Higher SYMMETRY clients", (109, 40)),
    ],
)
def test_a_model_names_the_operator(tmp_path: Path, given: str, expected: tuple[int, int]) -> None:
    assert counts(model_of(tmp_path, TICKETS, f"{CLIENTS} {given}")) == expected


@pytest.mark.parametrize(
    ("operator", "code"),
    [("    return Before(b, a)", "KMC186"), ("    require(a < 3)\n    return a > b", "KMC136")],
)
def test_what_an_operator_may_do_is_checked_where_its_constant_is_used(
    tmp_path: Path, operator: str, code: str
) -> None:
    source = TICKETS.replace("    return a > b", operator)
    with pytest.raises(SpecError) as caught:
        model_of(tmp_path, source, f"{CLIENTS} INVARIANT InOrder")
    assert caught.value.code == code


def test_constants_are_shown_by_name(tmp_path: Path) -> None:
    model = model_of(tmp_path, TICKETS, f"{CLIENTS} CONSTANT Before <- Higher")
    assert constants_text(model.spec) == "Client = { a, b }, Before = Higher, Draw = drawn (default)"
