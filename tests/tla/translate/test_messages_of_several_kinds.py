r"""Modules as authors of protocols write them: helpers for messages of every kind, values or Nil, products as domains.

Each module is compared with its translation step by step, and checked natively: the counts are TLC's with one worker.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.actions.relation import AssertionFailure
from kmc.errors import EvaluationError, SpecError
from kmc.tla.shapes.shape import RecordTable
from kmc.tla.translate import narrowing, updates

STATES = 300
ATOMS = "".join(f"{name} = {name}\n" for name in ("Nil", "On", "Off", "Illegal"))
CONFIGURATION = f"CONSTANTS Node = {{a, b}}\n{ATOMS}INIT Init\nNEXT Next\nINVARIANT Known\nCHECK_DEADLOCK FALSE\n"
SENDING = r"""---- MODULE Sending ----
EXTENDS Naturals, Sequences, TLC
CONSTANTS Node, Nil
VARIABLES bag, got
Send(m) == IF /\ m.type = "fill"
              /\ m.entries = <<>>
           THEN m \notin DOMAIN bag /\ bag' = bag @@ (m :> 1)
           ELSE IF m \in DOMAIN bag THEN bag' = [bag EXCEPT ![m] = @ + 1] ELSE bag' = bag @@ (m :> 1)
Weight(m) == CASE m.type = "fill" /\ m.entries # <<>> -> Len(m.entries)
               [] m.type = "lost" -> m.weight
               [] OTHER -> 0
Init == bag = [m \in {} |-> 0] /\ got = [n \in Node |-> 0]
Small == \A m \in DOMAIN bag : bag[m] < 2
Ask(n) == /\ Small
          /\ LET m == [type |-> "ask", from |-> n]
             IN /\ m.type = "fill" => m.entries = <<>>
                /\ Send(m)
          /\ UNCHANGED got
Fill(n) == /\ Small
           /\ \E e \in {<<>>, <<1>>, <<1, 2>>} : Send([type |-> "fill", to |-> n, entries |-> e])
           /\ UNCHANGED got
Take == \E m \in DOMAIN bag :
          /\ bag[m] > 0
          /\ m.type = "fill"
          /\ bag' = [bag EXCEPT ![m] = @ - 1]
          /\ got' = [got EXCEPT ![m.to] = Weight(m) + (IF m.type = "lost" THEN m.weight ELSE 0)]
Next == Take \/ \E n \in Node : Ask(n) \/ Fill(n)
Known == \A m \in DOMAIN bag : (m.type = "lost" /\ m.weight > 1) \/ Weight(m) <= 2
====
"""
MEMBERS = r"""---- MODULE Members ----
EXTENDS Naturals, Sequences
CONSTANTS Node, Nil
VARIABLES log, last, peer
Entry == [kind : {"init"}, value : [id : {1}, members : {Node}]]
            \union [kind : {"add"}, value : [id : 2..3, members : {Node}, new : Node]]
            \union [kind : {"plain"}, value : Node]
Init == /\ log = <<[kind |-> "init", value |-> [id |-> 1, members |-> Node]]>>
        /\ last = 1
        /\ peer = [n \in Node |-> Nil]
IsMembership(i) == log[i].kind \in {"init", "add"}
Newest == log[CHOOSE i \in DOMAIN log : IsMembership(i) /\ ~\E j \in DOMAIN log : IsMembership(j) /\ j > i]
Append1(e) == Len(log) < 4 /\ log' = Append(log, e)
Add(n) == /\ last < 3
          /\ Append1([kind |-> "add", value |-> [id |-> last + 1, members |-> Node, new |-> n]])
          /\ UNCHANGED <<last, peer>>
Plain(n) == Append1([kind |-> "plain", value |-> n]) /\ UNCHANGED <<last, peer>>
Read == last' = Newest.value.id /\ UNCHANGED <<log, peer>>
Meet(n) == /\ peer' = [peer EXCEPT ![n] = [with |-> n, late |-> FALSE]]
           /\ UNCHANGED <<log, last>>
Wait(n) == /\ peer[n] # Nil
           /\ peer' = [peer EXCEPT ![n].late = ~@]
           /\ UNCHANGED <<log, last>>
Next == Read \/ \E n \in Node : Add(n) \/ Plain(n) \/ Meet(n) \/ Wait(n)
Known == \A i \in DOMAIN log : log[i] \in Entry
====
"""
PLACES = r"""---- MODULE Places ----
EXTENDS Naturals, FiniteSets
CONSTANTS Node, Nil, On, Off, Illegal
VARIABLES owner, held, mode
Place == (1..2) \X (1..2)
Init == /\ owner = [p \in Place |-> Nil]
        /\ held = [n \in Node |-> Nil]
        /\ mode = Off
To(prev, next) == CASE prev = next -> next
                    [] next = On -> IF prev = Off THEN next ELSE <<prev, next, Illegal>>
                    [] OTHER -> next
Take(n) == /\ owner' = [p \in Place |-> IF p[1] = 1 /\ owner[p] = Nil THEN n ELSE owner[p]]
           /\ held' = [held EXCEPT ![n] = {p \in Place : owner'[p] = n}]
           /\ mode' = To(mode, On)
Drop(n) == /\ held[n] # Nil
           /\ mode # Off
           /\ owner' = [p \in Place |-> IF p \in held[n] THEN Nil ELSE owner[p]]
           /\ held' = [held EXCEPT ![n] = Nil]
           /\ mode' = To(mode, Off)
Next == \E n \in Node : Take(n) \/ Drop(n)
Known == \A n \in Node : held[n] \in SUBSET Place \union {Nil}
====
"""
ANSWERS = r"""---- MODULE Answers ----
EXTENDS Naturals
CONSTANTS Node, Nil
VARIABLES msgs, seen
Init == msgs = {} /\ seen = 0
Ask(n) == /\ msgs' = msgs \union {[type |-> "ask", from |-> n, part |-> [at |-> seen]]}
          /\ UNCHANGED seen
Answer == \E m \in msgs : /\ m.type = "ask"
                          /\ msgs' = msgs \union {[type |-> "answer", from |-> m.from, ok |-> TRUE,
                                                   part |-> [at |-> Nil, size |-> m.part.at]]}
                          /\ UNCHANGED seen
Refuse == \E m \in msgs : /\ m.type = "ask"
                          /\ msgs' = (msgs \ {m}) \union {[type |-> "refusal", from |-> m.from,
                                                           part |-> [why |-> m.part.at]]}
                          /\ UNCHANGED seen
Read == \E m \in msgs : /\ m.type \in {"answer", "ask"}
                        /\ seen' = IF m.part.at = Nil THEN 1 ELSE 0
                        /\ msgs' = msgs \ {m}
Next == Read \/ Answer \/ Refuse \/ \E n \in Node : Ask(n)
Known == \A m \in msgs : m.from \in Node
====
"""
MODULES = {"Sending": SENDING, "Members": MEMBERS, "Places": PLACES, "Answers": ANSWERS}


@pytest.mark.parametrize("name", MODULES)
def test_a_translation_has_the_steps_of_its_module(name: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, MODULES[name], CONFIGURATION).differences(STATES) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counts"),
    [("Sending", (3853, 600, 5)), ("Members", (2584, 489, 5)), ("Places", (25, 9, 4)), ("Answers", (231, 42, 5))],
)
def test_a_native_check_has_the_counts_of_tlc(name: str, counts: tuple[int, int, int], tmp_path: Path) -> None:
    module = tmp_path / f"{name}.tla"
    module.write_text(MODULES[name], encoding="utf-8")
    module.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    native, interpreted = (kmc.check_module(module, engine=engine, max_depth=5) for engine in ("native", "python"))
    assert (native.generated, native.distinct, native.depth) == counts
    assert (interpreted.generated, interpreted.distinct, interpreted.depth) == counts
    assert native.generated_by_action == interpreted.generated_by_action


@pytest.mark.slow
def test_a_condition_that_no_class_satisfies_guards_fields_that_all_classes_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "Unguarded.tla"
    module.write_text(SENDING.replace("MODULE Sending", "MODULE Unguarded"), encoding="utf-8")
    module.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    monkeypatch.setattr(narrowing, "_is_impossible", lambda found: False)
    with pytest.raises(SpecError, match="KMC812"):
        kmc.check_module(module, engine="native", max_depth=3)


def test_a_condition_that_is_wrongly_taken_for_one_that_never_holds_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrowing, "_is_impossible", bool)
    with pytest.raises(AssertionFailure):  # of an action whose condition is taken for one that no state meets
        pair_of(tmp_path, ANSWERS, CONFIGURATION).differences(STATES)


def test_a_change_of_a_field_that_is_made_in_no_record_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "_with_field", lambda t, code, shape, field, new: code.source)
    assert pair_of(tmp_path, MEMBERS, CONFIGURATION).differences(STATES)


def test_a_changed_field_of_a_model_value_stops_as_in_tlc(tmp_path: Path) -> None:
    unguarded = MEMBERS.replace("/\\ peer[n] # Nil", "/\\ Len(log) > 3")
    assert unguarded != MEMBERS
    pair = pair_of(tmp_path, unguarded, CONFIGURATION)
    with pytest.raises(EvaluationError):
        pair.differences(3000)


def test_a_class_does_not_hold_itself_unless_that_was_observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecordTable, "not_holding", lambda self, key, shape: shape)
    with pytest.raises(SpecError, match="tuples of 3 items of several kinds that hold others of that kind"):
        pair_of(tmp_path, PLACES, CONFIGURATION)


def test_a_tuple_that_holds_no_tuple_in_any_observed_state_is_kept(tmp_path: Path) -> None:
    illegal = PLACES.replace("IF prev = Off", "IF prev = Nil").replace(
        "Take(n) == /\\ owner'", "Take(n) == /\\ mode \\in {Off, On}\n           /\\ owner'"
    )
    assert illegal.count("mode") == PLACES.count("mode") + 1
    pair = pair_of(tmp_path, illegal, CONFIGURATION)
    assert pair.differences(STATES) == []
