r"""The test of a record's class stands behind the conjuncts before it: they may say that there is such a record."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc import check_module

QUEUE = r"""---- MODULE Queue ----
EXTENDS Sequences, Integers, FiniteSets
VARIABLES q, readers, writer
vars == <<q, readers, writer>>
T == {"t", "u"}
Init == q = <<>> /\ readers = {} /\ writer = "none"
Idle(t) == t \notin readers /\ writer # t /\ \A i \in 1..Len(q) : q[i].by # t
Ask(t) == /\ Idle(t) /\ UNCHANGED <<readers, writer>>
          /\ \/ q' = Append(q, [kind |-> "R", by |-> t])
             \/ q' = Append(q, [kind |-> "W", by |-> t, level |-> 1])
IsRead == q # <<>> /\ Head(q).kind = "R"
Read == /\ q # <<>> /\ Head(q).kind = "R" /\ writer = "none"
        /\ readers' = readers \union {Head(q).by} /\ q' = Tail(q) /\ UNCHANGED writer
Write == /\ q # <<>> /\ Head(q).kind = "W" /\ readers = {} /\ writer = "none"
         /\ writer' = (IF IsRead THEN "none" ELSE Head(q).by) /\ q' = Tail(q) /\ UNCHANGED readers
End == writer' = "none" /\ readers' = {} /\ UNCHANGED q
Next == Read \/ Write \/ End \/ \E t \in T : Ask(t)
Spec == Init /\ [][Next]_vars /\ WF_vars(Read) /\ WF_vars(Write) /\ WF_vars(End)
Inv == ~(q # <<>> /\ Head(q).kind = "W" /\ Head(q).level > 1)
Ends == \A t \in T : (\E i \in 1..Len(q) : q[i].by = t) ~> (t \in readers \/ writer = t)
====
"""


def test_a_head_is_read_behind_the_test_that_there_is_one(tmp_path: Path) -> None:
    assert pair_of(tmp_path, QUEUE, "INIT Init\nNEXT Next\nINVARIANT Inv\n").differences(200) == []


@pytest.mark.parametrize("engine", ["python", "native"])
def test_an_action_with_a_guarded_head_is_enabled_in_both_engines(tmp_path: Path, engine: str) -> None:
    (tmp_path / "Queue.tla").write_text(QUEUE)
    (tmp_path / "Queue.cfg").write_text("SPECIFICATION Spec\nINVARIANT Inv\nPROPERTY Ends\n")
    result = check_module(tmp_path / "Queue.tla", engine=engine)
    assert result.ok, result
