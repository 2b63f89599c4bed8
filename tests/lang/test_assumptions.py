"""What a spec assumes about its constants, and how its initial states name identifiers by their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.errors import AssumptionError, EvaluationError, ExitStatus, KmcError, ModelError
from kmc.frontend.loader import Spec, load_spec
from kmc.model_files.value_text import parse_set

SPEC = """
from kmc.lang import IdentSet, Int, Map, Record, constant
from kmc.spec import spec

Server = constant("Server", IdentSet(), "The servers")
Least = constant("Least", Int(1, 9), "At least")
Most = constant("Most", Int(1, 9), "At most")
spec.assume(Least <= Most)
spec.assume(len(Server) <= Most)

class State(Record):
    role: Map[Server, Int(0, 1)]

@spec.init
def init():
    first = Server.at({number})
    yield State(role={{s: 1 if s == first else 0 for s in Server}})

@spec.action
def stay(st):
    yield st
"""


def load(folder: Path, least: int, most: int, number: int = 1) -> Spec:
    """The spec with these constants."""
    path = folder / "small.py"
    path.write_text(SPEC.format(number=number), encoding="utf-8")
    return load_spec(path, [parse_set(f"Least={least}"), parse_set(f"Most={most}"), parse_set("Server={a, b}")])


def refusal(folder: Path, least: int, most: int) -> KmcError:
    """The error that these constants give."""
    with pytest.raises(KmcError) as caught:
        load(folder, least, most)
    return caught.value


def test_constants_that_keep_the_assumptions_load(tmp_path: Path) -> None:
    assert load(tmp_path, 2, 2).constants["Most"].value == 2


def test_a_false_assumption_is_an_error_of_the_model_at_its_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, 3, 2)
    assert (type(error), error.code, error.span and error.span.line) == (AssumptionError, "KMC351", 8)


def test_every_assumption_is_checked(tmp_path: Path) -> None:
    error = refusal(tmp_path, 1, 1)
    assert error.span is not None
    assert error.span.line == 9


def test_a_false_assumption_ends_with_the_status_that_tlc_gives_it(tmp_path: Path) -> None:
    assert refusal(tmp_path, 3, 2).exit_status is ExitStatus.ASSUMPTION


def test_a_missing_constant_is_reported_before_an_assumption_about_its_stand_in(tmp_path: Path) -> None:
    load(tmp_path, 2, 2)
    with pytest.raises(ModelError) as caught:
        load_spec(tmp_path / "small.py", [parse_set("Least=3"), parse_set("Server={a, b}")])
    assert caught.value.code == "KMC344"


def test_identifiers_are_numbered_from_one_in_the_order_of_the_model(tmp_path: Path) -> None:
    spec = load(tmp_path, 2, 2, number=2)
    (state,) = spec.init()
    assert {server.title: role for server, role in state.role.items()} == {"a": 0, "b": 1}


@pytest.mark.parametrize("number", [0, 3])
def test_a_number_without_an_identifier_is_an_error(tmp_path: Path, number: int) -> None:
    with pytest.raises(EvaluationError, match="no member number"):
        list(load(tmp_path, 2, 2, number=number).init())
