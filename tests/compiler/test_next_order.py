"""The orders of members that look alike are tried one after another: each once, in lexicographic order."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Module
from kmc.compiler.symmetry.canonical import next_order_function
from kmc.compiler.symmetry.member_change import MEMBER_BITS

LAST = (1 << 64) - 1


def packed(order: tuple[int, ...]) -> int:
    """An order as a word."""
    return sum(member << MEMBER_BITS * place for place, member in enumerate(order))


def groups_of(same: int, members: int) -> list[list[int]]:
    """The places of each group; bit p of `same` says that p and p + 1 are in one."""
    groups = [[0]]
    for place in range(1, members):
        if same >> place - 1 & 1:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


@pytest.mark.parametrize("members", range(1, 6))
def test_each_order_within_groups_is_tried_once(members: int) -> None:
    code = emit_python(Module((next_order_function("o", members),)))
    for same in range(1 << members - 1):
        parts = [permutations(group) for group in groups_of(same, members)]
        wanted = sorted(sum(choice, ()) for choice in product(*parts))
        found: list[int] = []
        order = packed(wanted[0])
        while order != LAST and len(found) <= len(wanted):
            found.append(order)
            order = code.call("o_next", [], [order, same]) % (1 << 64)
        assert found == [packed(one) for one in wanted], f"{same:b}"
