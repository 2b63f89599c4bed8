"""Which permutations of spawned identifiers are symmetries of a state, and which field records that they are in use."""

from __future__ import annotations

from typing import Any

import pytest
from support.drawing.values import Id, Role, Server

from kmc.lang.annotations import Bool, Map, PartialMap, Set
from kmc.lang.permutation import is_started_in, keeps_unused, swaps
from kmc.lang.types import Type

ONE, TWO, THREE = Id
SWAP_FIRST_TWO = {ONE: TWO, TWO: ONE, THREE: THREE}
SWAP_LAST_TWO = {ONE: ONE, TWO: THREE, THREE: TWO}


def test_every_pair_of_permutations_of_two_types_is_one_permutation() -> None:
    found = {tuple(swap.items()) for swap in swaps([Id, Role])}
    assert len(found) == 36
    assert all({key for key, _ in swap} == {image for _, image in swap} == {*Id, *Role} for swap in found)


@pytest.mark.parametrize(
    ("declared", "records"),
    [
        (PartialMap[Id, Bool], True),
        (Map[Id, Bool], False),
        (PartialMap[Server, Bool], False),
        (Set[Id], False),
        (None, False),
    ],
)
def test_members_in_use_are_the_keys_of_a_partial_map(declared: Type | None, records: bool) -> None:
    assert is_started_in(Id, declared) is records


@pytest.mark.parametrize(
    ("swap", "used", "kept"),
    [
        (SWAP_FIRST_TWO, {ONE, TWO}, True),
        (SWAP_FIRST_TWO, {ONE, TWO, THREE}, True),
        (SWAP_FIRST_TWO, {ONE}, False),
        (SWAP_LAST_TWO, {ONE, TWO}, False),
        (SWAP_FIRST_TWO, set(), False),
        ({}, {ONE}, True),
    ],
)
def test_a_permutation_leaves_the_members_that_are_not_in_use(swap: Any, used: set[Any], kept: bool) -> None:
    assert keeps_unused(swap, Id, frozenset(used)) is kept


@pytest.mark.parametrize(("swap", "kept"), [(SWAP_FIRST_TWO, False), ({one: one for one in Id}, True)])
def test_members_used_out_of_order_allow_the_identity_only(swap: Any, kept: bool) -> None:
    assert keeps_unused(swap, Id, frozenset({ONE, THREE})) is kept
