r"""LETs whose guards come after them, networks that are given None in no state, and fields that are always empty."""

from __future__ import annotations

from pathlib import Path

from support.modules.agreement import pair_of

import kmc

CONFIGURATION = "CONSTANTS Node = {a, b}\nNone = None\nINIT Init\nNEXT Steps\nINVARIANT Known\nCHECK_DEADLOCK FALSE\n"
MODULE = r"""---- MODULE Guards ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Node, None
VARIABLES of, sent, rounds
Init == of = [n \in Node |-> None] /\ sent = {} /\ rounds = 0
Next(m) == IF rounds > 3 THEN [code |-> "late"]
           ELSE [code |-> "ok", state |-> IF m.state = "new" THEN "ready" ELSE "new", members |-> m.members]
Open(n) == of[n] = None /\ of' = [of EXCEPT ![n] = [state |-> "new", members |-> {}, answer |-> None]]
           /\ UNCHANGED <<sent, rounds>>
Change(n) == LET now == of[n]
                 next == Next(now)
             IN /\ now # None
                /\ next.code = "ok"
                /\ rounds < 3
                /\ rounds' = rounds + 1
                /\ of' = [of EXCEPT ![n] = [state |-> next.state, members |-> next.members \union {n}, round |-> rounds,
                              answer |-> IF next.state = "new" THEN [from |-> n, round |-> rounds] ELSE None]]
                /\ UNCHANGED sent
Answer == /\ \A n \in Node : of[n] # None
          /\ sent' = sent \union {r \in {of[n].answer : n \in Node} : r # None}
          /\ sent' # sent
          /\ UNCHANGED <<of, rounds>>
Steps == Answer \/ \E n \in Node : Open(n) \/ Change(n)
Known == \A m \in sent : m.round < 3
====
"""


def test_a_let_is_evaluated_behind_its_guards(tmp_path: Path) -> None:
    guards = pair_of(tmp_path, MODULE, CONFIGURATION)
    assert guards.differences(300) == []
    assert "MessageSet[Atom" not in guards.translated.folder.files["spec.py"]
    native, interpreted = (
        kmc.check_module(tmp_path / "Guards.tla", tmp_path / "Guards.cfg", engine=engine)
        for engine in ("native", "python")
    )
    assert (native.generated, native.distinct) == (interpreted.generated, interpreted.distinct)
