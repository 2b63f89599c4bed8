"""A model of a spec: what its file chooses, what it has where the file is silent, and what its digest tells apart."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.specs.small import BALLOT, COUNTER, model_of

from kmc.frontend.binding import without_properties
from kmc.frontend.model import Model

BOUND = "CONSTANTS Server = {a, b} "
ALL = """
INVARIANT Below
PROPERTY SmallSteps
CONSTRAINT Small
ACTION_CONSTRAINT NotTwice
SYMMETRY servers
VIEW forgetful
"""


def ballot(folder: Path, sections: str = "", constants: str = BOUND, source: str = BALLOT) -> Model:
    """The model of BALLOT with these sections."""
    return model_of(folder, source, f"{constants}\n{sections}")


def test_a_model_has_what_its_file_chooses(tmp_path: Path) -> None:
    model = ballot(tmp_path, ALL)
    chosen = (model.invariants, model.action_properties, model.constraints, model.action_constraints, model.symmetry)
    assert [[found.name for found in kind] for kind in chosen] == [
        ["Below"],
        ["SmallSteps"],
        ["Small"],
        ["NotTwice"],
        ["servers"],
    ]
    assert model.view is not None
    assert (model.view.name, model.view.dropped) == ("forgetful", frozenset(["last", "messages"]))


@pytest.mark.parametrize(
    ("sections", "checked"), [("", True), ("CHECK_DEADLOCK TRUE", True), ("CHECK_DEADLOCK FALSE", False)]
)
def test_deadlock_is_checked_unless_the_file_says_no(sections: str, checked: bool, tmp_path: Path) -> None:
    assert model_of(tmp_path, COUNTER, sections).deadlock is checked


def test_a_model_without_properties_has_the_steps_and_checks_nothing(tmp_path: Path) -> None:
    model = ballot(tmp_path, ALL, source=f"{BALLOT}\n\n@spec.reachable\ndef Voted(st):\n    return st.total > 0\n")
    assert [found.name for found in model.reachable] == ["Voted"]
    bare = without_properties(model.spec)
    assert bare.spec is model.spec
    kinds = (bare.invariants, bare.action_properties, bare.constraints, bare.action_constraints, bare.reachable)
    assert (kinds, bare.symmetry, bare.view, bare.deadlock) == (((),) * 5, (), None, False)


def test_the_digest_is_the_same_for_the_same_model(tmp_path: Path) -> None:
    commented = "# Only a comment.\n" + BALLOT
    assert ballot(tmp_path / "one", ALL).digest == ballot(tmp_path / "two", ALL, source=commented).digest


@pytest.mark.parametrize(
    ("sections", "constants", "source"),
    [
        *((ALL.replace(line, ""), BOUND, BALLOT) for line in ALL.strip().splitlines()),
        (ALL.replace("Below", "NoThreeFromOne"), BOUND, BALLOT),
        (ALL + "CHECK_DEADLOCK FALSE", BOUND, BALLOT),
        (ALL, "CONSTANTS Server = {a, c}", BALLOT),
        (ALL, "CONSTANTS Server = {a, b, c}", BALLOT),
        (ALL, BOUND + "TrustOne = 39", BALLOT),
        (ALL, BOUND + "TrustTwo = 39", BALLOT),
        (ALL, BOUND, BALLOT.replace("st.total < 4", "st.total < 5")),
    ],
)
def test_the_digest_tells_models_apart(sections: str, constants: str, source: str, tmp_path: Path) -> None:
    other = ballot(tmp_path / "other", sections, constants, source)
    assert ballot(tmp_path / "one", ALL).digest != other.digest


def test_a_loaded_spec_leaves_nothing_in_the_import_system(tmp_path: Path) -> None:
    before = (list(sys.meta_path), {name for name in sys.modules if "spec" in name})
    ballot(tmp_path)
    assert (list(sys.meta_path), {name for name in sys.modules if "spec" in name}) == before


TWO_NETWORKS = """
Server = constant("Server", IdentSet(), "Who votes")

class Vote(Message):
    source: Server
    dest: Server

class Ack(Message):
    source: Server
    dest: Server

class State(Record):
    acks: MessageBag[Ack, 2, 2]
    votes: MessageSet[Vote, 2]

@spec.init
def init():
    yield State(acks={}, votes=set())

@spec.receive(Vote)
def count_vote(st, m):
    yield st
"""


def test_a_message_is_received_from_the_first_network_that_holds_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, TWO_NETWORKS, "CONSTANTS Server = {a, b}")
    assert [action.network for action in model.spec.actions] == ["votes"]
