r"""Fields that a record passed to an operator lacks, read behind a guard that never holds for such a record."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine

MODULE = r"""---- MODULE Protocol ----
EXTENDS Naturals, TLC
VARIABLES stage, sent
Init == stage = [c \in 1..2 |-> "idle"] /\ sent = {}
Answer(got) ==
  /\ Assert(got.type = "locked", "another message")
  /\ \/ UNCHANGED sent
     \/ \E c \in 1..2 :
          /\ stage[c] = "locking"
          /\ got.key > c
          /\ sent' = sent \union {[type |-> "check", key |-> got.key, isLock |-> got.kind = "lock"]}
Read(c) ==
  /\ stage[c] = "idle"
  /\ stage' = [stage EXCEPT ![c] = "reading"]
  /\ Answer([type |-> "locked", key |-> c])
Lock(c) ==
  /\ stage[c] # "locking"
  /\ \E k \in {"lock", "none"} : Answer([type |-> "locked", key |-> c, kind |-> k])
  /\ stage' = IF \A d \in 1..2 : stage[d] = "reading" THEN [stage EXCEPT ![c] = "locking"] ELSE stage
Next == \E c \in 1..2 : Read(c) \/ Lock(c)
====
"""
CFG = "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"


def test_a_field_that_is_never_read_may_be_missing(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, CFG)
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [39, 9, 6]


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_reading_a_missing_field_ends_the_check(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "Protocol.tla"
    path.write_text(MODULE.replace('stage[c] = "locking"', 'stage[c] = "idle"'))
    path.with_suffix(".cfg").write_text(CFG)
    outcome = check_module(ModuleRequest(path, engine=engine))
    assert outcome.status == 75
    assert outcome.result.violation is not None
    assert outcome.result.violation.error is not None
    assert outcome.result.violation.error.code == "KMC259"
