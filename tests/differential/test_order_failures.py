"""A failure that occurs in one order of elements only is the author's mistake, never one of kmc.

A quantifier stops at the first element that decides; whether another, whose turn fails, comes before depends on the
state that stands for an orbit, or on how a set lies in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.errors import EvaluationError, InvariantError, KmcError
from kmc.frontend.model import Model
from kmc.reference.diagnose import check_errors
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.reference.states.order_dependence import order_dependent
from kmc.result import Limits, Verdict

ONE_KEPT = """
Server = constant("Server", IdentSet(symmetric=True), "Who")


class State(Record):
    held: Map[Server, Opt[Int(0, 1)]]


@spec.init
def init():
    for k in PLACES:
        yield State(held={s: 1 if s == Server.at(k) else 0 for s in Server})


@spec.action
def clear(st, i: Server):
    if st.held[i] == CLEARED:
        yield st.set(held=st.held.set(i, None))


@spec.action
def ask(st):
    require(ASKED)  # in an action
    yield st


def decided(value):
    return value + 0 == 1 - CLEARED


@spec.invariant
def Inv(st):
    return any(  # in an invariant
        decided(st.held[s])
        for s in Server
    )


@spec.constraint
def Con(st):
    return any(decided(st.held[s]) for s in Server)  # in a constraint


@spec.action_property
def Tra(st, nxt):
    return any(decided(nxt.held[s]) for s in Server)  # in an action property


spec.symmetry("servers", Server)
"""
"""The turn of a server whose number was cleared fails; in the state (1, 0, None) another decides before it."""

SETS = """
Server = constant("Server", IdentSet(), "Who")


class State(Record):
    some: Set[Server]
    held: Map[Server, Opt[Int(0, 1)]]


@spec.init
def init():
    yield State(some=set(), held={s: 1 for s in Server})


@spec.action
def put(st, i: Server, kept: Bool):
    yield st.set(some=st.some | {i}, held=st.held if kept else st.held.set(i, None))


@spec.invariant
def Inv(st):
    return len(st.some) < 2 or any(st.held[s] + 0 == 1 for s in st.some)
"""
"""The elements of `some` come in some order."""

IN = {
    "an invariant": "INVARIANT Inv",
    "a constraint": "CONSTRAINT Con",
    "an action property": "PROPERTY Tra",
    "an action": "",
}


def kept_one(folder: Path, place: str, places: str = "(1,)", cleared: str = "0") -> Model:
    """The first spec, failing at a place."""
    asked = "any(decided(st.held[s]) for s in Server)" if place == "an action" else "True"
    source = ONE_KEPT.replace("PLACES", places).replace("ASKED", asked).replace("CLEARED", cleared)
    cfg = f"CONSTANT Server = {{s1, s2, s3}} SYMMETRY servers CHECK_DEADLOCK FALSE {IN[place]}"
    return model_of(folder, source, cfg)


@pytest.mark.parametrize("place", IN)
def test_a_failure_in_one_order_of_members_names_the_quantifier(place: str, tmp_path: Path) -> None:
    with pytest.raises(KmcError) as caught:
        check_native(kept_one(tmp_path, place), Limits())
    error = caught.value
    assert (error.code, type(error)) == (
        "KMC262",
        EvaluationError if place in ("a constraint", "an action") else InvariantError,
    )
    assert error.message == (
        "whether this fails depends on the order of the members of a symmetric type, and they have none"
    )
    assert error.span is not None
    assert f"# in {place}" in (error.span.source_line() or "")
    assert error.notes[0].startswith("in some order: '+' has no meaning for None and a number (line ")


@pytest.mark.parametrize("place", IN)
def test_the_interpreter_blames_the_order_when_its_trace_ends_in_another(place: str, tmp_path: Path) -> None:
    model = kept_one(tmp_path, place, places="(1, 3)", cleared="1")
    with pytest.raises(KmcError) as caught:
        Search(model).run()
    assert caught.value.code == "KMC262"


def test_engines_agree_once_no_turn_fails(tmp_path: Path) -> None:
    source = ONE_KEPT.replace("value + 0", "value is not None and value")
    (tmp_path / "mended").mkdir()
    source = source.replace("PLACES", "(1,)").replace("ASKED", "True").replace("CLEARED", "0")
    cfg = "CONSTANT Server = {s1, s2, s3} SYMMETRY servers CHECK_DEADLOCK FALSE INVARIANT Inv CONSTRAINT Con"
    model = model_of(tmp_path / "mended", source, cfg)
    assert (Search(model).run().verdict, check_native(model, Limits()).verdict) == (Verdict.OK, Verdict.OK)


def test_a_set_has_no_order_either(tmp_path: Path) -> None:
    model = model_of(tmp_path, SETS, "CONSTANT Server = {s1, s2} INVARIANT Inv")
    search = Search(model, keep_going=True)
    search.run()
    half = [state for state in search.graph.states if len(state.some) == 2 and set(state.held.values()) == {1, None}]
    silent = [state for state in half if not errors_of(model, state)]
    assert len(silent) == 1, "of two states that differ by the order of their members alone"
    found = order_dependent(model, silent[0], lambda state: errors_of(model, state))
    assert found is not None
    assert found.message == "whether this fails depends on the order of the elements of a set, and they have none"


def test_engines_that_take_a_set_in_different_orders_are_not_held_to_be_wrong(tmp_path: Path) -> None:
    # The interpreter takes a set in an order of its own run; that it is that of the kernels for all five is rare.
    model = model_of(tmp_path, SETS, "CONSTANT Server = {s1, s2, s3, s4, s5} INVARIANT Inv")
    try:
        assert check_native(model, Limits()).verdict is Verdict.ERROR
    except InvariantError as error:
        assert error.code == "KMC262"  # noqa: PT017  # either way of ending is right


def test_what_fails_in_no_order_is_not_blamed_on_one(tmp_path: Path) -> None:
    model = model_of(tmp_path, SETS, "CONSTANT Server = {s1, s2} INVARIANT Inv")
    state = initial_states(model)[0]
    assert order_dependent(model, state, lambda state: errors_of(model, state)) is None


def errors_of(model: Model, state: Any) -> list[KmcError]:
    """The errors of the invariants in a state."""
    return check_errors(model, state, witnessed=())
