"""Faults that are planted into sets that are stored as lists: each makes compiled code differ from the interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.faults.set_models import World, first_difference, world_of
from support.oracles.results import told
from support.specs.small import model_of

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr, Let
from kmc.compiler.lowering import equality, membership, set_lists
from kmc.compiler.symmetry import permute
from kmc.compiler.symmetry.project import Projection
from kmc.compiler.values import listed_sets
from kmc.compiler.values.code import Code
from kmc.compiler.values.listed_sets import ListMaker, as_sequence
from kmc.compiler.values.packing import Words, array_head, pack
from kmc.compiler.values.value import Packed, Stored
from kmc.engine import assumed_integers
from kmc.engine.assumed_integers import RememberedRange
from kmc.engine.check_model import check_native
from kmc.lang.assumed_range import AssumedRange
from kmc.lang.types import SetType
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.runtime import codec
from kmc.runtime.kernel_errors import RangeEnd
from kmc.runtime.state_layout import list_type

SOURCE = """
Seat = constant("Seat", IdentSet(symmetric=True), "x")


class Slip(Record):
    by: Seat
    n: Int(0, 4999)


class State(Record):
    numbers: Set[Int(0, 1099511627776)]
    slips: Set[Slip]
    size: Int(0, 9)


@spec.init
def init():
    yield State(numbers={0, 70}, slips={Slip(by=i, n=n) for i in Seat for n in {0, 4999}}, size=0)
    yield State(numbers=set(), slips={Slip(by=i, n=49) for i in Seat}, size=1)


@spec.action
def join(st):
    yield st.set(numbers=st.numbers | {1099511627776, 3})


@spec.action
def cut(st):
    yield st.set(numbers=st.numbers - {70, 1099511627776}, size=0)


@spec.action
def measure(st):
    yield st.set(size=len(st.numbers) + (1 if 70 in st.numbers else 0) + (2 if any(n > 70 for n in st.numbers) else 0))


@spec.action
def drop(st, i: Seat):
    for s in st.slips:
        if s.by == i and s.n > 10:
            yield st.set(slips=st.slips - {s})


@spec.action
def turn(st, i: Seat):
    yield st.set(slips={Slip(by=i, n=s.n) for s in st.slips} & st.slips | {Slip(by=i, n=s.n) for s in st.slips})


@spec.reachable
def none(st):
    return st.numbers == set()


spec.symmetry("seats", Seat)
"""


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, World]:
    """The model without and with symmetry, and states that it reaches."""
    return {
        symmetric: world_of(tmp_path_factory.mktemp("world"), SOURCE, "{a, b, c}", symmetric=symmetric, states=12)
        for symmetric in (False, True)
    }


class Appending(ListMaker):
    """Puts each member at the end."""

    def insert(self, item: Words) -> None:
        """Emit code that puts a member behind the others."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(listed_sets, "_is_before", lambda left, right: x.ONE)
            super().insert(item)


class Repeating(ListMaker):
    """Puts a member that is there once more."""

    def insert(self, item: Words) -> None:
        """Emit code that puts a member, whether or not it is there."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(listed_sets, "_is_same", lambda left, right: x.ZERO)
            super().insert(item)


class Shorter(ListMaker):
    """Starts without the last member."""

    def start_with(self, whole: Packed | Stored) -> None:
        """Emit code that makes the list that of a set, but for one member."""
        super().start_with(whole)
        length = array_head(as_sequence(whole))
        self._code.emit(Let(self._length, x.select(x.eq(length, x.ZERO), length, x.sub(length, x.ONE))))


def packed_without_length(code: Code, value: Any, declared: Any, node: Any) -> Words:
    """The words of a value; of a list without the first one, which is its length."""
    words = pack(code, value, declared, node)
    return words[1:] if isinstance(declared, SetType) else words


def in_places(self: Projection, words: Words, declared: SetType) -> Words:
    """The members at their places, projected."""
    return self._sequence(words, list_type(declared))


FAULTS: dict[str, tuple[bool, list[tuple[Any, str, Any]]]] = {
    "an insertion without order": (False, [(set_lists, "ListMaker", Appending)]),
    "a member twice": (False, [(set_lists, "ListMaker", Repeating)]),
    "a union without the last member": (False, [(set_lists, "ListMaker", Shorter)]),
    "an equality without the length": (False, [(equality, "pack", packed_without_length)]),
    "a membership in any word": (False, [(membership, "same_mask", lambda left, right: x.ONE)]),
    "a row whose list has no order": (False, [(codec, "sorted", list)]),
    "images in the old order": (True, [(permute, "ListMaker", Appending)]),
    "a projection in order": (True, [(Projection, "listed", in_places)]),
}


@pytest.mark.parametrize("symmetric", [False, True])
def test_nothing_differs_without_a_fault(symmetric: bool, worlds: dict[bool, World]) -> None:
    assert first_difference(worlds[symmetric], symmetric=symmetric) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_list_is_found(name: str, worlds: dict[bool, World], monkeypatch: pytest.MonkeyPatch) -> None:
    symmetric, places = FAULTS[name]
    for module, attribute, faulty in places:
        monkeypatch.setattr(module, attribute, faulty, raising=attribute != "sorted")
    assert first_difference(worlds[symmetric], symmetric=symmetric) != []


ROOMLESS = """
class State(Record):
    met: Set[Int(0, 99999)]


@spec.init
def init():
    yield State(met=set())


@spec.action
def step(st):
    if len(st.met) < 9:
        yield st.set(met=st.met | {1000 * len(st.met)})
"""


def test_a_member_without_room_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(tmp_path, ROOMLESS, "CHECK_DEADLOCK FALSE")
    monkeypatch.setattr(assumed_integers, "observed_range", lambda model, start=None: AssumedRange(0, 15))
    monkeypatch.setattr(RememberedRange, "read", lambda self: None)
    monkeypatch.setattr(RememberedRange, "write", lambda self, assumed: None)
    wanted, lines = told(Search(model, Limits()).run()), list[str]()
    assert told(check_native(model, Limits(), note=lines.append)) == wanted
    right = Code.check

    def unchecked(code: Code, condition: Expr, node: Any, assumed: RangeEnd | None = None) -> None:
        if assumed is not RangeEnd.MEMBERS:
            right(code, condition, node, assumed)

    monkeypatch.setattr(Code, "check", unchecked)
    assert told(check_native(model, Limits(), note=lines.append)) != wanted
