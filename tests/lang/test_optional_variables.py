"""An optional variable is left out where its integer has one value: a part of a spec that is off leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.errors import SpecError, TraceError
from kmc.spec.variables import decode_state, encode_state

PARTS = """
Server = constant("Server", IdentSet(), "The servers")
Most = constant("Most", Int(0, 3), "The largest version; 0: all servers have the same", 0)


class Node(Record):
    epoch: Int(1, 9)
    version: Int(0, Most)


class State(Record):
    servers: Map[Server, Node]
    upgrades: Int(0, Most)


spec.variables(
    {"epoch": "servers[].epoch", "version": "servers[].version?", "upgrades": "upgrades?"}
)


@spec.init
def init():
    yield State(servers={s: Node(epoch=3, version=Most) for s in Server}, upgrades=Most)


@spec.action
def stay(st):
    yield st
"""


def variables_of(folder: Path, most: int, source: str = PARTS) -> set[str]:
    """The names of the variables of the initial state, which reads back as the same state."""
    model = model_of(folder, source, f"CONSTANT Server = {{a, b}}\nMost = {most}\n")
    (state,) = model.spec.init()
    variables = encode_state(state, model.spec.variables)
    assert decode_state(variables, model.spec.state_class, model.spec.variables) == state
    return set(variables)


def test_a_part_that_is_off_has_no_variables(tmp_path: Path) -> None:
    assert variables_of(tmp_path, 0) == {"epoch"}


def test_a_part_that_is_on_has_them(tmp_path: Path) -> None:
    assert variables_of(tmp_path, 1) == {"epoch", "version", "upgrades"}


def test_other_variables_stay_even_with_one_value(tmp_path: Path) -> None:
    assert variables_of(tmp_path, 0, PARTS.replace("?", "")) == {"epoch", "version", "upgrades"}


def test_a_variable_of_a_part_that_is_off_is_not_read(tmp_path: Path) -> None:
    model = model_of(tmp_path, PARTS, "CONSTANT Server = {a, b}\n")
    (state,) = model.spec.init()
    given = {**encode_state(state, model.spec.variables), "upgrades": 0}
    with pytest.raises(TraceError, match="the spec has no variable 'upgrades'") as caught:
        decode_state(given, model.spec.state_class, model.spec.variables)
    assert caught.value.code == "KMC412"


def test_only_an_integer_can_be_left_out(tmp_path: Path) -> None:
    source = PARTS.replace("upgrades: Int(0, Most)", "upgrades: Bool").replace("upgrades=Most", "upgrades=False")
    with pytest.raises(SpecError, match="'upgrades' is not an integer, so it cannot be left out") as caught:
        variables_of(tmp_path, 0, source)
    assert caught.value.code == "KMC182"
