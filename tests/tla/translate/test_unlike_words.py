r"""Small modules in which the words of kmc's language and TLA+ differ: each is translated exactly, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import SpecError
from kmc.tla.shapes.shape import RecordKey, RecordTable, UnionShape
from kmc.tla.translate import functions
from kmc.tla.translate.literals import record_source
from kmc.tla.translate.scope import TypedSource

CONFIGURATION = "INIT Init\nNEXT Next\n"
TUPLES_OF_UNIONS = r"""---- MODULE TuplesOfUnions ----
EXTENDS Integers
CONSTANT None
VARIABLES x, s
Init == x = None /\ s = {}
Next == \/ s' = s \union {<<1, x>>} /\ UNCHANGED x
        \/ s' = s \union {<<1, None>>} /\ UNCHANGED x
        \/ x' = None /\ UNCHANGED s
        \/ x' = 2 /\ UNCHANGED s
====
"""
TUPLES_OF_SEQUENCES = r"""---- MODULE TuplesOfSequences ----
EXTENDS Integers, Sequences
VARIABLES q, s
Init == q = <<>> /\ s = {}
Next == \/ s' = s \union {<<1, q>>} /\ UNCHANGED q
        \/ s' = s \union {<<1, <<>> >>} /\ UNCHANGED q
        \/ s' = s \union {<<1, <<7>> >>} /\ UNCHANGED q
        \/ q' = <<>> /\ UNCHANGED s
        \/ q' = <<7>> /\ UNCHANGED s
====
"""
TUPLES_OF_OTHER_KINDS = r"""---- MODULE TuplesOfOtherKinds ----
EXTENDS Integers
CONSTANT Node
VARIABLES s, t
Init == s = {} /\ t = {}
Next == \/ \E n \in Node, i \in 0..1 : s' = s \union {<<n, i>>} /\ UNCHANGED t
        \/ \E p \in s : t' = t \union {<<p[2] + 1, p[2]>>} /\ UNCHANGED s
        \/ \E p \in t : p[1] + p[2] > 1 /\ t' = {} /\ UNCHANGED s
====
"""
LACKING_FIELD = r"""---- MODULE LackingField ----
EXTENDS Integers
VARIABLE r
Init == r = [a |-> 1]
Next == r' = [b |-> 2] \/ r' = [r EXCEPT !.a = 2] \/ r' = [r EXCEPT !.a = 3 - @]
====
"""
LACKING_KEY = r"""---- MODULE LackingKey ----
EXTENDS Integers, TLC
VARIABLE f
Init == f = (1 :> 0)
Next == \/ f' = f @@ (2 :> 1)
        \/ f' = [f EXCEPT ![2] = 3]
        \/ f' = (1 :> 0)
====
"""
MARKED_NAMES = r"""---- MODULE MarkedNames ----
EXTENDS Integers
CONSTANT LEVEL_A, LEVEL_B
VARIABLE x, l
RECURSIVE F(_)
F(n) == IF n = 0 THEN LEVEL_A ELSE IF n = 1 THEN LEVEL_B ELSE F(n-2)
Init == x = 0 /\ l = LEVEL_A
Next == x' = (x + 1) % 4 /\ l' = F(x)
====
"""
ALIKE_NAMES = r"""---- MODULE AlikeNames ----
EXTENDS Integers
VARIABLE x
Op(N, n) == LET RECURSIVE F(_)
                F(k) == IF k = 0 THEN N + n ELSE F(k-1)
            IN F(x % 3)
Init == x = 0
Next == \E a \in {x, x + 1} : \E b \in {x + 2, x + 1} : x' = Op(a + 1, b) % 5
====
"""
LAZY_POWER = r"""---- MODULE LazyPower ----
EXTENDS Integers
VARIABLE x
Init == x = 0
Next == LET y == 2^(x-1) IN x' = IF x = 0 THEN 1 ELSE (y + x) % 3
====
"""
LAZY_KEY = r"""---- MODULE LazyKey ----
EXTENDS Integers
VARIABLES f, x
Init == f = [i \in 1..2 |-> 0] /\ x = 0
Next == LET y == f[x] IN
        /\ x' = IF x = 0 THEN 1 ELSE (y + x) % 3
        /\ UNCHANGED f
====
"""
LAZY_LOOP = r"""---- MODULE LazyLoop ----
EXTENDS Integers
VARIABLES f, x
Init == f = [i \in 1..2 |-> 0] /\ x = 0
At(i) == f[i]
Next == LET y == {At(x + i) : i \in 0..1} IN
        /\ x' = IF x \in {0, 2} THEN 1 ELSE IF 0 \in y THEN 2 ELSE 0
        /\ UNCHANGED f
====
"""
LAZY_TUPLE = r"""---- MODULE LazyTuple ----
EXTENDS Integers, TLC
VARIABLES f, x, y
Init == f = (<<1>> :> 5 @@ <<1, 2>> :> 6 @@ <<2, 1>> :> 7) /\ x = 1 /\ y = 2
Next == LET one == f[<<x>>]
            two == f[<<x, y>>] IN
        /\ x' = IF x = 1 THEN 1 + ((one + two) % 2) ELSE 1
        /\ UNCHANGED <<f, y>>
====
"""


@pytest.mark.parametrize(
    ("module", "constants"),
    [
        (TUPLES_OF_UNIONS, "CONSTANT None = None\n"),
        (TUPLES_OF_SEQUENCES, ""),
        (TUPLES_OF_OTHER_KINDS, "CONSTANT Node = {a, b}\n"),
        (LACKING_FIELD, ""),
        (LACKING_KEY, ""),
        (MARKED_NAMES, "CONSTANTS LEVEL_A = LEVEL_A\nLEVEL_B = LEVEL_B\n"),
        (ALIKE_NAMES, ""),
        (LAZY_POWER, ""),
        (LAZY_KEY, ""),
        (LAZY_LOOP, ""),
        (LAZY_TUPLE, ""),
    ],
    ids=lambda text: text.split("MODULE ")[1].split()[0] if "MODULE" in text else "",
)
def test_a_translation_has_the_steps_of_the_module(module: str, constants: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, module, CONFIGURATION + constants).differences(100) == []


def test_tuples_with_classes_of_their_own_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def by_kind(records: RecordTable, key: RecordKey, items: Sequence[TypedSource]) -> TypedSource:
        is_union = isinstance(items[1].shape, UnionShape)
        return record_source(records, replace(key, fields=("first", "second")) if is_union else key, items)

    monkeypatch.setattr(functions, "record_source", by_kind)
    pair = pair_of(tmp_path, TUPLES_OF_UNIONS, CONFIGURATION + "CONSTANT None = None\n")
    assert any("several states of the translation" in difference for difference in pair.differences(100))


def test_an_item_that_is_a_tuple_here_and_a_sequence_there_is_refused(tmp_path: Path) -> None:
    module = TUPLES_OF_SEQUENCES.replace("q' = <<7>>", "s' = {<<1, [i \\in 1..Len(q) |-> 7] @@ (5 :> 1)>>}")
    module = module.replace("Integers, Sequences", "Integers, Sequences, TLC")
    with pytest.raises(SpecError, match="a tuple in one place and a function in another") as refused:
        pair_of(tmp_path, module, CONFIGURATION)
    assert refused.value.code == "KMC812"
