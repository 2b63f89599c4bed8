"""A state that is read from elsewhere may lack a variable whose integer has one value; every other must be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.small_specs import model_of

from kmc.errors import TraceError
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
    {"epoch": "servers[].epoch", "version": "servers[].version", "upgrades": "upgrades"}
)


@spec.init
def init():
    yield State(servers={s: Node(epoch=3, version=Most) for s in Server}, upgrades=Most)


@spec.action
def stay(st):
    yield st
"""


def state_without(folder: Path, most: int, *left_out: str) -> tuple[Any, Any]:
    """The initial state of PARTS, and the state that is read from its variables without those that are left out."""
    model = model_of(folder, PARTS, f"CONSTANT Server = {{a, b}}\nMost = {most}\n")
    (state,) = model.spec.init()
    variables = encode_state(state, model.spec.variables)
    given = {name: value for name, value in variables.items() if name not in left_out}
    return state, decode_state(given, model.spec.state_class, model.spec.variables)


@pytest.mark.parametrize("left_out", [(), ("version",), ("upgrades",), ("version", "upgrades")])
def test_a_part_that_is_off_needs_no_variables(tmp_path: Path, left_out: tuple[str, ...]) -> None:
    state, read = state_without(tmp_path, 0, *left_out)
    assert read == state


@pytest.mark.parametrize("left_out", ["version", "upgrades"])
def test_a_part_that_is_on_needs_them(tmp_path: Path, left_out: str) -> None:
    with pytest.raises(TraceError, match=f"variable '{left_out}' is missing") as caught:
        state_without(tmp_path, 1, left_out)
    assert caught.value.code == "KMC413"


def test_an_integer_with_several_values_is_needed_even_if_others_have_one(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="variable 'epoch' is missing"):
        state_without(tmp_path, 0, "epoch")


def test_a_map_needs_one_of_its_variables(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="variable 'epoch' is missing"):
        state_without(tmp_path, 0, "epoch", "version", "upgrades")
