r"""Operators as arguments that read their own arguments in the next state: LAMBDA w : w' = w + 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.result import Verdict
from kmc.tla.run import applications

MODULE = r"""---- MODULE Passed ----
EXTENDS Naturals
VARIABLES y, z
Apply(F(_), w) == F(w)
Twice(F(_), w) == Apply(LAMBDA q : F(q), w)
Up(w) == w' = (w + 1) % 3
Init == y = 0 /\ z = 0
Next == Apply(LAMBDA w : w' = (w + 1) % 3, y) /\ LET L(w) == Twice(Up, w) IN L(z)
Can == ENABLED (Apply(LAMBDA w : w' = w + 1, y) /\ Twice(Up, z) /\ y' = y + 1)
Cannot == ~ENABLED (Twice(Up, y) /\ y' = y)
Steps == [][Twice(Up, y) /\ Apply(LAMBDA w : w' # w, z)]_<<y, z>>
Spec == Init /\ [][Next]_<<y, z>>
====
"""
CFG = "SPECIFICATION Spec\nINVARIANTS Can Cannot\nPROPERTY Steps\n"


def checked(folder: Path, engine: Engine) -> tuple[Verdict, int]:
    """Check the module; TLC finds 4 states, 3 of them distinct, and no error."""
    (folder / "Passed.tla").write_text(MODULE, encoding="utf-8")
    (folder / "Passed.cfg").write_text(CFG, encoding="utf-8")
    result = check_module(ModuleRequest(folder / "Passed.tla", engine=engine, threads=1)).result
    return result.verdict, result.counters.distinct


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_an_operator_argument_reads_the_next_value_of_its_own_argument(engine: Engine, tmp_path: Path) -> None:
    assert checked(tmp_path, engine) == (Verdict.OK, 3)


def test_an_argument_that_is_evaluated_too_early_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applications, "_is_shifting", lambda *_: False)
    assert checked(tmp_path, Engine.PYTHON) != (Verdict.OK, 3)


FOLDED = r"""---- MODULE Folded ----
EXTENDS Integers, Sequences, FiniteSets
VARIABLES log, sum
RECURSIVE FoldSeq(_, _, _), FoldSet(_, _, _)
FoldSeq(op(_, _), z, s) == IF s = <<>> THEN z ELSE FoldSeq(op, op(z, Head(s)), Tail(s))
FoldSet(op(_, _), z, S) == IF S = {} THEN z ELSE LET x == CHOOSE x \in S : TRUE IN op(x, FoldSet(op, z, S \ {x}))
Add(a, b) == a + b
Init == log = <<>> /\ sum = 0
Next == \/ \E n \in 1..2 : Len(log) < 3 /\ log' = Append(log, n) /\ sum' = FoldSeq(Add, 0, log')
        \/ sum > 0 /\ sum' = FoldSet(Add, 0, {log[i] : i \in DOMAIN log}) /\ UNCHANGED log
Inv == FoldSeq(LAMBDA a, e : a + e, 0, log) >= sum
====
"""


def test_a_recursive_operator_takes_operators(tmp_path: Path) -> None:
    """RECURSIVE F(_, _, _) says how many parameters F has. TLC: 43 states generated, 25 distinct, depth 5."""
    (tmp_path / "Folded.tla").write_text(FOLDED, encoding="utf-8")
    (tmp_path / "Folded.cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n")
    result = check_module(ModuleRequest(tmp_path / "Folded.tla", engine=Engine.PYTHON, threads=1)).result
    counters = result.counters
    assert (result.verdict, counters.generated, counters.distinct, counters.depth) == (Verdict.OK, 43, 25, 5)
