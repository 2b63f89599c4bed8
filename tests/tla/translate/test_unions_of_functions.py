r"""Quantifiers over functions on domains of several sizes: `\E s \in UNION {[1..n -> S] : n \in 0..m}`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.errors import SpecError

CONFIGURATION = "CONSTANTS Node = {a, b, c}\nINIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
ROADS = r"""---- MODULE Roads ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS Node
VARIABLES roads, n
Lists(S, m) == UNION {[1..k -> S] : k \in 0..m}
Path(p, x, y) == /\ p # <<>> /\ p[1] = x /\ p[Len(p)] = y
                 /\ \A i \in 1..Len(p) - 1 : <<p[i], p[i + 1]>> \in roads
Joined(x, y) == \E p \in Lists({z \in Node : <<z, z>> \notin roads \/ z \in {x, y}}, n + 1) : Path(p, x, y)
Init == roads = {} /\ n = 0
Build == \E x, y \in Node : /\ n < 3 /\ n' = n + 1 /\ ~Joined(x, y) /\ roads' = roads \union {<<x, y>>}
Next == Build
Inv == /\ \A x \in Node : Joined(x, x)
       /\ \A x, y, z \in Node : Joined(x, y) /\ Joined(y, z) => Joined(x, z)
       /\ \A f \in UNION {[S -> {0, 1}] : S \in SUBSET {1, 2}} : Cardinality({i \in DOMAIN f : f[i] = 1}) <= 2
====
"""


def test_lists_of_several_lengths_are_gone_through(tmp_path: Path) -> None:
    assert pair_of(tmp_path, ROADS, CONFIGURATION).differences(150) == []


def test_a_domain_that_may_have_no_value_is_refused(tmp_path: Path) -> None:
    partial = ROADS.replace("[1..k -> S]", "[1..(3 \\div k) -> S]")
    with pytest.raises(SpecError, match="whose domain or codomain may have no value"):
        pair_of(tmp_path, partial, CONFIGURATION)


@pytest.mark.parametrize(
    "formula",
    [
        r"\E f \in UNION {[1..3 - k -> {n}] : k \in 1..2} : f[2] >= 0",
        r"\A f \in UNION {[{3 - k} -> {n}] : k \in 1..2} : f[2] < 0",
        r"\E f \in UNION {[S -> {0, n}] : S \in SUBSET {1, 2}} : f = <<>> \/ f[2] = 0",
    ],
)
def test_a_body_without_a_value_for_some_functions_is_refused(formula: str, tmp_path: Path) -> None:
    """TLC goes through the sets by size, and stops at the first function that the body has no value for."""
    invariant = ROADS[: ROADS.index("Inv ==")] + f"Inv == {formula}\n====\n"
    with pytest.raises(SpecError, match="in a quantifier whose body may have no value"):
        pair_of(tmp_path, invariant, CONFIGURATION)


def test_a_filter_of_the_lengths_is_evaluated_whole(tmp_path: Path) -> None:
    invariant = ROADS[: ROADS.index("Inv ==")] + (
        r"Inv == \E f \in UNION {[1..k -> {0}] : k \in {j \in 0..2 : 6 \div (4 - n - j) > -50}} : TRUE"
    )
    path = tmp_path / "Roads.tla"
    path.write_text(invariant + "\n====\n", encoding="utf-8")
    path.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    for engine in ("python", "native"):
        result = kmc.check_module(path, engine=engine)
        assert result.verdict == "error"
        assert len(result.trace or ()) == 3
