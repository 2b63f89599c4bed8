r"""Symmetry sets however they are written: what they permute, and the interpreter's counts in compiled code."""

from __future__ import annotations

from pathlib import Path

import pytest

import kmc
from kmc.errors import SpecError
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram
from kmc.tla.translate.symmetric_sets import symmetric_sets

MODULE = r"""---- MODULE Turns ----
EXTENDS Integers, FiniteSets, TLC
CONSTANTS Man, Woman, Child
VARIABLES in, seen
IfSeveral(S) == IF Cardinality(S) > 1 THEN Permutations(S) ELSE {}
Named == LET all == {Man, Woman, Child} IN UNION {IfSeveral(S) : S \in all}
Joined == IfSeveral(Man) \union IfSeveral(Woman) \union IfSeveral(Child)
Fixed == {f \in Permutations(Man) : \E m \in Man : f[m] = m}
Init == in = {} /\ seen = [m \in Man |-> 0]
Enter(p) == Cardinality(in) < 3 /\ p \notin in /\ in' = in \union {p} /\ UNCHANGED seen
Leave(p) == p \in in /\ in' = in \ {p} /\ UNCHANGED seen
Look(m) == m \in in /\ seen[m] < 2 /\ seen' = [seen EXCEPT ![m] = @ + 1] /\ UNCHANGED in
Next == (\E p \in Man \union Woman \union Child : Enter(p) \/ Leave(p)) \/ \E m \in Man : Look(m)
====
"""
CONFIGURATION = "CONSTANTS Man = {a, b, c} Woman = {d, e} Child = {f}\nINIT Init\nNEXT Next\nSYMMETRY "


def _written(folder: Path, symmetry: str) -> Path:
    path = folder / "Turns.tla"
    path.write_text(MODULE, encoding="utf-8")
    path.with_suffix(".cfg").write_text(CONFIGURATION + symmetry + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("symmetry", ["Joined", "Named"])
def test_a_computed_symmetry_set_is_a_union_of_permutations(symmetry: str, tmp_path: Path) -> None:
    path = _written(tmp_path, symmetry)
    model = load_model(path, path.with_suffix(".cfg"))
    found = [sorted(str(one) for one in atoms) for atoms in symmetric_sets(model, ModuleProgram(model))]
    assert sorted(map(len, found)) == [2, 3]
    figures = [
        (result.generated, result.distinct, result.depth)
        for result in (kmc.check_module(path, engine=engine) for engine in ("python", "native"))
    ]
    assert figures[0] == figures[1]
    assert figures[0][1] > 10


def test_some_permutations_of_a_set_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="a symmetry set that is not Permutations") as refused:
        kmc.check_module(_written(tmp_path, "Fixed"), engine="native")
    assert refused.value.code == "KMC812"
