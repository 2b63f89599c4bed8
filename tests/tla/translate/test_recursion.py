"""Recursive operators and functions, and CHOOSE, in translations: the steps of the module, as deep as they go."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import SpecError
from kmc.tla.translate import choosing
from kmc.tla.translate.recursion import Recursion

FOLDS = r"""---- MODULE Folds ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Proc
VARIABLES s, q, f, n
RECURSIVE Sum(_), Weight(_), Even(_)
Left(t, k) == IF t = {} THEN 0 ELSE k
Sum(t) == IF t = {} THEN 0 ELSE LET e == CHOOSE e \in t : TRUE IN Left(t, e) + Sum(t \ {e})
Weight(ps) == IF ps = {} THEN 0 ELSE LET p == CHOOSE p \in ps : TRUE IN Left(ps, f[p]) + Weight(ps \ {p})
Even(k) == IF k = 0 THEN TRUE ELSE ~Even(k - 1)
Length(log) == LET go[i \in 0..Len(log)] == IF i = 0 THEN 0 ELSE log[i] + go[i - 1] IN go[Len(log)]
Fold(op(_, _), base, set) ==
  LET go[t \in SUBSET set] == IF t = {} THEN base ELSE LET e == CHOOSE e \in t : TRUE IN op(e, go[t \ {e}])
  IN go[set]
Other(p) == CHOOSE r \in Proc : r # p
Init == s = {} /\ q = <<>> /\ f = [p \in Proc |-> 0] /\ n = 0
Grow == /\ Even(n)
        /\ \E k \in 0..2 : s' = s \union {k} /\ q' = Append(q, k) /\ n' = Sum(s \union {k})
        /\ Len(q) < 2
        /\ UNCHANGED f
Pass(p) == /\ Weight(Proc) < 3
           /\ f' = [f EXCEPT ![Other(p)] = Length(q) % 3]
           /\ n' = (n + Fold(LAMBDA a, b : a + b, 1, s)) % 5
           /\ UNCHANGED <<s, q>>
Next == Grow \/ \E p \in Proc : Pass(p)
Bounded == Weight(Proc) <= 6 /\ Sum(s) + Cardinality(s) <= 9
====
"""
GATHER = r"""---- MODULE Gather ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Proc
VARIABLES net, up, word, turned
Empty == <<>>
Add(m, ms, times) == IF times > 0 THEN ms \union {m} ELSE ms
RECURSIVE SendAll(_, _)
SendAll(few, ms) ==
  IF few = {} THEN ms
  ELSE LET m == CHOOSE m \in few : TRUE
           more == IF up[m.to] THEN Add(m, ms, 1) ELSE Add(m, ms, 0)
           left == few \ {m}
       IN SendAll(left, more)
Turned(w) == IF w = Empty THEN Empty ELSE [i \in 0..(Cardinality(DOMAIN w) - 1) |-> w[Cardinality(DOMAIN w) - 1 - i]]
Before(v, w) ==
  LET length == Cardinality(DOMAIN v)
      RECURSIVE from(_)
      from(i) == IF i = length THEN FALSE ELSE IF v[i] # w[i] THEN v[i] < w[i] ELSE from(i + 1)
  IN from(0)
Init == net = {} /\ up = [p \in Proc |-> TRUE] /\ word = [i \in 0..2 |-> i] /\ turned = Empty
Fail(p) == up' = [up EXCEPT ![p] = FALSE] /\ UNCHANGED <<net, word, turned>>
Send(p) == /\ net' = SendAll({[from |-> p, to |-> q, n |-> 1] : q \in Proc}, net)
           /\ turned' = IF net = {} THEN Empty ELSE Turned(word)
           /\ UNCHANGED <<up, word>>
Turn == /\ Before(word, Turned(word)) /\ word' = Turned(word) /\ UNCHANGED <<net, up, turned>>
Next == Turn \/ \E p \in Proc : Fail(p) \/ Send(p)
====
"""
CONFIGURATION = "CONSTANTS Proc = {a, b, c}\nINIT Init\nNEXT Next\nINVARIANT Bounded\n"


def test_recursion_and_choices_have_the_steps_of_the_module(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, FOLDS, CONFIGURATION)
    assert pair.differences(60) == []
    assert pair.translated.folder.files["spec.py"].count("def weight_level_0(") == 1


def test_a_recursion_that_gathers_elements_is_a_filter(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, GATHER, "CONSTANTS Proc = {a, b}\nINIT Init\nNEXT Next\n")
    assert pair.differences(60) == []
    spec = pair.translated.folder.files["spec.py"]
    assert "send_all(" in spec
    assert "def send_all_level_0(" not in spec
    assert "word: PartialMap[Int(" in spec


@pytest.mark.slow
def test_a_chain_that_leaves_out_an_element_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Recursion.call

    def short(self: Recursion, level: str, arguments: list[str], *, is_inner: bool) -> str:
        return "0" if self.name == "sum" and is_inner else call(self, level, arguments, is_inner=is_inner)

    monkeypatch.setattr(Recursion, "call", short)
    assert pair_of(tmp_path, FOLDS, CONFIGURATION).differences(60)


@pytest.mark.slow
def test_a_choice_in_another_order_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "reversed", list, raising=False)
    assert pair_of(tmp_path, FOLDS, CONFIGURATION).differences(60)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Next == Some(n) /\\ UNCHANGED <<s, q, f, n>>", "the recursive operator Some, which has several ways"),
        ("Next == n' = Cardinality(Orders(s)) /\\ UNCHANGED <<s, q, f>>", "whose value is a set of sequences"),
        ("Next == n' = 1 /\\ UNCHANGED <<s, q>> /\\ f' = f /\\ Weight(Proc)' = 0", "of a new state"),
    ],
)
def test_recursion_without_a_translation_is_refused(line: str, text: str, tmp_path: Path) -> None:
    more = "RECURSIVE Some(_), Orders(_)\nSome(k) == k = 0 \\/ Some(k - 1)\n"
    more += "Orders(t) == IF t = {} THEN {<<>>} ELSE UNION {{Append(o, e) : o \\in Orders(t \\ {e})} : e \\in t}\n"
    module = "\n".join(row for row in FOLDS.splitlines() if not row.startswith("Next ==")).replace("====", "")
    with pytest.raises(SpecError, match=text):
        pair_of(tmp_path, f"---- MODULE {module.split('MODULE ')[1]}{more}{line}\n====\n", CONFIGURATION)


def test_a_choice_among_permuted_values_is_refused(tmp_path: Path) -> None:
    module = FOLDS.replace("FiniteSets", "FiniteSets, TLC").replace("====\n", "Perms == Permutations(Proc)\n====\n")
    with pytest.raises(SpecError, match="or which SYMMETRY permutes"):
        pair_of(tmp_path, module, CONFIGURATION + "SYMMETRY Perms\n")


WORDS = r"""---- MODULE Words ----
EXTENDS Integers, Sequences
VARIABLES n, q
RECURSIVE Words(_)
Words(k) == IF k = 0 THEN {<<>>} ELSE VALUE
Init == n = 0 /\ q = <<>>
Next == \/ n < 22 /\ n' = n + 1 /\ q' = q
        \/ n < 3 /\ q' \in Words(n) /\ n' = n
====
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        "UNION {{Append(s, 0), Append(s, 1)} : s \\in Words(k - 1)}",
        "IF Words(k - 1) = Words(k - 1) THEN {<<>>, <<0>>} ELSE {}",
    ],
    ids=["large", "long"],
)
def test_a_recursion_whose_table_is_large_or_long_to_evaluate_is_refused(value: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="whose value is a set of sequences"):
        pair_of(tmp_path, WORDS.replace("VALUE", value), "INIT Init\nNEXT Next\n")


DEPTHS = r"""---- MODULE Depths ----
EXTENDS Integers, Sequences, FiniteSets
VARIABLES order
Task == {"a", "b", "c", "d", "e", "f"}
Before == {<<"a", "b">>, <<"a", "c">>, <<"b", "d">>, <<"c", "d">>, <<"e", "d">>, <<"d", "f">>}
RECURSIVE Depth(_)
Depth(t) == LET earlier == {p \in Task : <<p, t>> \in Before} IN
  IF earlier = {} THEN 0
  ELSE 1 + (CHOOSE m \in {Depth(p) : p \in earlier} : \A k \in {Depth(p) : p \in earlier} : m >= k)
Init == order = <<>>
Next == \E t \in Task : (\A i \in 1..Len(order) : Depth(order[i]) < Depth(t)) /\ order' = Append(order, t)
Inv == Len(order) < 5
====
"""


def test_a_chain_whose_levels_call_the_next_one_twice_is_a_table(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, DEPTHS, "INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n")
    assert pair.differences(100) == []
    assert "depth_level_1" not in pair.translated.text.text  # 8 levels would be 256 copies in compiled code
