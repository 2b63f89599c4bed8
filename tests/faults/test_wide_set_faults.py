"""Faults that are planted into masks of several words: each makes compiled code differ from the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.faults.set_models import World, first_difference, world_of

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.lowering import expressions, iteration, map_operations, membership, words
from kmc.compiler.symmetry import member_change, permute
from kmc.compiler.values import masks, packing
from kmc.compiler.values.code import Code
from kmc.compiler.values.masks import Mask

SOURCE = """
Seat = constant("Seat", IdentSet(symmetric=True), "x")


class Slip(Record):
    by: Seat
    n: Int(0, 49)


class State(Record):
    numbers: Set[Int(0, 99)]
    later: Set[Int(-30, 99)]
    slips: Set[Slip]
    kept: PartialMap[Slip, Int(0, 1)]
    size: Int(0, 9)


@spec.init
def init():
    slips = {Slip(by=i, n=n) for i in Seat for n in {0, 20, 40}}
    yield State(numbers={0, 70}, later={99}, slips=slips, kept={}, size=0)
    yield State(numbers={3, 64}, later={-30, 64}, slips={Slip(by=i, n=49) for i in Seat}, kept={}, size=1)


@spec.action
def join(st):
    yield st.set(numbers=st.numbers | {1, 80})


@spec.action
def move(st):
    yield st.set(later=st.numbers)


@spec.action
def cut(st):
    yield st.set(numbers=st.numbers - {64, 70})


@spec.action
def measure(st):
    yield st.set(size=len(st.numbers) + (1 if 70 in st.numbers else 0) + (2 if any(n > 70 for n in st.numbers) else 0))


@spec.action
def drop(st, i: Seat):
    for s in st.slips:
        if s.by == i and s.n > 10:
            yield st.set(slips=st.slips - {s}, kept=st.kept if s in st.kept else st.kept.add(s, 1))


@spec.action
def forget(st):
    for s in st.kept:
        yield st.set(kept=st.kept.without(s))


@spec.reachable
def far(st):
    return st.numbers <= st.later | {0, 1, 3} or st.later == {99, 64}


spec.symmetry("seats", Seat)
"""


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, World]:
    """The model without and with symmetry, and states that it reaches."""
    return {
        symmetric: world_of(tmp_path_factory.mktemp("world"), SOURCE, "{a, b}", symmetric=symmetric, states=6)
        for symmetric in (False, True)
    }


def first_word_only(operation: Callable[..., Mask]) -> Callable[..., Mask]:
    """An operation on two masks that leaves the left one as it is behind the first word."""
    return lambda kind, left, right: (*operation(kind, left[:1], right[:1]), *left[1:])


def in_first_word(mask: Mask, number: Expr) -> Expr:
    """A bit of the first word, whatever the number."""
    return x.extract(mask[0], x.binary("and", number, Const(63)), 1)


def put_in_first_word(code: Code, names: list[str], number: Expr) -> None:
    """A number put into the first word only."""
    masks.put_number(code, names[:1], number)


def each_of_first_word(code: Code, mask: Mask, body: Callable[[Expr], object]) -> None:
    """The numbers of the first word only."""
    masks.each_number(code, mask[:1], body)


FAULTS: dict[str, tuple[bool, list[tuple[Any, str, Any]]]] = {
    "a union of the first words": (False, [(expressions, "joined_masks", first_word_only(masks.joined_masks))]),
    "a wrong word in a membership": (False, [(membership, "has_number", in_first_word)]),
    "a size of the first word": (False, [(words, "member_count", lambda mask: masks.member_count(mask[:1]))]),
    "a loop over the first word": (False, [(iteration, "each_number", each_of_first_word)]),
    "a set built in its first word": (False, [(iteration, "put_number", put_in_first_word)]),
    "an inclusion of the first words": (False, [(membership, "is_empty", lambda mask: masks.is_empty(mask[:1]))]),
    "a shift without the next word": (False, [(masks, "_spliced", lambda low, high, bits: low)]),
    "a key of another word": (
        False,
        [
            (
                map_operations,
                "only_number",
                lambda number, count: masks.only_number(x.binary("and", number, Const(63)), count),
            )
        ],
    ),
    "an element of another index": (
        True,
        [(packing, "halved", lambda index, options: options[0])],
    ),
    "a permutation of the first word": (True, [(permute, "each_number", each_of_first_word)]),
    "images in the first word": (True, [(permute, "put_number", put_in_first_word)]),
    "keys of the first word permuted": (True, [(member_change, "each_number", each_of_first_word)]),
}


@pytest.mark.parametrize("symmetric", [False, True])
def test_nothing_differs_without_a_fault(symmetric: bool, worlds: dict[bool, World]) -> None:
    assert first_difference(worlds[symmetric], symmetric=symmetric) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_mask_of_several_words_is_found(
    name: str, worlds: dict[bool, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    symmetric, places = FAULTS[name]
    for module, attribute, faulty in places:
        monkeypatch.setattr(module, attribute, faulty)
    assert first_difference(worlds[symmetric], symmetric=symmetric) != []
