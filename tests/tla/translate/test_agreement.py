r"""Small modules, each about one part of the translation: their translations have the same steps, state by state."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import TranslatedPair, pair_of

from kmc.tla.resolved.nodes import Expression
from kmc.tla.translate import actions
from kmc.tla.translate.actions import ActionWriter, Continue
from kmc.tla.translate.scope import TranslationScope
from kmc.tla.translate.translation import Assigned

JUGS = Path(__file__).parents[2] / "data" / "tla" / "Jugs.tla"
STATES = 300
COMMIT = r"""---- MODULE Commit ----
EXTENDS Naturals, FiniteSets
CONSTANTS RM, Nil
VARIABLES state, asked, msgs
vars == <<state, asked, msgs>>
Message == [type : {"prepared"}, rm : RM] \union [type : {"commit", "abort"}]
TypeOK == /\ state \in [RM -> {"working", "prepared", "committed", "aborted"}]
          /\ asked \in RM \union {Nil}
          /\ msgs \subseteq Message
Init == state = [r \in RM |-> "working"] /\ asked = Nil /\ msgs = {}
Send(m) == msgs' = msgs \union {m}
Prepare(r) == /\ state[r] = "working"
              /\ state' = [state EXCEPT ![r] = "prepared"]
              /\ Send([type |-> "prepared", rm |-> r])
              /\ asked' = r
Decide == \/ /\ \A r \in RM : [type |-> "prepared", rm |-> r] \in msgs
             /\ Send([type |-> "commit"])
             /\ UNCHANGED <<state, asked>>
          \/ /\ ~\E m \in msgs : m.type = "commit"
             /\ msgs' = {m \in msgs : m.type = "prepared" => m.rm # asked} \union {[type |-> "abort"]}
             /\ asked' = Nil
             /\ UNCHANGED state
Hear(r) == \E m \in msgs :
             /\ m.type \in {"commit", "abort"}
             /\ state' = [state EXCEPT ![r] = IF m.type = "commit" THEN "committed" ELSE "aborted"]
             /\ UNCHANGED <<asked, msgs>>
Tell == /\ \E m \in msgs : m.type = "prepared" /\ m.rm # asked
        /\ UNCHANGED vars
Next == Decide \/ Tell \/ \E r \in RM : Prepare(r) \/ Hear(r)
====
"""
BAG = r"""---- MODULE Bag ----
EXTENDS Naturals, TLC
CONSTANTS Node
VARIABLES bag, epoch
Ask(i, j) == [kind |-> "ask", from |-> i, to |-> j, epoch |-> epoch[i]]
Init == bag = [m \in {} |-> 0] /\ epoch = [n \in Node |-> 0]
Send(m) == IF m \in DOMAIN bag THEN bag' = [bag EXCEPT ![m] = @ + 1] ELSE bag' = bag @@ (m :> 1)
Post(i, j) == /\ i # j
              /\ Ask(i, j) \in DOMAIN bag => bag[Ask(i, j)] = 0
              /\ Send(Ask(i, j))
              /\ UNCHANGED epoch
Receive == \E m \in DOMAIN bag :
             /\ bag[m] > 0
             /\ LET reply == [kind |-> "reply", from |-> m.to, to |-> m.from]
                    late == m.kind = "ask" /\ (epoch[m.to] > 0 \/ m.epoch = 0)
                IN /\ m.kind = "ask"
                   /\ late
                   /\ bag' = [bag EXCEPT ![m] = @ - 1] @@ (reply :> 1)
                   /\ reply \notin DOMAIN bag
             /\ epoch' = [epoch EXCEPT ![m.to] = IF @ < 1 THEN @ + 1 ELSE @]
Next == Receive \/ \E i, j \in Node : Post(i, j)
Bounded == \A m \in DOMAIN bag : bag[m] <= 1
====
"""
PARTS = r"""---- MODULE Parts ----
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS Proc, Quorum
VARIABLES msgs, x, done
Direction[i, j \in 0..2] == IF i < j THEN 1 ELSE 2
Init == msgs = {} /\ x = 0 /\ done = FALSE
Send(p) == /\ Cardinality(msgs) < 4
           /\ msgs' = msgs \union {[type |-> "ask", from |-> p], [type |-> "tell", from |-> p, n |-> x]}
           /\ x' = Direction[x, (x + 1) % 3] /\ UNCHANGED done
Count == \E Q \in Quorum :
    LET told == {m \in msgs : m.type = "tell" /\ m.from \in Q}
    IN /\ \A p \in Q : \E m \in told : m.from = p
       /\ \E m \in told : m.n + 1 >= x
       /\ x' = Cardinality({pair \in Q \X {x, 1} : pair[2] = x}) % 3
       /\ done' = TRUE
       /\ UNCHANGED msgs
Stop == ~ENABLED Count /\ done' \in {~done, [p \in Proc |-> msgs = {}] = [p \in Proc |-> TRUE]} /\ UNCHANGED <<msgs, x>>
Next == Count \/ Stop \/ \E p \in Proc : Send(p)
Perms == Permutations(Proc)
Small == /\ \A m \in msgs : (IF m.type # "ask" THEN m.n ELSE 0) <= 2
         /\ ENABLED Stop \/ ENABLED (Count /\ x' > 0) \/ x = 0
====
"""
QUEUES = r"""---- MODULE Queues ----
EXTENDS Naturals, Sequences
VARIABLES in, out, pairs, log
vars == <<in, out, pairs, log>>
Init == in = <<>> /\ out = <<>> /\ pairs = {} /\ log = <<0, 0>>
Put == /\ Len(in) < 2
       /\ \E v \in {1, 2} : in' = Append(in, v)
       /\ UNCHANGED <<out, pairs, log>>
Move == /\ in # <<>>
        /\ Len(out) < 2
        /\ out' = out \o <<Head(in)>>
        /\ in' = Tail(in)
        /\ pairs' = pairs \union {<<Head(in), Len(out)>>}
        /\ UNCHANGED log
Cut == /\ Len(out) > 0
       /\ out' = SubSeq(out, 2, Len(out))
       /\ \E <<a, b>> \in pairs : log' = [log EXCEPT ![a] = b]
       /\ in' = [i \in 1..Len(in) |-> 3 - in[i]]
       /\ UNCHANGED pairs
Swap == /\ log' = [i \in 1..2 |-> log[3 - i]]
        /\ out' = SelectSeq(out, LAMBDA e : e > log[1])
        /\ in' = SubSeq(in, 1, Len(in) - 1)
        /\ UNCHANGED pairs
Next == Put \/ Move \/ Cut \/ Swap
Known == \A p \in pairs : p[1] \in 1..2 /\ <<p[1], 9>> \notin pairs
====
"""
KEYS = r"""---- MODULE Keys ----
EXTENDS Naturals, TLC
VARIABLES bag, f
Note(k) == [note |-> k]
Init == bag = [m \in {Note(0)} |-> 1] /\ f = [k \in {1} |-> 0]
More(k) == bag' = [bag EXCEPT ![Note(k)] = @ + 1] /\ UNCHANGED f
New(k) == bag' = bag @@ (Note(k) :> 1) /\ f' = f @@ (k :> 2)
All == bag' = bag @@ [m \in {Note(0), Note(1)} |-> 1] /\ UNCHANGED f
Mix(k) == f' = (k :> 1) @@ [j \in {0, 1} |-> j] @@ f /\ UNCHANGED bag
Next == All \/ \E k \in 0..2 : More(k) \/ New(k) \/ Mix(k)
Few == \A m \in DOMAIN bag : bag[m] <= 2
====
"""
WAYS = r"""---- MODULE Ways ----
EXTENDS Naturals, FiniteSets
VARIABLES x, f, s
vars == <<x, f, s>>
Init == /\ x \in {0, 1}
        /\ f \in [1..2 -> 0..1]
        /\ s = {1}
Odd(n) == n % 2 = 1 \/ n = 0
Two == Odd(x) \/ f[1] = f[2]
Add(v, old, new) == new = (old + v) % 3
Step(n) == LET ready == \/ f[n] = 0
                        \/ x > 0
               sum == f[1] + f[2]
           IN /\ ready
              /\ Two => \E k \in s : k >= x
              /\ \A k \in s : f[1] <= k \/ x = 0
              /\ Add(sum, x, x')
              /\ x' # 5
              /\ f' \in {g \in [1..2 -> 0..1] : g[n] = x'}
              /\ IF x = 0 THEN Odd(n) ELSE TRUE
              /\ s' = s \union {x'}
Same == /\ x' \in s
        /\ UNCHANGED <<f, s>>
        /\ x' = x
Case == /\ CASE x = 0 -> x' = 1
             [] x = 1 -> x' \in {0, 2}
             [] OTHER -> x' = 0 \/ x' = Cardinality(s) % 3
        /\ UNCHANGED <<f, s>>
To(k) == x' = (k + 1) % 2 /\ UNCHANGED <<f, s>>
Onwards == To(x)
Back == LET last == x IN To(last) \/ Same
Next == (\E n \in 1..2 : Step(n)) \/ Same \/ Case \/ Onwards \/ Back
====
"""
MODULES = {
    "commit": (COMMIT, "CONSTANTS RM = {r1, r2}\nNil = Nil\nINIT Init\nNEXT Next\nINVARIANT TypeOK\n"),
    "parts": (
        PARTS,
        "CONSTANTS Proc = {a, b, c}\nQuorum = {{a, b}, {b, c}, {a, c}}\n"
        "INIT Init\nNEXT Next\nINVARIANT Small\nSYMMETRY Perms\n",
    ),
    "bag": (BAG, "CONSTANTS Node = {a, b}\nINIT Init\nNEXT Next\nINVARIANT Bounded\n"),
    "keys": (KEYS, "INIT Init\nNEXT Next\nCONSTRAINT Few\n"),
    "queues": (QUEUES, "INIT Init\nNEXT Next\nINVARIANT Known\n"),
    "ways": (WAYS, "INIT Init\nNEXT Next\n"),
}


def pair(name: str, folder: Path) -> TranslatedPair:
    return pair_of(folder, *MODULES[name])


@pytest.mark.parametrize("name", MODULES)
def test_a_translation_has_the_steps_of_its_module(name: str, tmp_path: Path) -> None:
    assert pair(name, tmp_path).differences(STATES) == []


def test_the_jugs_are_translated_with_their_properties(tmp_path: Path) -> None:
    jugs = pair_of(tmp_path, JUGS.read_text(encoding="utf-8"), JUGS.with_suffix(".cfg").read_text(encoding="utf-8"))
    assert jugs.differences(STATES) == []
    assert [one.name for one in jugs.bound.invariants] == ["Bounded"]
    assert [one.name for one in jugs.bound.action_properties] == ["OneAtATime"]


def test_a_translation_that_counts_no_ways_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_way(self: ActionWriter, node: Expression, scope: TranslationScope) -> bool:
        return False

    monkeypatch.setattr(ActionWriter, "_splits", one_way)
    assert pair("ways", tmp_path).differences(STATES)


def test_a_translation_that_tests_no_second_value_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = ActionWriter._guard

    def unguarded(
        self: ActionWriter, node: Expression, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        text = node.place.source_line() or ""
        if "x' # 5" in text or "x' = x" in text:
            rest(assigned, depth)
        else:
            guarded(self, node, scope, assigned, depth, rest)

    monkeypatch.setattr(ActionWriter, "_guard", unguarded)
    assert pair("ways", tmp_path).differences(STATES)


def test_a_lazy_definition_that_is_evaluated_at_once_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazily = r"""---- MODULE Lazy ----
EXTENDS Naturals, Sequences
VARIABLES q, n
Init == q = <<>> /\ n = 0
Next == /\ Len(q) < 2
        /\ LET last == q[Len(q)] + 1
               grown == Append(q, n)
           IN /\ n' = IF q = <<>> THEN 0 ELSE last + last
              /\ q' = grown
====
"""
    configuration = "INIT Init\nNEXT Next\n"
    assert pair_of(tmp_path, lazily, configuration).differences(STATES) == []
    monkeypatch.setattr(actions, "is_total", lambda *_, **__: True)
    eager = pair_of(tmp_path / "eager", lazily, configuration)
    with pytest.raises(Exception, match="KMC221"):
        eager.differences(STATES)
