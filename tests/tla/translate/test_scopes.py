r"""What is read twice in one scope is translated once, with the same names, so that its text is shared."""

from __future__ import annotations

from pathlib import Path

from support.modules.agreement import pair_of

from kmc.errors import Span
from kmc.tla.resolved.nodes import NameBinding, NumberExpr
from kmc.tla.translate.scope import Delayed, TranslationScope

CONFIGURATION = "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"
LEVELS = "".join(f"L{level} == Above(L{level - 1}) + (L{level - 1} % 2)\n" for level in range(1, 9))
MODULE = rf"""---- MODULE Levels ----
EXTENDS Naturals, FiniteSets
VARIABLES f, n
P == 1..3
Init == f = [p \in P |-> p] /\ n = 0
Above(k) == Cardinality({{p \in P : f[p] > k}}) + Cardinality({{p \in P : f[p] = k}})
Next == LET L0 == Above(n)
            {LEVELS}
        IN /\ IF L8 > 1 THEN n' = L8 ELSE n' = (L8 + L7) % 4
           /\ f' = [p \in P |-> (f[p] + L8) % 4]
====
"""


def test_the_text_of_a_let_does_not_double_with_each_that_reads_it(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, MODULE, CONFIGURATION)
    assert pair.differences(100) == []
    assert len(pair.translated.folder.files["spec.py"]) < 4_000


def test_equal_entries_give_one_scope_and_others_another() -> None:
    place = Span("M.tla", 1, 1, 1, 1)
    name = NameBinding("x", place)
    one, two = (NumberExpr(place=place, value=value) for value in (1, 2))
    root = TranslationScope()
    inner = root.bind(((name, Delayed(one, root)),))
    assert root.bind(((name, Delayed(one, root)),)) is inner
    assert root.bind(((name, Delayed(two, root)),)) is not inner
    assert root.bind(((name, Delayed(one, inner)),)) is not inner
    assert TranslationScope().bind(((name, Delayed(one, root)),)) is not inner
