r"""Recursive operators that call each other, with whichever of them a formula calls first."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.errors import EvaluationError
from kmc.tla.names.loading import load_model
from kmc.tla.translate.facts import FactTable

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
TURNS = r"""---- MODULE Turns ----
EXTENDS Integers
VARIABLES n, odd
RECURSIVE Even(_), Odd(_), Third(_), Second(_), First(_)
Even(k) == IF k = 0 THEN TRUE ELSE Odd(k - 1)
Odd(k) == IF k = 0 THEN FALSE ELSE Even(k - 1)
First(k) == IF k = 0 THEN n ELSE Second(k - 1)
Second(k) == IF k = 0 THEN 2 ELSE Third(k - 1)
Third(k) == IF k = 0 THEN 3 ELSE First(k - 1)
Init == n = 0 /\ odd = FALSE
Next == n < 6 /\ n' = n + 1 /\ odd' = Odd(n + 1) /\ Second(n) + First(n) > -1
Inv == (odd <=> ~Even(n)) /\ Third(n) \in {n, 2, 3} /\ First(3) = n
====
"""
LEDGER = r"""---- MODULE Ledger ----
EXTENDS Integers, FiniteSets
CONSTANTS Id, Nil
VARIABLES book
RECURSIVE Balance(_), Spent(_)
Balance(i) == CASE book[i].kind = "first" -> 9
                [] book[i].kind = "send" -> book[i].left
                [] book[i].kind = "take" -> Balance(book[i].before) + Spent(book[i].from)
Spent(i) == LET last == book[i].before IN Balance(last) - book[i].left
Init == book = [i \in Id |-> IF i = 1 THEN [kind |-> "first"] ELSE Nil]
Free == {i \in Id : book[i] = Nil}
Next == \E i \in Free, last \in Id \ Free :
  /\ \A j \in Free : i <= j
  /\ \/ \E left \in 0..Balance(last) : left % 3 = 0 /\ left < Balance(last)
           /\ book' = [book EXCEPT ![i] = [kind |-> "send", before |-> last, left |-> left]]
     \/ \E from \in Id \ Free : /\ book[from].kind = GUARD /\ Spent(from) > 0
           /\ book' = [book EXCEPT ![i] = [kind |-> "take", before |-> last, from |-> from]]
Inv == \A i \in Id \ Free : Balance(i) >= 0 /\ (book[i].kind = "send" => Spent(i) \in {3, 6, 9, 12, 15, 18})
====
"""
KNOT = r"""---- MODULE Knot ----
EXTENDS Integers
VARIABLES n
RECURSIVE Red(_), Green(_), Blue(_)
Red(k) == IF k <= 0 THEN 1 ELSE Green(k - 1) + Blue(k - 2)
Green(k) == IF k <= 0 THEN 2 ELSE Red(k - 1) + Blue(k - 3)
Blue(k) == IF k <= 0 THEN 3 ELSE Red(k - 1) - Green(k - 2)
Init == n = 0
Next == n < 3 /\ n' = n + 1
Inv == Red(n) < 9
====
"""
IDS = "CONSTANTS Id = {1, 2, 3, 4} Nil = Nil\n"


def test_operators_that_take_turns_have_the_values_of_the_module(tmp_path: Path) -> None:
    assert pair_of(tmp_path, TURNS, CONFIGURATION).differences(20) == []


def test_one_that_calls_itself_and_another(tmp_path: Path) -> None:
    ledger = LEDGER.replace("GUARD", '"send"')
    assert pair_of(tmp_path, ledger, IDS + CONFIGURATION).differences(150) == []


def test_a_call_without_a_value_stops_the_translation_too(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, LEDGER.replace("GUARD", '"first"'), IDS + CONFIGURATION).differences(150)


def test_operators_without_one_that_all_calls_go_through_are_not_written_out_without_end(tmp_path: Path) -> None:
    path = tmp_path / "Knot.tla"
    path.write_text(KNOT, encoding="utf-8")
    path.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    results = [kmc.check_module(path, engine=engine) for engine in ("python", "native")]
    assert [(one.verdict, one.generated, one.distinct) for one in results] == [("ok", 4, 4)] * 2


def test_what_is_read_through_each_other_is_known_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "Turns.tla"
    path.write_text(TURNS, encoding="utf-8")
    path.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    model = load_model(path, path.with_suffix(".cfg"))
    (invariant,) = model.invariants
    facts = FactTable()
    assert invariant.body is not None
    assert facts.of(invariant.body).reads_state
    read = {one.name: known.reads_state for one, known in facts._of_definitions.items()}
    assert read | {"First": True, "Second": True, "Third": True, "Even": False} == read
