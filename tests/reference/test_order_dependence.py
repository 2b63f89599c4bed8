"""A failure that depends on an order that the spec leaves open: how it is found, and what the author is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.errors import EvaluationError, InvariantError, KmcError
from kmc.frontend.model import Model
from kmc.lang.seqs import seq_literal
from kmc.reference.diagnose import check_errors, initial_errors
from kmc.reference.states.order_dependence import every_turn, of_order, order_dependent

SOURCE = """
Client = constant("Client", IdentSet(symmetric=True), "Who")


class State(Record):
    seq: Seq[Int(0, 9), 3]


@spec.init
def init():
    yield State(seq=[5])


@spec.action
def stay(st):
    yield st


spec.symmetry("clients", Client)


@spec.invariant
def SomeIsPositive(st):
    return any(st.seq.at(n) > 0 for n in {1, 2})


@spec.invariant
def AllAreZero(st):
    return all(st.seq.at(n) == 0 for n in {1, 3})


@spec.invariant
def Holds(st):
    return len(st.seq) == 1


@spec.constraint
def SmallOrShort(st):
    return any(st.seq.at(n) < 9 for n in {1, 2})
"""
CFG = "CONSTANT Client = {a, b} "


def dependent(model: Model) -> KmcError | None:
    """The error of the invariants of the only state in some order."""
    state = model.spec.state_class(seq=seq_literal([5]))
    assert check_errors(model, state, witnessed=()) == []
    return order_dependent(model, state, lambda state: check_errors(model, state, witnessed=()))


@pytest.mark.parametrize(
    ("invariant", "quantifier", "offset"),
    [
        ("SomeIsPositive", "any(st.seq.at(n) > 0 for n in {1, 2})", 2),
        ("AllAreZero", "all(st.seq.at(n) == 0 for n in {1, 3})", 3),
    ],
)
def test_a_quantifier_that_fails_in_another_order_is_an_error_at_its_place(
    invariant: str, quantifier: str, offset: int, tmp_path: Path
) -> None:
    error = dependent(model_of(tmp_path, SOURCE, f"{CFG} INVARIANT {invariant}"))
    assert isinstance(error, InvariantError)
    assert (error.code, error.message) == (
        "KMC262",
        "whether this fails depends on the order of the elements of a set, and they have none",
    )
    assert error.span is not None
    assert error.span.end_column is not None
    assert (error.span.source_line() or "")[error.span.column - 1 : error.span.end_column - 1] == quantifier
    assert error.notes == (
        f"in some order: 'st.seq' has no offset {offset}, only 1..1 (line {error.span.line})",
        f"while evaluating {invariant}",
    )


def test_of_several_errors_the_least_is_told(tmp_path: Path) -> None:
    error = dependent(model_of(tmp_path, SOURCE, f"{CFG} INVARIANTS AllAreZero SomeIsPositive"))
    assert error is not None
    assert error.notes[-1] == "while evaluating SomeIsPositive"


def test_what_holds_in_every_order_gives_none(tmp_path: Path) -> None:
    assert dependent(model_of(tmp_path, SOURCE, f"{CFG} INVARIANT Holds")) is None


def test_a_constraint_is_an_error_of_the_spec_and_not_of_an_invariant(tmp_path: Path) -> None:
    model = model_of(tmp_path, SOURCE, f"{CFG} CONSTRAINT SmallOrShort")
    state = model.spec.state_class(seq=seq_literal([5]))
    error = order_dependent(model, state, lambda state: initial_errors(model, state))
    assert type(error) is EvaluationError


def test_quantifiers_stop_early_again_afterwards(tmp_path: Path) -> None:
    model = model_of(tmp_path, SOURCE, f"{CFG} INVARIANTS SomeIsPositive AllAreZero")
    state = model.spec.state_class(seq=seq_literal([5]))
    found: list[KmcError] = []

    def evaluate_and_fail() -> None:
        with every_turn(model):
            found.extend(check_errors(model, state, witnessed=()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_and_fail()
    assert len(found) == 2
    assert check_errors(model, state, witnessed=()) == []


@pytest.mark.parametrize(
    ("symmetry", "order", "help"),
    [
        ("", "the elements of a set", "test what an element needs in its own condition"),
        (
            "SYMMETRY clients",
            "the members of a symmetric type",
            "test what an element needs in its own condition; without symmetry, kmc can show a trace",
        ),
    ],
)
def test_with_symmetry_the_order_may_be_that_of_its_members(
    symmetry: str, order: str, help: str, tmp_path: Path
) -> None:
    model = model_of(tmp_path, SOURCE, CFG + symmetry)
    error = of_order(model, EvaluationError("KMC221", "no such offset"))
    assert f"the order of {order}," in error.message
    assert error.help == f"make the condition evaluable for every element: {help}"
    assert (error.span, error.notes) == (None, ("in some order: no such offset",))
