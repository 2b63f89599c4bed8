r"""ENABLED in an instance whose variables are expressions: their next values are bound, and not substituted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.errors import ExitStatus
from kmc.result import Result, Verdict
from kmc.tla.resolved import own_variables

COUNTER = r"""---- MODULE Counter ----
EXTENDS Naturals
VARIABLES on, n
vars == <<on, n>>
Init == on = FALSE /\ n = 0
Flip == on' = ~on /\ UNCHANGED n
Count == on /\ n' = (n + 1) % 3 /\ on' = FALSE
Next == Flip \/ Count
Spec == Init /\ [][Next]_vars /\ SF_vars(Count) /\ WF_vars(Next)
Move(d) == n' = n + d /\ UNCHANGED on
Both(v) == UNCHANGED v
CanFlip == ENABLED Flip
CanCount == ENABLED <<Count>>_n
Never == ENABLED (n' = n /\ n' = n + 1)
Wide == ENABLED (on' \in {1, 2} /\ on' > 1 /\ n' = <<n>>)
Stays == ENABLED <<\E d \in 0..1 : Move(d) /\ d = 0>>_vars
Grows == ENABLED <<\E d \in 0..1 : Move(d)>>_vars
Lets == ENABLED (on' = ~on /\ LET now == on after == on' IN after # now /\ n' = n)
Boxes == ENABLED ([Flip]_vars /\ UNCHANGED vars)
====
"""
LAMP = r"""---- MODULE Lamp ----
EXTENDS Naturals
VARIABLES lamp, load
shown == lamp % 2 = 1
C == INSTANCE Counter WITH on <- shown, n <- lamp \div 2
D(m) == INSTANCE Counter WITH on <- lamp < m, n <- lamp \div 2
Init == lamp = 0 /\ load = 0
Switch == lamp' = IF shown THEN lamp - 1 ELSE lamp + 1
Step == shown /\ lamp' = 2 * ((lamp \div 2 + 1) % 3)
Next == (Switch \/ Step) /\ load' = 1 - load
Spec == Init /\ [][Next]_<<lamp, load>> /\ FAIR(Step /\ load' = 1 - load) /\ WF_lamp(Next)
True == C!CanFlip /\ C!Wide /\ C!Grows /\ C!Lets /\ C!Boxes
False == ~C!Never /\ ~C!Stays
Same == C!CanCount <=> shown
Given == \A m \in 1..3 : D(m)!Boxes /\ D(m)!Grows /\ ~D(m)!Stays /\ (D(m)!CanCount <=> lamp < m)
Abstract == C!Spec
Outside == ENABLED C!Flip
====
"""
CFG = "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"


def result_of(folder: Path, fairness: str, cfg: str, engine: Engine) -> Result:
    """Check the lamp with some fairness."""
    (folder / "Counter.tla").write_text(COUNTER, encoding="utf-8")
    (folder / "Lamp.tla").write_text(LAMP.replace("FAIR(", f"{fairness}_lamp("), encoding="utf-8")
    (folder / "Lamp.cfg").write_text(CFG + cfg, encoding="utf-8")
    return check_module(
        ModuleRequest(folder / "Lamp.tla", folder / "Lamp.cfg", engine=engine, threads=1, deadlock=False)
    ).result


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_enabled_binds_the_next_values_of_an_instance(engine: Engine, tmp_path: Path) -> None:
    result = result_of(tmp_path, "SF", "INVARIANTS True False Same Given\nPROPERTY Abstract\n", engine)
    assert (result.verdict, result.counters.distinct) == (Verdict.OK, 6)


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_fairness_of_the_instance_that_is_missing_is_found(engine: Engine, tmp_path: Path) -> None:
    result = result_of(tmp_path, "WF", "PROPERTY Abstract\n", engine)
    assert result.exit_status() == ExitStatus.LIVENESS


PAIR = r"""---- MODULE Pair ----
EXTENDS Naturals
VARIABLES u, v
vars == <<u, v>>
Apart == u' = u + 1 /\ UNCHANGED v /\ u' # v'
Inc(w) == w' = w + 1
Both(w, z) == Inc(w) /\ z' = w' + 1
Apply(F(_), w) == F(w)
Every ==
  /\ ENABLED Apart
  /\ ENABLED (Both(u, v) /\ v' = u + 2)
  /\ ENABLED <<Inc(u) /\ UNCHANGED v>>_vars
  /\ ENABLED (UNCHANGED vars /\ u' \in {u, u + 1})
  /\ ENABLED (Apply(LAMBDA w : w' = w + 1, u) /\ v' = v)
  /\ ENABLED (LET I(w) == w' = w + 1 IN I(u) /\ I(v))
  /\ LET A == u' = u + 1 /\ v' = u' IN ENABLED A
  /\ ~ENABLED (Inc(u) /\ u' = u + 2 /\ v' = v)
====
"""
TWINS = r"""---- MODULE Twins ----
EXTENDS Naturals
CONSTANT c
VARIABLE y
two == 2
P(m) == INSTANCE Pair WITH u <- m, v <- y
A == INSTANCE Pair WITH u <- y, v <- y
B == INSTANCE Pair WITH u <- 3, v <- y
C == INSTANCE Pair WITH u <- c, v <- two
Init == y = 0
Next == y' = 1 - y
Plain == A!Every /\ B!Every /\ C!Every
Given == P(3)!Every /\ P(y)!Every /\ P(y + 1)!Every
Bound == \A m \in {1, 3} : P(m)!Every /\ LET L == INSTANCE Pair WITH u <- m, v <- y IN L!Every
Cannot == ~ENABLED A!Apart
====
"""


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_variables_of_an_instance_are_apart_whatever_is_substituted(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "Pair.tla").write_text(PAIR, encoding="utf-8")
    (tmp_path / "Twins.tla").write_text(TWINS, encoding="utf-8")
    cfg = "INIT Init\nNEXT Next\nINVARIANTS Plain Given Bound Cannot\nCONSTANT c = 4\n"
    (tmp_path / "Twins.cfg").write_text(cfg, encoding="utf-8")
    result = check_module(ModuleRequest(tmp_path / "Twins.tla", engine=engine, threads=1)).result
    assert (result.verdict, result.counters.distinct) == (Verdict.OK, 2)


@pytest.mark.parametrize("invariant", ["True", "Same"])
def test_a_value_that_is_substituted_below_enabled_is_an_error(
    invariant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_variables._Mentions, "some_of", lambda self, value: False)
    assert error_of(result_of(tmp_path, "SF", f"INVARIANT {invariant}\n", Engine.PYTHON)) == "KMC264"


def test_enabled_outside_of_the_instance_is_of_the_state_of_the_model(tmp_path: Path) -> None:
    assert error_of(result_of(tmp_path, "SF", "INVARIANT Outside\n", Engine.PYTHON)) == "KMC264"


def error_of(result: Result) -> str:
    """Return the code of the error that ended a search."""
    assert result.violation is not None
    assert result.violation.error is not None
    return result.violation.error.code
