r"""ASSUME and AXIOM of a TLA+ module: what TLC evaluates, and its exit status where that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.errors import AssumptionError, ExitStatus

MODULE = r"""---- MODULE Assuming ----
EXTENDS Naturals, TLC
CONSTANT N
VARIABLE x
F[n \in 1..2] == n
STATEMENT
Init == x = 0
Next == x' = (x + 1) % N
Held == Small /\ x < N
====
"""


def _request(folder: Path, statement: str, engine: Engine = Engine.PYTHON) -> ModuleRequest:
    path = folder / "Assuming.tla"
    path.write_text(MODULE.replace("STATEMENT", statement), encoding="utf-8")
    path.with_suffix(".cfg").write_text("CONSTANT N = 3\nINIT Init\nNEXT Next\nINVARIANT Held\n", encoding="utf-8")
    return ModuleRequest(path, path.with_suffix(".cfg"), engine=engine, threads=1)


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
def test_an_axiom_is_not_evaluated(tmp_path: Path, engine: Engine) -> None:
    induction = r"AXIOM \A f : f[0] /\ (\A n \in Nat : f[n] => f[n + 1]) => \A n \in Nat : f[n]"
    statements = f"{induction}\nAXIOM N = 7\nAXIOM Small == N < 9"
    result = check_module(_request(tmp_path, statements, engine)).result
    assert (result.violation, result.counters.generated, result.counters.distinct) == (None, 4, 3)


@pytest.mark.parametrize(
    ("condition", "code"),
    [("N = 7", "KMC351"), ('N = "a"', "KMC257"), ('Assert(N = 7, "no")', "KMC291"), ("F[N] = 1", "KMC259")],
)
def test_an_assumption_that_fails_has_the_status_of_tlc(tmp_path: Path, condition: str, code: str) -> None:
    with pytest.raises(AssumptionError) as caught:
        check_module(_request(tmp_path, f"ASSUME Small == {condition}"))
    assert (caught.value.code, caught.value.exit_status) == (code, ExitStatus.ASSUMPTION)
    assert caught.value.span is not None
