r"""Tuples in places that keep sequences: the same values, whatever lengths were seen, and products as tests of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.errors import EvaluationError

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\n"
WORDS = r"""---- MODULE Words ----
EXTENDS Integers, Sequences, FiniteSets
VARIABLES open, whole, last
Init == open = {<<>>} /\ whole = {} /\ last = <<0, 0, 0>>
Add == \E w \in open, c \in 0..1 :
         LET more == Append(w, c) IN
         IF Len(more) = 3 THEN whole' = whole \union {more} /\ open' = open \ {w} /\ last' = more
         ELSE open' = (open \ {w}) \union {more} /\ UNCHANGED <<whole, last>>
Swap == \E w \in whole : whole' = {<<w[3], w[2], w[1]>>} /\ last' = <<1, w[1], 0>> /\ UNCHANGED open
Next == Add \/ Swap
Inv == /\ whole \in SUBSET Seq(0..1) /\ \A w \in whole : Len(w) = 3
       /\ <<1, 0, 1>> \in whole => Cardinality(whole \union {<<1, 0, 1>>}) = Cardinality(whole)
       /\ last \in (0..1) \X (0..1) \X (0..1) /\ whole \subseteq (0..1) \X (0..1) \X (0..1)
====
"""
LINKS = r"""---- MODULE Links ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS Node, None
VARIABLES up, sent, hold
Pairs == {<<p, q>> \in Node \X Node : p # q}
Init == up = [n \in Node |-> <<>>] /\ sent = [e \in Pairs |-> 0] /\ hold = None
Send(e) == sent[e] < 1 /\ sent' = [sent EXCEPT ![e] = @ + 1] /\ UNCHANGED <<up, hold>>
Take(e) == /\ sent[e] > 0 /\ up[e[2]] = <<>> /\ up' = [up EXCEPT ![e[2]] = e]
           /\ UNCHANGED sent /\ hold' = e
Drop(n) == /\ up[n] # <<>> /\ sent[up[n]] = 1 /\ sent' = [sent EXCEPT ![up[n]] = 0]
           /\ up' = [up EXCEPT ![n] = <<>>] /\ UNCHANGED hold
Next == (\E e \in Pairs : Send(e) \/ Take(e)) \/ \E n \in Node : Drop(n)
Inv == /\ \A n \in Node : up[n] # <<>> => up[n] \in Pairs /\ up[n] \in Node \X Node /\ up[n][2] = n
       /\ hold \in (Node \X Node) \union {None} /\ (hold \in Pairs => hold # None)
       /\ \A e \in Pairs : e = up[e[2]] <=> up[e[2]] = e
       /\ {up[n] : n \in Node} \subseteq Pairs \union {<<>>}
       /\ \A n \in Node : up[n] \notin Node \X Node \X Node
====
"""
NODES = "CONSTANTS Node = {a, b} None = None\n"


def test_words_of_one_length_are_those_of_others(tmp_path: Path) -> None:
    assert pair_of(tmp_path, WORDS, CONFIGURATION, widening=1).differences(300) == []


def test_a_tuple_is_kept_as_the_sequences_of_its_place_are(tmp_path: Path) -> None:
    assert pair_of(tmp_path, LINKS, NODES + CONFIGURATION).differences(400) == []


def test_a_sequence_that_is_not_a_key_stops_the_translation_too(tmp_path: Path) -> None:
    for test in ("sent[<<>>] = 1", "sent[Append(up[n], n)] = 1"):
        module = LINKS.replace("sent[up[n]] = 1", f"(sent[up[n]] = 1 \\/ {test})")
        with pytest.raises(EvaluationError):
            pair_of(tmp_path / str(len(test)), module, NODES + CONFIGURATION).differences(400)


PRODUCTS = r"""---- MODULE Products ----
EXTENDS Integers, Sequences
CONSTANTS None
VARIABLES x, n
Init == n = 0 /\ x = FIRST
Next == n < 4 /\ n' = n + 1 /\ x' = CASE n = 0 -> <<1, n>> [] n = 1 -> OTHERS [] OTHER -> None
Inv == x \in (0..1) \X (0..1) => n \in 1..3
====
"""


@pytest.mark.parametrize(("first", "others"), [("None", "<<2, n>>"), ("<<n>>", "<<n, n, n>>"), ("<<>>", "<<n, 1>>")])
def test_a_product_tests_tuples_of_several_lengths_and_model_values(first: str, others: str, tmp_path: Path) -> None:
    module = PRODUCTS.replace("FIRST", first).replace("OTHERS", others)
    assert pair_of(tmp_path, module, "CONSTANTS None = None\n" + CONFIGURATION).differences(9) == []


LENGTHS = r"""---- MODULE Lengths ----
EXTENDS Integers, Sequences
VARIABLES n, q
Init == n = 0 /\ q = <<1, 2>>
Next == n < 5 /\ n' = n + 1 /\ q' = IF n = 2 THEN <<>> ELSE IF Len(q) < 3 THEN Append(q, n) ELSE Tail(q)
Inv == TEST \/ TRUE
====
"""


@pytest.mark.parametrize(
    "test",
    [
        r"q \in {9} \X {Head(q)}",
        r"[at |-> 9] \in [at : 0..Head(q)]",
        r"q \in [1..9 -> {Head(q)}]",
        r"{9} \in SUBSET (1..Head(q))",
        r"<<>> \in Seq({Head(q)})",
        r"<<9, 1>> \in {4} \X UNION {{Head(q)}, {}}",
        r"<<9, 1>> \in {4} \X {z \in {1} : q[z] > 0}",
        r"n \in {n} \union {q[z] : z \in {1}}",
    ],
)
def test_what_a_set_is_made_of_is_evaluated_first(test: str, tmp_path: Path) -> None:
    path = tmp_path / "Lengths.tla"
    path.write_text(LENGTHS.replace("TEST", test), encoding="utf-8")
    path.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    for engine in ("python", "native"):
        result = kmc.check_module(path, engine=engine)
        assert result.verdict == "error"
        assert len(result.trace or ()) == 4
