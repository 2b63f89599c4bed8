"""Unordered pairs of identifiers, as keys: `connectivity[pair(a, b)]` is `connectivity[pair(b, a)]`.

A pair is a set of two members; `pairs(servers)` gives all pairs of a set of servers, TLA+'s subsets of cardinality 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from kmc.errors import EvaluationError
from kmc.lang.idents import Ident
from kmc.lang.showing import shown


def pair(first: Any, second: Any) -> frozenset[Any]:
    """The unordered pair of two different identifiers; EvaluationError when they are equal or not identifiers."""
    _require_identifiers((first, second))
    if first is second:
        raise EvaluationError(
            "KMC233", f"a pair needs two different members, not {shown(first)} twice", help="guard with a != b"
        )
    return frozenset((first, second))


def pairs(elements: Iterable[Any]) -> frozenset[frozenset[Any]]:
    """All unordered pairs of different identifiers; EvaluationError when an element is not an identifier."""
    members = tuple(elements)
    _require_identifiers(members)
    return frozenset(frozenset(chosen) for chosen in combinations(members, 2))


def _require_identifiers(members: tuple[Any, ...]) -> None:
    for member in members:
        if not isinstance(member, Ident):
            raise EvaluationError(
                "KMC235", f"a pair is of identifiers, not {shown(member)}", help="test `x is not None` before"
            )
