r"""Primes of LETs and arguments that have a value already: `(e)'` is the value in the new state, whatever e reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Known\nCHECK_DEADLOCK FALSE\n"
MODULE = r"""---- MODULE Primed ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
OfLet(of) == LET twice == of * 2 IN x < 3 /\ x' = x + 1 /\ y' = (twice)' + twice
OfLetOfLet(of) == LET some == of * 2
                      more == some + 1
                  IN x < 3 /\ x' = x + 1 /\ y' = (more)' + more
OfArgument(twice) == x < 3 /\ x' = x + 1 /\ y' = (twice)' + twice
Passed(of) == OfArgument(of * 2)
OfNone(of) == LET twice == of * 2 IN x < 3 /\ x' = x + 1 /\ y' = (twice)' + x
Unchanging(same) == LET is == same IN x < 3 /\ (x' = x + 1 \/ x' = x) /\ y' = IF is THEN y + 1 ELSE y
Known == y <= 3
Next == STEP
====
"""


@pytest.mark.parametrize("step", ["OfLet(x)", "OfLetOfLet(x)", "Passed(x)", "OfNone(3)", "Unchanging(UNCHANGED x)"])
def test_a_prime_of_a_name_is_of_what_it_stands_for(step: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, MODULE.replace("STEP", step), CONFIGURATION).differences(50) == []
